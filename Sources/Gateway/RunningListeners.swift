import HTTPTransport
import Logging

/// The listeners that are open.
struct RunningListeners: Sendable {
    var push: HTTPServer?
    var manage: HTTPServer?
    var host: HTTPServer?
    var ops: HTTPServer?
    var health: HTTPServer?

    var ports: Gateway.BoundPorts {
        Gateway.BoundPorts(
            push: self.push?.port,
            manage: self.manage?.port,
            host: self.host?.port,
            ops: self.ops?.port,
            health: self.health?.port
        )
    }

    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for (name, server) in self.all { metadata[name] = "\(server.port)" }
        return metadata
    }

    var all: [(name: String, server: HTTPServer)] {
        let listeners = [
            ("push", self.push), ("manage", self.manage), ("host", self.host), ("ops", self.ops),
            ("health", self.health),
        ]
        return listeners.compactMap { name, server in server.map { (name, $0) } }
    }

    /// Operators' routes and probes stay open until the others are done.
    func drain(within limit: Duration) async {
        async let push: Void? = self.push?.drain(within: limit)
        async let manage: Void? = self.manage?.drain(within: limit)
        async let host: Void? = self.host?.drain(within: limit)
        _ = await (push, manage, host)
        await self.ops?.drain(within: .seconds(1))
        await self.health?.drain(within: .seconds(1))
    }
}

import HTTPTransport
import NIOCore
import NIOPosix

/// Registers a run's hosts, many in each request.
package struct SceneSetup: Sendable {
    private let scene: LoadScene
    private let target: LoadTarget
    /// Later than any revision that the run itself will send begins with.
    private static let revision = 1
    /// Hosts in one request.
    private static let batch = 500

    package init(_ scenario: LoadScenario, target: LoadTarget) {
        self.scene = LoadScene(scenario)
        self.target = target
    }

    /// - Parameter onProgress: Called with the number of hosts that are there.
    /// - Throws: ``LoadError`` if the gateway refuses one.
    package func perform(onProgress: (@Sendable (Int) -> Void)? = nil) async throws {
        guard let port = self.target.hostPort else {
            throw LoadError("the scenario registers hosts, which needs a gateway's host listener: give --host-port")
        }
        let connection = try await HTTP2ClientConnection.connect(
            host: self.target.address,
            port: port,
            tls: self.target.tls,
            serverName: self.target.serverName,
            on: MultiThreadedEventLoopGroup.singleton
        )
        do {
            let count = self.scene.scenario.hosts.count
            var first = 0
            while first < count {
                let last = min(first + Self.batch, count)
                try await self.register(first..<last, on: connection)
                onProgress?(last)
                first = last
            }
            await connection.close()
        } catch {
            await connection.close()
            throw error
        }
    }

    private func register(_ hosts: Range<Int>, on connection: HTTP2ClientConnection) async throws {
        let lines = hosts.map { self.scene.importLine($0, revision: Self.revision) }
        let response = try await connection.send(
            HTTPClientRequest(
                method: "POST",
                path: "/v1/apps/\(self.scene.scenario.app)/hosts",
                headers: ["authorization": "bearer \(self.target.token)", "content-type": "application/x-ndjson"],
                body: Array(lines.joined(separator: "\n").utf8),
                timeout: .minutes(5)
            )
        )
        guard response.status == 200 else {
            throw LoadError(
                "the gateway refused the hosts' registration: \(response.status) \(response.text.prefix(300))"
            )
        }
        // Hosts of an earlier run that has moved on are good as they are.
        let refused = response.text.split(separator: "\n").first {
            !$0.contains("\"status\":200") && !$0.contains("stale-revision")
        }
        if let refused { throw LoadError("the gateway refused a host: \(refused.prefix(300))") }
    }
}

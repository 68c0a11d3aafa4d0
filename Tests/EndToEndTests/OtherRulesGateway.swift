#if JetStream
import Clustering
import Foundation
import Gateway
import Logging
import NIOCore
import NIOPosix
import Partitions
import Settings
import Testing

@testable import FreshetCLI

/// A node of another version of Freshet: this program in this process, with another number for its decision rules.
final class OtherRulesGateway: Sendable {
    static let rules: UInt32 = 2

    let folder: String
    private let ports: Gateway.BoundPorts
    private let connections: MultiThreadedEventLoopGroup
    private let task: Task<Void, any Error>

    var pushURL: String { "https://localhost:\(self.ports.push ?? 0)" }
    var hostURL: String { "https://localhost:\(self.ports.host ?? 0)" }
    var opsURL: String { "https://localhost:\(self.ports.ops ?? 0)" }

    /// - Parameters:
    ///   - folder: With certificates.
    ///   - extra: Lines that are appended to the configuration, the journal among them.
    init(in folder: String, partitions: Int, extra: String) async throws {
        self.folder = folder
        let file = "\(folder)/freshet.yaml"
        try TestGateway.configuration(partitions, extra, "").write(toFile: file, atomically: true, encoding: .utf8)
        var configuration = try ConfigurationFile.read(path: file, environment: [:], options: []).configuration
        configuration.operators.isOpen = true
        let clock = LogClock()
        let logger = Logger(label: "other") { _ in SwiftLogNoOpLogHandler() }
        let chosen = try ChosenJournal(configuration, clock, logger)
        let own = try #require(chosen.membership)
        let node = ClusterNode(
            name: own.node.name,
            incarnation: own.node.incarnation,
            address: own.node.address,
            rules: Self.rules
        )
        var stores = GatewayStores(journal: chosen.journal)
        stores.snapshots = chosen.snapshots
        stores.measure = chosen.storage
        stores.membership = Membership(own.cluster, own.exchange, as: node)
        stores.membership?.limits = own.limits
        stores.outputs = chosen.outputs
        stores.notes = chosen.notes
        self.connections = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        var process = GatewayProcess(clock: clock, logs: .none)
        process.loops = GatewayLoops(partitions: partitions, connections: self.connections)
        let (ready, isReady) = AsyncStream.makeStream(of: Gateway.BoundPorts.self)
        let gateway = Gateway(
            configuration: configuration,
            stores: stores,
            process: process,
            onReady: { isReady.yield($0) }
        )
        self.task = Task {
            defer { isReady.finish() }
            try await gateway.run()
        }
        var ports: Gateway.BoundPorts?
        for await bound in ready {
            ports = bound
            break
        }
        guard let ports else {
            try await self.task.value
            throw TestGateway.Failure("the other gateway did not start")
        }
        self.ports = ports
    }

    /// As by SIGTERM.
    func drain() async throws {
        self.task.cancel()
        try await self.task.value
        try await self.connections.shutdownGracefully()
    }
}
#endif

import FoundationEssentials
@testable import Gateway
import HTTPTransport
import Journaling
import NIOCore
import NIOPosix
import Partitions
import Settings
import TLS
import Testing
import WidgetModel

/// A gateway in this process, on threads of its own, without an app.
final class RunningGateway: Sendable {
    let loops: GatewayLoops
    let ports: Gateway.BoundPorts
    let authority: CertificateAuthority
    let settings: LiveSettings
    private let task: Task<Void, any Error>
    private let folder: URL

    /// - Parameters:
    ///   - snapshots: Where its partitions' states are kept; nil for nowhere.
    ///   - adjust: Sets what the test is about.
    init(
        snapshots: (any SnapshotStore)? = nil,
        _ adjust: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "freshet-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        self.authority = try CertificateAuthority.make(commonName: "Test root")
        let issued = try self.authority.issueServer(dnsNames: ["localhost"])
        var configuration = GatewayConfiguration()
        configuration.partitions = 2
        configuration.tls.certificate = self.folder.appending(path: "server.pem").path
        configuration.tls.key = self.folder.appending(path: "server.key").path
        try Data(issued.certificatePEM.utf8).write(to: URL(filePath: configuration.tls.certificate))
        try Data(issued.privateKeyPEM.utf8).write(to: URL(filePath: configuration.tls.key))
        configuration.listeners.push = .init(port: 0)
        configuration.listeners.manage = .init(port: 0)
        configuration.listeners.host = .init(port: 0)
        configuration.listeners.ops = .init(port: 0)
        configuration.listeners.health = .init(port: 0)
        configuration.operators.isOpen = true
        // A probe may wait for its turn on a busy machine, and must not be told that it was late.
        configuration.timeouts.handshake = .hours(1)
        configuration.timeouts.firstRequest = .hours(1)
        adjust(&configuration)

        let connections = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let loops = GatewayLoops(partitions: configuration.partitions, connections: connections)
        let (ready, isReady) = AsyncStream.makeStream(of: Gateway.BoundPorts.self)
        let clock = LogClock()
        var process = GatewayProcess(clock: clock, logs: .none)
        process.loops = loops
        let journal = MemoryJournal(partitions: configuration.partitions, clock: { clock.now() })
        var stores = GatewayStores(journal: journal)
        stores.snapshots = snapshots
        let gateway = Gateway(
            configuration: configuration,
            stores: stores,
            process: process,
            onReady: { isReady.yield($0) }
        )
        self.settings = gateway.settings
        self.loops = loops
        self.task = Task {
            defer { isReady.finish() }
            try await gateway.run()
        }
        var ports: Gateway.BoundPorts?
        for await bound in ready {
            ports = bound
            break
        }
        self.ports = try #require(ports)
    }

    func stop() async throws {
        self.task.cancel()
        try await self.task.value
        try await self.loops.connections.shutdownGracefully()
        try FileManager.default.removeItem(at: self.folder)
    }

    func connect(_ port: Int?, on group: any EventLoopGroup) async throws -> HTTP2ClientConnection {
        let trust = TLSClientConfiguration(trust: .roots(.text(self.authority.certificatePEM)), alpn: ["h2"])
        var configuration = HTTP2ClientConfiguration()
        configuration.connectTimeout = .hours(1)
        return try await HTTP2ClientConnection.connect(
            host: "127.0.0.1",
            port: try #require(port),
            tls: try TLSContext.client(trust),
            serverName: "localhost",
            on: group,
            configuration: configuration
        )
    }
}

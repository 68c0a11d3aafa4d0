import BrokerSupport
import Foundation
import Synchronization
import Testing

/// Where the log of a test's gateway is: what senders, hosts and operators are promised is the same at both.
enum TestLog: String, CaseIterable, CustomTestStringConvertible {
    case ownDisk = "a gateway with its own disk"
    case sharedLog = "any of three gateways with three brokers"

    var testDescription: String { self.rawValue }

    /// Those that this machine can have.
    static var present: [TestLog] {
        #if JetStream
        Brokers.isThere ? Self.allCases : [.ownDisk]
        #else
        [.ownDisk]
        #endif
    }
}

/// Two gateways that share the log of a third one, and the brokers that have it.
final class TestPeers: Sendable {
    let gateways: [TestGateway]
    private let brokers: Brokers
    private let uses = Atomic(0)

    fileprivate init(_ gateways: [TestGateway], _ brokers: Brokers) {
        self.gateways = gateways
        self.brokers = brokers
    }

    /// One after the other: first the one that has these peers, then each of them.
    func next(after first: TestGateway) -> TestGateway {
        let number = self.uses.wrappingAdd(1, ordering: .relaxed).oldValue % (self.gateways.count + 1)
        return number == 0 ? first : self.gateways[number - 1]
    }
}

extension TestGateway {
    /// Starts a gateway; where its log is shared, each request goes to another of three.
    static func start(
        on log: TestLog,
        in folder: String? = nil,
        partitions: Int,
        appSettings: String = "",
        timelineProvider: String? = nil
    ) async throws -> TestGateway {
        #if JetStream
        if log == .sharedLog {
            return try await self.startThree(in: folder, partitions, appSettings, timelineProvider)
        }
        #endif
        return try await self.start(
            in: folder,
            partitions: partitions,
            appSettings: appSettings,
            timelineProvider: timelineProvider
        )
    }

    #if JetStream
    private static func startThree(
        in folder: String?,
        _ partitions: Int,
        _ appSettings: String,
        _ timelineProvider: String?
    ) async throws -> TestGateway {
        let folder = try folder ?? self.makeFolder()
        if !FileManager.default.fileExists(atPath: "\(folder)/certs") {
            try await self.makeCertificates(in: folder, ["--topic", self.topic])
        }
        let brokers = try Brokers(3)
        func start(_ node: String, in folder: String, peers: TestPeers? = nil) async throws -> TestGateway {
            try await self.start(
                in: folder,
                partitions: partitions,
                extra: try JetStreamGatewayTests.journal(brokers, node: node, replicas: 3),
                appSettings: appSettings,
                timelineProvider: timelineProvider,
                peers: peers
            )
        }
        let others = [
            try await start("gateway-a", in: try self.makeFolder(beside: folder)),
            try await start("gateway-b", in: try self.makeFolder(beside: folder)),
        ]
        let gateway = try await start("gateway-c", in: folder, peers: TestPeers(others, brokers))
        try await gateway.awaitSharing()
        return gateway
    }

    /// Waits until each of the three sees all as members, and each partition where it is to stay.
    private func awaitSharing() async throws {
        for _ in 0..<3 {
            _ = try await self.eventually("all share the partitions") { () async throws -> Bool? in
                let json = try await self.curl("GET", "\(self.opsURL)/v1/cluster").json
                let nodes = json["nodes"] as? [[String: Any]] ?? []
                let partitions = json["partitions"] as? [[String: Any]] ?? []
                let owners = Set(partitions.compactMap { $0["owner"] as? String })
                let areMembers = nodes.count == 3 && nodes.allSatisfy { $0["state"] as? String == "member" }
                let areRunning = partitions.allSatisfy { $0["state"] as? String == "running" }
                return areMembers && areRunning && owners.count > 1 ? true : nil
            }
        }
    }
    #endif
}

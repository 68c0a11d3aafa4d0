import BrokerSupport
import Foundation
import Synchronization
import Testing

#if JetStream
import Clustering
import WidgetModel
#endif

/// Where the log of a test's gateway is: what senders, hosts and operators are promised is the same at both.
enum TestLog: String, CaseIterable, CustomTestStringConvertible {
    case ownDisk = "a gateway with its own disk"
    case sharedLog = "any of three gateways with three brokers"

    var testDescription: String { self.rawValue }

    /// The log of a gateway whose test does not say: `make acceptance-cluster` has all of them share one.
    static let usual: TestLog =
        ProcessInfo.processInfo.environment["FRESHET_TEST_LOG"] == "shared" ? .sharedLog : .ownDisk

    /// Those that this machine can have.
    static var present: [TestLog] {
        #if JetStream
        guard Self.usual == .ownDisk else { return [.sharedLog] }
        return Brokers.isThere ? Self.allCases : [.ownDisk]
        #else
        return [.ownDisk]
        #endif
    }
}

extension Trait where Self == ConditionTrait {
    /// The test is about one gateway: where all share a log it is left out, for this reason.
    static func oneGateway(_ reason: Comment) -> Self { .disabled(if: TestLog.usual == .sharedLog, reason) }
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
    /// Starts one of three: its folder, the settings of its log, its own options, and those that are asked in turn with it.
    typealias Starting = (String, String, [String], TestPeers?) async throws -> TestGateway

    /// Starts three gateways that share a log and a folder: each request goes to the next one.
    static func startThree(in folder: String?, _ start: Starting) async throws -> TestGateway {
        #if JetStream
        let folder = try folder ?? self.makeFolder()
        guard !FileManager.default.fileExists(atPath: "\(folder)/data") else {
            throw Failure("a gateway that starts again is one: its test has to say so, see TestPeers.swift")
        }
        let brokers = try Brokers(3)
        let journal = try JetStreamGatewayTests.journal(brokers, node: "gateway-c", replicas: 3)
        var gateways: [TestGateway] = []
        for (name, data) in Self.nodes {
            let data = "\(folder)/\(data)"
            let node = [
                "dataDirectory=\(data)", "journal.jetstream.node.name=\(name)",
                "journal.jetstream.node.address=\(name):443",
            ]
            if let token = gateways.first?.operatorToken { try self.keep(token, in: data) }
            let peers = gateways.count == 2 ? TestPeers(gateways, brokers) : nil
            let gateway = try await start(folder, journal, node.flatMap { ["--set", $0] }, peers)
            gateways.append(gateway)
        }
        let gateway = gateways.removeLast()
        try await gateway.awaitSharing()
        return gateway
        #else
        throw Failure("this build has no shared log")
        #endif
    }

    #if JetStream
    /// Their names, and their data directories.
    private static let nodes = [
        (name: "gateway-a", data: "data-a"), (name: "gateway-b", data: "data-b"), (name: "gateway-c", data: "data"),
    ]

    /// Operators have one token for all, in each data directory.
    private static func keep(_ token: String, in data: String) throws {
        try FileManager.default.createDirectory(
            atPath: data,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        let isMade = FileManager.default.createFile(
            atPath: "\(data)/operator-token",
            contents: Data("\(token)\n".utf8),
            attributes: attributes
        )
        try #require(isMade)
    }

    /// Waits until each of the three sees all as members, and each partition where it is to stay.
    private func awaitSharing() async throws {
        let names = Self.nodes.compactMap { NodeName($0.name) }
        try await self.eventuallyEverywhere("all share the partitions") {
            let answer = try await self.curl("GET", "\(self.opsURL)/v1/cluster")
            // Operators have tokens of the test's own.
            guard answer.status != 401 else { return true }
            let members = answer.json["nodes"] as? [[String: Any]] ?? []
            let partitions = answer.json["partitions"] as? [[String: Any]] ?? []
            return members.count == 3 && members.allSatisfy { $0["state"] as? String == "member" }
                && partitions.enumerated().allSatisfy { number, partition in
                    let owner = Rendezvous.ranking(of: names, for: PartitionID(UInt16(number))).first
                    return partition["state"] as? String == "running"
                        && partition["owner"] as? String == owner?.rawValue
                }
        }
    }
    #endif
}

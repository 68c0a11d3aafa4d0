import APNSWire
import Foundation
import Testing
import WidgetModel

@testable import FreshetCLI

/// The output of `freshet cluster status`.
@Suite struct ClusterReadingTests {
    private static func reading(_ json: String) throws -> ClusterReading {
        ClusterReading(json: try JSONReader().parse(Array(json.utf8)))
    }

    private static func node(_ name: String, _ state: String, _ more: String = "") -> String {
        """
        {"name": "\(name)", "address": "https://\(name).example.com:8443", "startedAt": "2026-11-27T10:00:00Z", "rules": 1,
         "state": "\(state)", "drained": false, "partitions": 8, "lastHeard": "2026-11-27T10:00:00Z", "silentSeconds": 41\(more)}
        """
    }

    private static func partition(_ number: Int, _ state: String, _ more: String = "") -> String {
        """
        {"partition": \(number), "state": "\(state)", "owner": "gateway-1", "epoch": 123, "applied": 1234567, "next": "gateway-2",
         "standby": "gateway-2", "standbyLag": 1234, "snapshotAgeSeconds": 590\(more)}
        """
    }

    private static let streams = #"{"stream": "s", "leader": "nats-1", "replicas": 3, "current": 3}"#

    private static func cluster(
        _ nodes: [String],
        _ partitions: [String],
        streams: String = Self.streams,
        broker: String = ""
    ) -> String {
        """
        {"asOf": "2026-11-27T10:00:41Z", "node": "gateway-1", "nodes": [\(nodes.joined(separator: ","))],
         "partitions": [\(partitions.joined(separator: ","))], "counts": {"moves": 4, "takeovers": 5, "beatsMissed": 0, "standbysDisagreed": 0},
         "brokers": {"connected": "nats://nats-1:4222", "servers": [], "streams": [\(streams)],
           "brokers": [{"name": "nats-1", "version": "2.12.1", "leads": 1\(broker)}]}}
        """
    }

    @Test func `a cluster that is well has no trouble, and fits 80 columns`() throws {
        let json = Self.cluster(
            [Self.node("gateway-1", "member"), Self.node("gateway-2", "leaving"), Self.node("gateway-3", "ended")],
            [Self.partition(0, "running"), Self.partition(1, "moving", #","successor": "gateway-3""#)]
        )
        let reading = try Self.reading(json)
        #expect(reading.troubles == [])
        let lines = reading.lines(on: Screen(columns: 80))
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("NODE ") } && lines.contains { $0.hasPrefix("PARTITION ") })
        #expect(lines.contains { $0.hasPrefix("brokers") && $0.hasSuffix("nats-1 2.12.1 leads 1") })
        #expect(lines.contains { $0.contains("moving") && $0.contains("gateway-3") && !$0.contains("gateway-2") })
        #expect(lines.contains { $0.contains("running") && $0.contains("gateway-2") && $0.contains("1,234 ") })
    }

    @Test func `what is wrong is said and marked, in the gateway's words`() throws {
        let cluster = Self.cluster(
            [Self.node("gateway-1", "member"), Self.node("gateway-3", "missing")],
            [Self.partition(0, "unowned"), Self.partition(1, "running")]
        )
        let troubles = """
            {"level": "bad", "text": "Partition 0 has no owner.", "act": "Start a node."},
            {"level": "warn", "text": "1 stream is not whole on every broker.", "act": "Wait."}
            """
        let reading = try Self.reading(cluster.dropLast() + #", "troubles": [\#(troubles)]}"#)
        #expect(
            reading.troubles == [
                Cell("Partition 0 has no owner. Start a node.", .bad),
                Cell("1 stream is not whole on every broker. Wait.", .warning),
            ]
        )
        let lines = reading.lines(on: Screen(columns: 100, isStyled: true))
        #expect(lines.contains { $0.contains("\u{1B}[31;1mmissing\u{1B}[0m") })
        #expect(lines.contains { $0.contains("\u{1B}[31;1munowned\u{1B}[0m") })
        #expect(lines.contains { $0.contains("Partition 0 has no owner. Start a node.") })
    }

    private static func mixed(_ partitions: [String], wished: Int? = nil, trouble: String = "") throws -> JSONValue {
        let newer = Self.node("gateway-4", "member").replacing(#""rules": 1"#, with: #""rules": 2"#)
        let text = Self.cluster([Self.node("gateway-1", "member"), newer], partitions)
        let more = (wished.map { #","wishedRules": \#($0)"# } ?? "") + #","troubles": [\#(trouble)]}"#
        return try JSONReader().parse(Array((text.dropLast() + more).utf8))
    }

    private static func partition(_ number: Int, _ state: String, rules: Int) -> String {
        Self.partition(number, state, #","rules": \#(rules)"#)
    }

    @Test func `a change of rules is planned, followed and over`() throws {
        let before = [Self.partition(0, "running", rules: 1), Self.partition(1, "running", rules: 1)]
        let plan = try RulesUpgrade(Self.mixed(before), to: nil)
        #expect(plan.rules == 2 && plan.left.map(\.number) == [0, 1] && !plan.isDone && plan.waiting.isEmpty)
        #expect(plan.plan.first == "partition 0: rules 1 (Freshet 0.2.0), at gateway-1")
        #expect(plan.plan.contains("Nodes with rules 2 (another version of Freshet): gateway-4."))
        #expect(plan.json(isOrdered: false)["left"] == .array([.int(0), .int(1)]))

        let half = [Self.partition(0, "running", rules: 2), Self.partition(1, "moving", rules: 1)]
        let seen = try RulesUpgrade(Self.mixed(half, wished: 2), to: nil)
        #expect(seen.rules == 2 && seen.progress == "1 of 2 partitions have rules 2, 1 on the way")
        #expect(throws: RulesUpgrade.UpgradeError.severalRules([1, 2])) { try RulesUpgrade(Self.mixed(half), to: nil) }

        let after = [Self.partition(0, "running", rules: 2), Self.partition(1, "running", rules: 2)]
        #expect(try RulesUpgrade(Self.mixed(after, wished: 2), to: 2).isDone)
        // To go back has to be said.
        #expect(throws: RulesUpgrade.UpgradeError.nothingToDo) {
            try RulesUpgrade(Self.mixed(after, wished: 2), to: nil)
        }
        #expect(try RulesUpgrade(Self.mixed(after, wished: 2), to: 1).left.count == 2)
        #expect(throws: RulesUpgrade.UpgradeError.noNode(rules: 3)) { try RulesUpgrade(Self.mixed(after), to: 3) }
        #expect(throws: RulesUpgrade.UpgradeError.alone) {
            try RulesUpgrade(JSONReader().parse(Array(#"{"nodes": [], "partitions": []}"#.utf8)), to: nil)
        }
    }

    @Test func `where partitions wait for a node with their rules, the gateway's advice is shown`() throws {
        let trouble = #"{"level": "bad", "text": "Partition 1 waits for a node with rules 3.", "act": "Start one."}"#
        let partitions = [Self.partition(0, "running", rules: 2), Self.partition(1, "unowned", rules: 3)]
        let json = try Self.mixed(partitions, trouble: trouble)
        let upgrade = try RulesUpgrade(json, to: 2)
        #expect(upgrade.waiting.map(\.number) == [1] && upgrade.json(isOrdered: true)["waiting"] == .array([.int(1)]))
        #expect(upgrade.plan.contains("Partition 1 waits for a node with rules 3. Start one."))
        let other = try RulesUpgrade(Self.mixed([Self.partition(0, "running", rules: 1)], trouble: trouble), to: 2)
        #expect(!other.plan.contains { $0.contains("waits") })
        let lines = ClusterReading(json: json).lines(on: Screen(columns: 80))
        #expect(lines.contains { $0.hasSuffix("rules 1 (Freshet 0.2.0): nodes 1, partitions 0") }, "\(lines)")
    }

    @Test func `a gateway that does not share its log says so`() throws {
        let reading = try Self.reading(#"{"asOf": "2026-11-27T10:00:41Z", "nodes": [], "partitions": []}"#)
        #expect(reading.troubles == [])
        #expect(
            reading.lines(on: Screen()) == [
                "This gateway does not share its log. docs/jetstream.md shows how gateways share one."
            ]
        )
    }
}

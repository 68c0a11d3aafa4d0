import Clustering
import Engine
import HTTPTransport
import OperatorAPI
import Partitions
import TestSupport
import Testing
import WidgetModel

/// The operators' view of the nodes that share a log, and their orders to them.
@Suite struct ClusterRouteTests {
    private static func node(_ name: String) -> ClusterNode { FakeCluster.node(name) }

    private static let partition = PartitionID(1)

    /// The other node has one partition and hands it over to this one; a third one was there once.
    private static func cluster(_ brokers: BrokersView? = nil, _ clocks: [ClockTrouble] = []) -> FakeCluster {
        let cluster = FakeCluster(brokers: brokers, clockTroubles: clocks)
        let own = Self.node("gateway-1")
        cluster.hear(Beat(node: own, phase: .joining), at: 1)
        cluster.hear(Beat(node: Self.node("gateway-3"), phase: .member), at: 2)
        let holding = Beat.Holding(
            partition: Self.partition,
            epoch: Epoch(12),
            standing: .stopping,
            applied: LogPosition(34),
            successor: own.name
        )
        cluster.hear(Beat(node: own, phase: .joining), at: 4000)
        let following = Beat.Following(partition: PartitionID(0), lag: 56)
        cluster.hear(
            Beat(node: Self.node("gateway-2"), phase: .member, holdings: [holding], followings: [following]),
            at: 4000
        )
        return cluster
    }

    private static func row(_ json: JSONValue, _ list: String, _ index: Int) -> JSONValue? {
        guard case .array(let rows)? = json[list], rows.indices.contains(index) else { return nil }
        return rows[index]
    }

    @Test func `a gateway that does not share its log has no nodes, and says how it could`() async throws {
        let scene = try await OperatorScene()
        let answer = try await scene.send("GET", "/v1/cluster")
        #expect(answer.status == 200 && answer.json["nodes"] == .array([]) && answer.json["partitions"] == .array([]))
        let order = try await scene.send("POST", "/v1/cluster/orders", #"{"action": "drain", "node": "gateway-2"}"#)
        #expect(order.status == 404)
        guard case .string(let detail)? = order.json["detail"] else {
            Issue.record("no detail")
            return
        }
        #expect(detail.contains("journal.jetstream"))
    }

    @Test func `nodes, partitions and brokers are told as they are known`() async throws {
        let stream = BrokersView.Stream(name: "freshet-c-in-0", leader: "n1", replicas: 3, current: 2)
        let brokers = BrokersView(
            brokers: [
                BrokersView.Broker(name: "n1", version: "2.12.1"),
                BrokersView.Broker(name: "n2", version: "2.11.0", fault: "broker n2 is too old"),
            ],
            connected: "nats://127.0.0.1:4222",
            servers: ["nats://127.0.0.1:4222"],
            streams: [stream, BrokersView.Stream(name: "freshet-c-in-1", leader: nil, replicas: 3, current: 0)]
        )
        let clocks = ClockTrouble(
            partition: Self.partition,
            entries: 7,
            storedAt: .epoch,
            writtenAt: .epoch + .minutes(6),
            readAt: .now
        )
        let scene = try await OperatorScene(cluster: Self.cluster(brokers, [clocks]))
        let json = try await scene.send("GET", "/v1/cluster").json
        #expect((0..<2).map { Self.row(json, "partitions", $0)?["clockDisagrees"] } == [.bool(false), .bool(true)])
        #expect(json["node"] == .string("gateway-1"))
        #expect(Self.cluster().view?.livingMembers == 1, "neither the one that joins nor the one that is missing")
        let states = (0..<3).map { Self.row(json, "nodes", $0)?["state"] }
        #expect(states == [.string("joining"), .string("member"), .string("missing")])
        #expect(Self.row(json, "nodes", 1)?["partitions"] == .int(1))
        #expect(Self.row(json, "nodes", 2)?["silentSeconds"] == .int(3))
        #expect(Self.row(json, "partitions", 0)?["state"] == .string("unowned"))
        let moving = Self.row(json, "partitions", 1)
        #expect(moving?["state"] == .string("moving") && moving?["owner"] == .string("gateway-2"))
        #expect(moving?["successor"] == .string("gateway-1") && moving?["epoch"] == .int(12))
        #expect(moving?["applied"] == .int(34) && moving?["standby"] == nil)
        let followed = Self.row(json, "partitions", 0)
        #expect(followed?["standby"] == .string("gateway-2") && followed?["standbyLag"] == .int(56))
        let told = try #require(json["brokers"])
        #expect(Self.row(told, "brokers", 0)?["leads"] == .int(1) && Self.row(told, "brokers", 0)?["fault"] == nil)
        #expect(Self.row(told, "brokers", 1)?["fault"] == .string("broker n2 is too old"))
        #expect(Self.row(told, "streams", 1)?["leader"] == nil)

        let metrics = await scene.routes.respond(to: OperatorScene.request("GET", "/metrics"))
        guard case .bytes(let bytes) = metrics.body else {
            Issue.record("no metrics")
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
        for line in [
            #"freshet_cluster_nodes{state="alive"} 2"#, #"freshet_cluster_nodes{state="missing"} 1"#,
            #"freshet_cluster_partitions{state="unowned"} 1"#, #"freshet_cluster_partitions{state="moving"} 1"#,
            "freshet_cluster_partitions_owned 0", #"freshet_cluster_streams{which="leaderless"} 1"#,
            #"freshet_cluster_streams{which="lagging"} 2"#, "freshet_cluster_brokers 2", "freshet_cluster_standbys 1",
            "freshet_cluster_brokers_unsafe 1",
            "freshet_cluster_standbys_disagreed_total 0", "freshet_cluster_messages_lost_total 3",
            #"freshet_cluster_clock_disagreements_total{partition="0"} 0"#,
            #"freshet_cluster_clock_disagreements_total{partition="1"} 7"#,
        ] { #expect(text.contains("\(line)\n"), "\(line)") }
    }

    private static func report(_ program: String, _ digest: UInt64, overdue: [NodeReport.Overdue] = []) -> NodeReport {
        NodeReport(program: program, settings: digest, credentials: ~digest, overdue: overdue)
    }

    @Test func `digests are told of living nodes with the same program, and overdue snapshots by their owners`()
        async throws
    {
        let cluster = Self.cluster()
        let scene = try await OperatorScene(cluster: cluster)
        let quiet = try await scene.send("GET", "/v1/cluster").json
        #expect(quiet["settingsDigest"] == nil && Self.row(quiet, "nodes", 0)?["version"] == nil)
        #expect(Self.row(quiet, "partitions", 1)?["snapshotOverdueSeconds"] == nil)

        cluster.tell(.reports(Self.report("1.0", 0xAB)))
        let holding = Beat.Holding(partition: Self.partition, epoch: Epoch(12), standing: .running)
        // Not of a partition that it does not have.
        let overdue = (0..<2).map { number in
            NodeReport.Overdue(partition: PartitionID(number), since: Sports.start - .minutes(number == 1 ? 10 : 90))
        }
        let second = Self.report("1.0", 0xCD, overdue: overdue)
        cluster.hear(Beat(node: Self.node("gateway-2"), phase: .member, holdings: [holding], report: second), at: 4000)
        cluster.hear(Beat(node: Self.node("gateway-4"), phase: .member, report: Self.report("1.1", 0xAB)), at: 4000)
        cluster.hear(Beat(node: Self.node("gateway-5"), phase: .member), at: 4000)
        let json = try await scene.send("GET", "/v1/cluster").json
        let nodes = [0, 1, 3, 4].map { Self.row(json, "nodes", $0) }
        #expect(nodes.map { $0?["version"] } == [.string("1.0"), .string("1.0"), .string("1.1"), nil])
        #expect(
            nodes.map { $0?["settingsDigest"] } == [.string("00000000000000ab"), .string("00000000000000cd"), nil, nil]
        )
        #expect(
            nodes.map { $0?["credentialsDigest"] } == [
                .string("ffffffffffffff54"), .string("ffffffffffffff32"), nil, nil,
            ]
        )
        #expect(Self.row(json, "partitions", 0)?["snapshotOverdueSeconds"] == nil)
        #expect(Self.row(json, "partitions", 1)?["snapshotOverdueSeconds"] == .int(600))
    }

    @Test func `orders reach the cluster, and are answered with what it is then; the audit has them`() async throws {
        let cluster = Self.cluster()
        let scene = try await OperatorScene(cluster: cluster)
        let path = "/v1/cluster/orders"
        let drained = try await scene.send("POST", path, #"{"action": "drain", "node": "gateway-3"}"#)
        #expect(drained.status == 200)
        // It is not missed any more.
        #expect(Self.row(drained.json, "nodes", 2)?["state"] == .string("ended"))
        #expect(Self.row(drained.json, "nodes", 2)?["drained"] == .bool(true))
        let moved = try await scene.send("POST", path, #"{"action": "move", "partition": 1, "to": "gateway-2"}"#)
        #expect(Self.row(moved.json, "partitions", 1)?["wished"] == .string("gateway-2"))
        _ = try await scene.send("POST", path, #"{"action": "move", "partition": 1}"#)
        let undrained = try await scene.send("POST", path, #"{"action": "undrain", "node": "gateway-3"}"#)
        #expect(Self.row(undrained.json, "nodes", 2)?["state"] == .string("missing"))
        let (third, second) = (Self.node("gateway-3").name, Self.node("gateway-2").name)
        #expect(
            cluster.ordered == [
                .drain(third), .place(Self.partition, second), .place(Self.partition, nil), .undrain(third),
            ]
        )
        // If a later record in the same partition is applied, so is that one.
        _ = try await scene.scene.log.append(.tick, to: PartitionID(0))
        let audit = try await scene.send("GET", "/v1/audit").json
        guard case .array(let requests)? = audit["requests"] else {
            Issue.record("no requests")
            return
        }
        #expect(requests.count == 4 && requests.allSatisfy { $0["path"] == .string(path) })
    }

    @Test func `other decision rules are ordered if a living node has them, and told of each partition`() async throws {
        let cluster = Self.cluster()
        let newer = ClusterNode(
            name: try #require(NodeName("gateway-4")),
            incarnation: Incarnation(startedAt: .epoch, number: 4),
            address: "",
            rules: 2
        )
        cluster.hear(Beat(node: newer, phase: .member), at: 4000)
        let scene = try await OperatorScene(cluster: cluster)
        let before = try await scene.send("GET", "/v1/cluster").json
        #expect(Self.row(before, "partitions", 1)?["rules"] == .int(1) && before["wishedRules"] == nil)
        #expect(Self.row(before, "partitions", 0)?["rules"] == nil)
        let path = "/v1/cluster/orders"
        let ordered = try await scene.send("POST", path, #"{"action": "change-rules", "rules": 2}"#)
        #expect(ordered.status == 200 && ordered.json["wishedRules"] == .int(2))
        #expect(cluster.ordered == [.changeRules(to: 2)])
        for body in [#"{"action": "change-rules", "rules": 3}"#, #"{"action": "change-rules"}"#] {
            #expect(try await scene.send("POST", path, body).status == 400)
        }
        #expect(cluster.ordered.count == 1)
    }

    @Test(
        arguments: [
            (#"{"action": "drain", "node": "gateway-9"}"#, 404), (#"{"action": "drain"}"#, 400),
            (#"{"action": "undrain", "node": "a b"}"#, 404), (#"{"action": "move", "partition": 2}"#, 400),
            (#"{"action": "move", "partition": 0, "to": "gateway-9"}"#, 404), (#"{"action": "move"}"#, 400),
            (#"{"action": "move", "partition": 0, "to": null}"#, 400),
            (#"{"action": "move", "partition": 0, "to": "gateway-3"}"#, 400), (#"{"action": "halt"}"#, 400),
            (#"{"action": "drain", "node": "gateway-2", "partition": 1}"#, 400), ("[]", 400),
        ]
    )
    func `an order that cannot be is refused, and changes nothing`(body: String, status: Int) async throws {
        let cluster = Self.cluster()
        cluster.change(.drain(Self.node("gateway-3").name))
        let scene = try await OperatorScene(cluster: cluster)
        #expect(try await scene.send("POST", "/v1/cluster/orders", body).status == status)
        #expect(cluster.ordered.count == 1)
    }
}

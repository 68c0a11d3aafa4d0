import Clustering
import OperatorAPI
import Testing
import WidgetModel

/// The faults of a cluster, as operators are told them.
@Suite struct ClusterTroublesTests {
    private static let own = FakeCluster.node("gateway-1")
    private static let now = Instant(milliseconds: 4000)

    /// Two members, each with one of the two partitions.
    ///
    /// - Parameters:
    ///   - standing: Of the second one's partition.
    ///   - reports: Of the members, by name.
    private static func view(
        _ standing: Beat.Standing = .running,
        reports: [String: NodeReport] = [:],
        isThirdMissing: Bool = false
    ) -> ClusterView {
        let cluster = FakeCluster()
        cluster.hear(Beat(node: Self.own, phase: .member), at: 1)
        if isThirdMissing {
            cluster.hear(Beat(node: FakeCluster.node("gateway-3"), phase: .member, report: reports["gateway-3"]), at: 2)
        }
        cluster.hear(Beat(node: Self.own, phase: .member), at: 4000)
        if let report = reports["gateway-1"] { cluster.tell(.reports(report)) }
        for (number, name) in ["gateway-2", "gateway-4"].enumerated() {
            let holding = Beat.Holding(
                partition: PartitionID(UInt16(number)),
                epoch: Epoch(12),
                standing: number == 1 ? standing : .running
            )
            let node = FakeCluster.node(name)
            cluster.hear(Beat(node: node, phase: .member, holdings: [holding], report: reports[name]), at: 4000)
        }
        guard let view = cluster.view else { preconditionFailure("it has a view") }
        return view
    }

    private static let stream = BrokersView.Stream(name: "s", leader: "n1", replicas: 3, current: 3)

    private static func brokers(_ streams: [BrokersView.Stream] = [stream], fault: String? = nil) -> BrokersView {
        BrokersView(
            brokers: [BrokersView.Broker(name: "n1", version: "2.12.1", fault: fault)],
            connected: "",
            servers: [],
            streams: streams
        )
    }

    private static func texts(
        _ view: ClusterView,
        _ brokers: BrokersView? = brokers(),
        _ clocks: [ClockTrouble] = [],
        settings: UInt64? = nil
    ) -> [String] {
        ClusterTroubles(of: view, brokers, clocks, settings: settings, at: Self.now).all.map(\.text)
    }

    @Test func `a cluster that is well has none`() {
        #expect(Self.texts(Self.view()) == [])
    }

    @Test func `nodes, partitions and brokers with a fault are told, the worst first`() {
        let view = Self.view(.failed, isThirdMissing: true)
        let clocks = [(1, Interval.minutes(-6)), (0, .hours(3))].map { number, difference in
            ClockTrouble(
                partition: PartitionID(UInt16(number)),
                entries: 1,
                storedAt: Self.now + difference,
                writtenAt: Self.now,
                readAt: .now
            )
        }
        let leaderless = BrokersView.Stream(name: "t", leader: nil, replicas: 3, current: 0)
        let lagging = BrokersView.Stream(name: "u", leader: "n1", replicas: 3, current: 2)
        let brokers = Self.brokers([Self.stream, leaderless, lagging], fault: "broker n1 has no JetStream")
        let all = ClusterTroubles(of: view, brokers, clocks, settings: nil, at: Self.now).all
        #expect(
            all.map(\.text) == [
                "Partition 1 cannot go on.",
                "Partition 1: the clock of its broker is 6 min behind a node's.",
                "Partition 0: the clock of its broker is 3 h ahead of a node's.",
                "The node gateway-3 was not heard for 3 s.",
                "The broker n1 could lose accepted pushes.",
                "1 stream has no leader.",
                "1 stream is not whole on every broker.",
            ]
        )
        #expect(all.map(\.level) == [.bad, .bad, .bad, .bad, .bad, .bad, .warn])
        #expect(all[4].act == "Broker n1 has no JetStream.")
        #expect(Self.texts(Self.view(), nil) == ["The brokers have not answered lately."])
        let unowned = FakeCluster()
        unowned.hear(Beat(node: Self.own, phase: .member), at: 4000)
        #expect(unowned.view.map { Self.texts($0) } == ["Partitions 0, 1 have no owner."])
    }

    private static func report(_ settings: UInt64, _ credentials: UInt64 = 1, of program: String = "1.0") -> NodeReport
    {
        NodeReport(program: program, settings: settings, credentials: credentials)
    }

    @Test func `nodes that differ from most, or from the settings in force, are told; what is not known is none`() {
        let same = ["gateway-1": Self.report(7), "gateway-2": Self.report(7)]
        #expect(Self.texts(Self.view(reports: same), settings: 7) == [])
        let others = ["gateway-1": Self.report(7, 5), "gateway-2": Self.report(8, 6), "gateway-4": Self.report(8, 6)]
        #expect(
            Self.texts(Self.view(reports: others), settings: 7) == [
                "gateway-2, gateway-4 have other settings than gateway-1.",
                "gateway-1 has other credentials than gateway-2, gateway-4.",
            ]
        )
        #expect(
            Self.texts(Self.view(reports: same), settings: 9) == [
                "gateway-1, gateway-2 have other settings than those in force."
            ]
        )
        // Of as many the first by name is the reference.
        let each = ["gateway-1": Self.report(1), "gateway-2": Self.report(2), "gateway-4": Self.report(3)]
        #expect(
            Self.texts(Self.view(reports: each)) == [
                "gateway-2 has other settings than gateway-1.", "gateway-4 has other settings than gateway-1.",
            ]
        )
        // Another version of the program may make its digests of something else.
        let newer = ["gateway-1": Self.report(1), "gateway-2": Self.report(2, of: "1.1")]
        #expect(Self.texts(Self.view(reports: newer)) == [])
    }

    @Test func `an overdue snapshot is told by its owner's word`() {
        let overdue = NodeReport.Overdue(partition: PartitionID(1), since: Self.now - .minutes(20))
        let report = NodeReport(program: "1.0", settings: 1, credentials: 1, overdue: [overdue])
        #expect(
            Self.texts(Self.view(reports: ["gateway-4": report])) == ["Partition 1 has had no snapshot for 20 min."]
        )
    }
}

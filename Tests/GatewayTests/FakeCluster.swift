import Clustering
import Synchronization
import WidgetModel

/// A node of a cluster that hears what the test says, and has no brokers.
final class FakeCluster: Cluster {
    private let machine: Mutex<PlacementMachine>
    private let version = Mutex<UInt64>(0)
    private let orders = Mutex<[PlacementWishes.Change]>([])
    let brokers: BrokersView?
    let clockTroubles: [ClockTrouble]
    let losses = 3

    init(brokers: BrokersView? = nil, clockTroubles: [ClockTrouble] = []) {
        self.brokers = brokers
        self.clockTroubles = clockTroubles
        let node = Self.node("gateway-1")
        self.machine = Mutex(PlacementMachine(node, partitions: 2, now: Instant(milliseconds: 0)))
    }

    var view: ClusterView? { self.machine.withLock { $0.view } }
    var isCutOff: Bool { self.machine.withLock { $0.isCutOff(at: Instant(milliseconds: 0)) } }
    func owner(of partition: PartitionID) -> ClusterNode? { self.machine.withLock { $0.owner(of: partition) } }
    var ordered: [PlacementWishes.Change] { self.orders.withLock { $0 } }

    func join(_: ClusterNode, limits: PlacementMachine.Limits, follow: @escaping @Sendable (NodeOrder) -> Void) {}
    func tell(_ news: NodeNews) {
        guard case .reports(let report) = news else { return }
        self.machine.withLock { $0.reports(report) }
    }
    func announce(_: [UInt8]) {}
    func watch(_: @escaping @Sendable ([UInt8]) -> Void) {}
    func close() {}

    func change(_ change: PlacementWishes.Change) {
        self.orders.withLock { $0.append(change) }
        let version = self.version.withLock { version in
            version += 1
            return version
        }
        var wishes = PlacementWishes()
        for order in self.ordered { wishes.apply(order) }
        wishes.version = version
        self.machine.withLock { [wishes] in $0.wished(wishes) }
    }

    func hear(_ beat: Beat, at milliseconds: Int64) {
        self.machine.withLock { $0.heard(beat, at: Instant(milliseconds: milliseconds)) }
    }

    static func node(_ name: String) -> ClusterNode {
        ClusterNode(
            name: NodeName(name)!,
            incarnation: Incarnation(startedAt: Instant(milliseconds: 7000), number: 1),
            address: "https://\(name).example.com",
            rules: 1
        )
    }
}

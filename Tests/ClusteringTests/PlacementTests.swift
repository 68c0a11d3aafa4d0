import Clustering
import TestSupport
import Testing
import WidgetModel

@Suite struct PlacementTests {
    /// A cluster that has come to rest.
    private static func cluster(_ count: Int, seed: UInt64 = 1) -> SimulatedCluster {
        var cluster = SimulatedCluster(seed: seed)
        for number in 0..<count { cluster.start(SimulatedCluster.name(number)) }
        cluster.run(milliseconds: 20_000)
        cluster.starts = []
        return cluster
    }

    private static var partitions: [PartitionID] {
        (0..<SimulatedCluster.partitions).map { PartitionID(UInt16($0)) }
    }

    /// Every partition has one owner, the first by hashing, and the brokers' claim says so.
    static func check(_ cluster: SimulatedCluster, _ comment: Comment) throws {
        #expect(cluster.faultsFound == [], comment)
        for partition in Self.partitions {
            let first = cluster.first(for: partition)
            #expect(cluster.owners(of: partition).map(\.name) == [first], "partition \(partition), \(comment)")
            let claim = try #require(cluster.claims[Int(partition.rawValue)])
            #expect(claim.node.name == first && !claim.isReleased, comment)
        }
    }

    // MARK: Values

    @Test func `a name is 1 to 64 letters, digits, dots, hyphens and underscores`() {
        for name in ["a", "gateway-1.example_a", String(repeating: "n", count: 64)] { #expect(NodeName(name) != nil) }
        for name in ["", "a b", "é", "a/b", String(repeating: "n", count: 65)] { #expect(NodeName(name) == nil) }
    }

    @Test func `hashing spreads partitions, and a node that comes or goes moves only its share`() throws {
        let names = (0..<5).map { SimulatedCluster.name($0) }
        let partitions = (0..<256).map { PartitionID(UInt16($0)) }
        let firsts = partitions.map { Rendezvous.ranking(of: names, for: $0) }
        for name in names {
            let count = firsts.count { $0.first == name }
            #expect((30...75).contains(count), "\(name) \(count)")
        }
        let without = partitions.map { Rendezvous.ranking(of: names.dropLast(), for: $0) }
        for (all, fewer) in zip(firsts, without) {
            #expect(fewer == all.filter { $0 != names[4] })
        }
    }

    // MARK: One node and two

    @Test func `a node alone claims everything once it has heard itself for a while`() throws {
        var cluster = SimulatedCluster(seed: 3)
        let node = cluster.start(SimulatedCluster.name(0))
        cluster.run(milliseconds: 1900)
        #expect(node.machine.view.partitions.allSatisfy { $0.owner == nil })
        cluster.run(milliseconds: 2000)
        try Self.check(cluster, "alone")
    }

    @Test func `a node that joins gets its share one by one, and nothing else moves`() throws {
        var cluster = Self.cluster(2)
        cluster.start(SimulatedCluster.name(2))
        cluster.run(milliseconds: 30_000)
        try Self.check(cluster, "joined")
        let own = Self.partitions.filter {
            Rendezvous.ranking(of: cluster.living.map(\.name), for: $0).first == SimulatedCluster.name(2)
        }
        #expect(cluster.starts.allSatisfy { $0.node == SimulatedCluster.name(2) })
        #expect(cluster.starts.map(\.partition).sorted() == own)
    }

    @Test func `a node that dies loses what it had to the next, within a few beats`() throws {
        var cluster = Self.cluster(3)
        let dead = cluster.nodes[0]
        cluster.kill(dead)
        cluster.run(milliseconds: 3000)
        try Self.check(cluster, "dead")
        #expect(Set(cluster.starts.map(\.partition)) == Set(dead.owners.keys))
    }

    @Test func `a node that is told to end hands over, and is not waited for`() throws {
        var cluster = Self.cluster(3)
        let node = cluster.nodes[1]
        let had = node.owners.count
        cluster.leave(node)
        cluster.run(milliseconds: 700)
        #expect(node.hasLeft)
        try Self.check(cluster, "left")
        #expect(cluster.starts.count == had)
    }

    @Test func `a node that was stopped gives up what others took, and gets it back as a node that joins`() throws {
        var cluster = Self.cluster(2)
        let node = cluster.nodes[0]
        let had = Set(node.owners.keys)
        #expect(!node.machine.isCutOff(at: Instant(milliseconds: cluster.now)))
        cluster.pause(node)
        for _ in 0..<100 {
            cluster.run(milliseconds: 100)
            let areTaken = had.contains { partition in cluster.owners(of: partition).contains { $0 !== node } }
            // It knows that its state may be old before another node decides anything.
            if areTaken { #expect(node.machine.isCutOff(at: Instant(milliseconds: cluster.now))) }
        }
        #expect(had.allSatisfy { cluster.owners(of: $0).contains { $0 !== node } })
        cluster.resume(node)
        cluster.run(milliseconds: 1000)
        for partition in had { #expect(cluster.owners(of: partition).map(\.name) == [SimulatedCluster.name(1)]) }
        cluster.run(milliseconds: 20_000)
        try Self.check(cluster, "continued")
        #expect(node.refusal == nil && !node.machine.isCutOff(at: Instant(milliseconds: cluster.now)))
    }

    @Test func `nothing moves while the brokers take no claims, and nothing while no node hears another`() throws {
        var cluster = Self.cluster(3)
        cluster.faults.failedRequests = 100
        cluster.run(milliseconds: 20_000)
        #expect(cluster.starts.isEmpty)
        cluster.faults.lostBeats = 100
        cluster.run(milliseconds: 20_000)
        cluster.faults = SimulatedCluster.Faults()
        cluster.run(milliseconds: 20_000)
        #expect(cluster.starts.isEmpty)
        try Self.check(cluster, "brokers are back")
    }

    @Test func `partitions with nothing to do stay where they are`() throws {
        var cluster = Self.cluster(2)
        // Longer than anything is remembered.
        cluster.run(milliseconds: PlacementMachine.Limits().memory.milliseconds * 2)
        #expect(cluster.starts.isEmpty)
        try Self.check(cluster, "idle")
    }

    @Test func `an owner that is fenced reads whose the partition is, and follows that`() throws {
        var cluster = Self.cluster(2)
        let node = cluster.nodes[0]
        let partition = try #require(node.owners.keys.min())
        cluster.fence(node, partition)
        cluster.run(milliseconds: 1000)
        #expect(cluster.owners(of: partition).isEmpty)
        cluster.run(milliseconds: 5000)
        try Self.check(cluster, "fenced")
    }

    // MARK: One name twice

    @Test func `the later of two nodes with one name is refused`() throws {
        var cluster = Self.cluster(2)
        let first = cluster.nodes[0]
        let second = cluster.start(first.name)
        cluster.run(milliseconds: 5000)
        #expect(second.hasLeft && first.refusal == nil && cluster.starts.isEmpty)
        let refusal = try #require(second.refusal)
        #expect(refusal == .nameTaken(first.name, address: first.machine.own.address))
        #expect(refusal.description.contains("journal.jetstream.node.name"))
        try Self.check(cluster, "refused")
    }

    @Test func `of two nodes with one name that start together, one stays`() throws {
        var cluster = SimulatedCluster(seed: 5)
        for _ in 0..<2 { cluster.start(SimulatedCluster.name(0)) }
        cluster.run(milliseconds: 10_000)
        #expect(cluster.living.count == 1)
        try Self.check(cluster, "one stays")
    }

    @Test func `a node that was stopped does not drive out the one that took its name`() throws {
        var cluster = Self.cluster(2)
        let old = cluster.nodes[0]
        cluster.pause(old)
        cluster.run(milliseconds: 3000)
        let new = cluster.start(old.name)
        cluster.run(milliseconds: 20_000)
        cluster.resume(old)
        cluster.run(milliseconds: 10_000)
        #expect(old.hasLeft && old.refusal != nil && new.refusal == nil)
        try Self.check(cluster, "the new one stays")
    }

    @Test func `a node that died and starts again is not taken for two`() throws {
        var cluster = Self.cluster(2)
        let name = cluster.nodes[0].name
        cluster.kill(cluster.nodes[0])
        cluster.run(milliseconds: 100)
        let again = cluster.start(name)
        cluster.run(milliseconds: 20_000)
        #expect(again.refusal == nil)
        try Self.check(cluster, "again")
    }

    // MARK: Faults

    @Test func `a partition whose owner cannot go on stays where it is, and is told as failed`() throws {
        var cluster = Self.cluster(2)
        let node = cluster.nodes[0]
        let partition = try #require(node.owners.keys.min())
        node.machine.ownerStopped(partition, .failed)
        node.owners[partition] = nil
        cluster.run(milliseconds: 10_000)
        #expect(cluster.owners(of: partition).isEmpty && cluster.starts.isEmpty)
        let seen = cluster.nodes[1].machine.view.partitions[Int(partition.rawValue)]
        #expect(seen.standing == .failed && seen.owner == node.machine.own)
    }

    // MARK: Operators' wishes

    @Test func `a drained node hands over one partition after the other, and takes none until it is undrained`() throws
    {
        var cluster = Self.cluster(3)
        let node = cluster.nodes[1]
        let had = node.owners.count
        #expect(had > 1)
        cluster.order(.drain(node.name), at: cluster.nodes[0])
        var left = had
        while left > 0 {
            cluster.run(milliseconds: 10)
            let now = node.owners.count
            #expect(left - now <= 1)
            left = now
        }
        cluster.run(milliseconds: 5000)
        try Self.check(cluster, "drained")
        #expect(node.machine.view.nodes.first { $0.node.name == node.name }?.isDrained == true)
        // It takes no partition, whichever node dies.
        cluster.kill(cluster.nodes[0])
        cluster.run(milliseconds: 5000)
        #expect(node.owners.isEmpty)
        try Self.check(cluster, "drained, and one is dead")
        // But where there is no other one, it does.
        cluster.kill(cluster.nodes[2])
        cluster.run(milliseconds: 5000)
        #expect(node.owners.count == SimulatedCluster.partitions)
        cluster.start(SimulatedCluster.name(0))
        cluster.run(milliseconds: 40_000)
        #expect(node.owners.isEmpty)
        cluster.order(.undrain(node.name))
        cluster.run(milliseconds: 30_000)
        try Self.check(cluster, "undrained")
        #expect(!node.owners.isEmpty)
    }

    @Test func `a partition goes to the node that is named, while that lives, and back`() throws {
        var cluster = Self.cluster(3)
        let partition = PartitionID(0)
        let own = try #require(cluster.owners(of: partition).first)
        let wished = try #require(cluster.nodes.first { $0 !== own })
        cluster.order(.place(partition, wished.name))
        cluster.run(milliseconds: 5000)
        #expect(cluster.starts.map(\.partition) == [partition])
        #expect(cluster.owners(of: partition).map(\.name) == [wished.name])
        #expect(own.machine.view.partitions[0].wished == wished.name)
        try Self.check(cluster, "moved")
        cluster.kill(wished)
        cluster.run(milliseconds: 5000)
        try Self.check(cluster, "the named one is dead")
        cluster.start(wished.name)
        cluster.run(milliseconds: 30_000)
        #expect(cluster.owners(of: partition).map(\.name) == [wished.name])
        cluster.order(.place(partition, nil))
        cluster.run(milliseconds: 5000)
        #expect(cluster.owners(of: partition).map(\.name) == [own.name])
        try Self.check(cluster, "back")
    }

    @Test func `an order reaches every node within a few beats, and nothing goes to and fro`() throws {
        var cluster = Self.cluster(3)
        let partition = PartitionID(3)
        let own = try #require(cluster.owners(of: partition).first)
        let wished = try #require(cluster.nodes.first { $0 !== own })
        // Ordered at the one that is to have it: the owner has to be told.
        cluster.order(.place(partition, wished.name), at: wished)
        cluster.run(milliseconds: 2500)
        #expect(cluster.starts.map(\.node) == [wished.name])
        for node in cluster.living { #expect(node.machine.view.partitions[3].wished == wished.name) }
    }

    // MARK: Views

    @Test func `a view tells missing nodes from those that ended, and partitions without an owner`() throws {
        var cluster = Self.cluster(3)
        let (seeing, dead, leaving) = (cluster.nodes[0], cluster.nodes[1], cluster.nodes[2])
        let had = Set(dead.owners.keys)
        #expect(seeing.machine.view.partitions.allSatisfy { $0.state == .running })
        cluster.faults.failedRequests = 100
        cluster.kill(dead)
        cluster.run(milliseconds: 3000)
        var view = seeing.machine.view
        #expect(view.nodes.filter(\.isMissing).map(\.node.name) == [dead.name])
        #expect(Set(view.partitions.filter { $0.state == .unowned }.map(\.partition)) == had)
        cluster.faults.failedRequests = 0
        cluster.run(milliseconds: 5000)
        view = seeing.machine.view
        #expect(view.partitions.allSatisfy { $0.state == .running })
        #expect(view.counts.takeovers + leaving.machine.view.counts.takeovers == had.count)
        cluster.leave(leaving)
        cluster.run(milliseconds: 5000)
        view = seeing.machine.view
        #expect(view.nodes.filter(\.isMissing).map(\.node.name) == [dead.name])
        #expect(view.nodes.count { $0.isAlive } == 1)
        // An operator says that it is gone for good.
        cluster.order(.drain(dead.name))
        #expect(seeing.machine.view.nodes.filter(\.isMissing).isEmpty)
    }

    @Test func `a node that is silent for an hour is forgotten, and beats that did not come are counted`() throws {
        let nodes = (0..<2).map { number in
            ClusterNode(
                name: SimulatedCluster.name(number),
                incarnation: Incarnation(startedAt: .epoch, number: UInt64(number)),
                address: "",
                rules: 1
            )
        }
        var machine = PlacementMachine(nodes[0], partitions: 1, now: Instant(milliseconds: 0))
        // Every beat, one beat later than it should, and not any more.
        for (at, missed) in [(500, 0), (1000, 0), (1999, 0), (2999, 1), (5000, 4)] as [(Int64, Int)] {
            machine.heard(Beat(node: nodes[1], phase: .member), at: Instant(milliseconds: at))
            #expect(machine.view.counts.beatsMissed == missed, "\(at)")
        }
        for (at, count) in [(3_604_999, 2), (3_606_999, 1)] as [(Int64, Int)] {
            machine.pass(to: Instant(milliseconds: at))
            _ = machine.takeActions()
            machine.claimsRead(nil)
            #expect(machine.view.nodes.count == count)
            machine.heard(Beat(node: nodes[0], phase: .joining), at: Instant(milliseconds: at))
            machine.pass(to: Instant(milliseconds: at))
        }
    }

    // MARK: Any order

    @Test(arguments: Seeds.from(1, count: 60))
    func `whatever happens, every partition ends with one owner`(seed: UInt64) throws {
        try RunningSeed.run(seed, of: "Placement") {
            var cluster = SimulatedCluster(seed: seed)
            for number in 0..<3 { cluster.start(SimulatedCluster.name(number)) }
            for _ in 0..<40 {
                Self.disturb(&cluster)
                cluster.run(milliseconds: Int64.random(in: 1...3000, using: &cluster.random))
                Self.fence(&cluster)
            }
            cluster.faults = SimulatedCluster.Faults()
            for node in cluster.living where node.isPaused { cluster.resume(node) }
            // Some may be told by then that another one has their name.
            cluster.run(milliseconds: 5000)
            if cluster.living.isEmpty { cluster.start(SimulatedCluster.name(0)) }
            // Owners that think so together are told apart by the fence.
            for _ in 0..<60 {
                cluster.run(milliseconds: 1000)
                Self.fence(&cluster)
            }
            try Self.check(cluster, "seed \(seed)")
            cluster.starts = []
            cluster.run(milliseconds: 20_000)
            #expect(cluster.starts.isEmpty, "seed \(seed): it does not come to rest")
        }
    }

    private static func disturb(_ cluster: inout SimulatedCluster) {
        cluster.drawFaults()
        let node = cluster.living.randomElement(using: &cluster.random)
        switch Int.random(in: 0..<10, using: &cluster.random) {
        case 0: if let node { cluster.kill(node) }
        case 1: if let node, !node.isPaused { cluster.leave(node) }
        case 2: if let node { cluster.pause(node) }
        case 3, 4: for node in cluster.living where node.isPaused { cluster.resume(node) }
        case 5, 6:
            let name = SimulatedCluster.name(Int.random(in: 0..<5, using: &cluster.random))
            cluster.start(name)
        case 7: Self.order(&cluster)
        default: break
        }
    }

    private static func order(_ cluster: inout SimulatedCluster) {
        let name = SimulatedCluster.name(Int.random(in: 0..<5, using: &cluster.random))
        let partition = Self.partitions.randomElement(using: &cluster.random)!
        let change: PlacementWishes.Change =
            switch Int.random(in: 0..<4, using: &cluster.random) {
            case 0: .drain(name)
            case 1: .undrain(name)
            case 2: .place(partition, name)
            default: .place(partition, nil)
            }
        let node = cluster.living.filter { !$0.isPaused }.randomElement(using: &cluster.random)
        cluster.order(change, at: node)
    }

    private static func fence(_ cluster: inout SimulatedCluster) {
        for partition in Self.partitions {
            let owners = cluster.owners(of: partition).filter { !$0.isPaused }
            guard owners.count > 1, let loser = owners.randomElement(using: &cluster.random) else { continue }
            cluster.fence(loser, partition)
        }
    }
}

import Clustering
import TestSupport
import Testing
import WidgetModel

/// Nodes of two versions with different decision rules.
@Suite struct PlacementRulesTests {
    private static var partitions: [PartitionID] {
        (0..<SimulatedCluster.partitions).map { PartitionID(UInt16($0)) }
    }

    /// A cluster at rest: two nodes with rules 1, and one with rules 2, which owns nothing.
    private static func cluster(seed: UInt64 = 1) -> SimulatedCluster {
        var cluster = SimulatedCluster(seed: seed)
        for number in 0..<2 { cluster.start(SimulatedCluster.name(number)) }
        cluster.run(milliseconds: 20_000)
        cluster.start(SimulatedCluster.name(2), rules: 2)
        cluster.run(milliseconds: 10_000)
        cluster.starts = []
        return cluster
    }

    private static func rules(_ cluster: SimulatedCluster) -> Set<UInt32?> { Set(cluster.rules) }

    @Test func `a node with other rules owns nothing, also where no other node is left`() throws {
        var cluster = Self.cluster()
        let newer = cluster.nodes[2]
        #expect(newer.owners.isEmpty)
        for node in cluster.nodes.prefix(2) { cluster.leave(node) }
        cluster.run(milliseconds: 30_000)
        #expect(newer.owners.isEmpty)
        let view = newer.machine.view
        #expect(view.partitions.allSatisfy { $0.state == .unowned && $0.rules == 1 && $0.next == nil })
        #expect(view.strandedPartitions == [1: Self.partitions])
        // An operators' order changes that no more: an owner with the rules before has to be there.
        cluster.order(.changeRules(to: 2))
        cluster.run(milliseconds: 30_000)
        #expect(newer.owners.isEmpty)
        cluster.start(SimulatedCluster.name(0))
        cluster.run(milliseconds: 60_000)
        try PlacementTests.check(cluster, "passed")
        #expect(Self.rules(cluster) == [2] && newer.owners.count == SimulatedCluster.partitions)
    }

    @Test func `when operators order it, partitions pass one after the other at each node, each once`() throws {
        var cluster = Self.cluster()
        let newer = cluster.nodes[2]
        cluster.order(.changeRules(to: 2))
        var without = 0
        while newer.owners.count < SimulatedCluster.partitions, cluster.now < 200_000 {
            cluster.run(milliseconds: 10)
            without = max(without, Self.partitions.count { cluster.owners(of: $0).isEmpty })
        }
        #expect(without <= 3)
        cluster.run(milliseconds: 10_000)
        try PlacementTests.check(cluster, "upgraded")
        #expect(cluster.gates == SimulatedCluster.partitions)
        #expect(cluster.starts.allSatisfy { $0.node == newer.name })
        #expect(cluster.starts.count == SimulatedCluster.partitions)
        #expect(newer.machine.view.wishedRules == 2)
        #expect(newer.machine.view.partitions.allSatisfy { $0.rules == 2 })
        // The others are upgraded, and get their share.
        for node in cluster.nodes.prefix(2) {
            cluster.leave(node)
            cluster.run(milliseconds: 3000)
            cluster.start(node.name, rules: 2)
            cluster.run(milliseconds: 30_000)
        }
        try PlacementTests.check(cluster, "all are upgraded")
        #expect(cluster.living.allSatisfy { !$0.owners.isEmpty })

        // Back again, in the same way.
        let older = cluster.start(SimulatedCluster.name(3), rules: 1)
        cluster.run(milliseconds: 10_000)
        #expect(older.owners.isEmpty)
        cluster.order(.changeRules(to: 1))
        cluster.run(milliseconds: 60_000)
        try PlacementTests.check(cluster, "back")
        #expect(Self.rules(cluster) == [1] && older.owners.count == SimulatedCluster.partitions)
    }

    @Test(arguments: [false, true])
    func `the last node with the rules before that is told to end passes what it has`(hasBegun: Bool) throws {
        var cluster = Self.cluster()
        cluster.kill(cluster.nodes[0])
        cluster.run(milliseconds: 5000)
        let last = cluster.nodes[1]
        #expect(last.owners.count == SimulatedCluster.partitions)
        cluster.order(.changeRules(to: 2))
        // The one that takes them all is busy with the first.
        while hasBegun, !cluster.nodes[2].owners.values.contains(where: { !$0.isRunning }) {
            cluster.run(milliseconds: 1)
        }
        cluster.leave(last)
        cluster.run(milliseconds: 30_000)
        #expect(last.hasLeft)
        try PlacementTests.check(cluster, "left")
        #expect(Self.rules(cluster) == [2])
    }

    @Test func `all nodes with the rules before die in the middle of it, and what has passed goes on`() throws {
        var cluster = Self.cluster(seed: 5)
        let newer = cluster.nodes[2]
        cluster.order(.changeRules(to: 2))
        while cluster.gates < 3, cluster.now < 200_000 { cluster.run(milliseconds: 1) }
        // Behind a gate, and before the claim says so.
        for node in cluster.nodes.prefix(2) { cluster.kill(node) }
        let passed = Set(Self.partitions.filter { cluster.rules[Int($0.rawValue)] == 2 })
        let claimed = Self.partitions.filter { cluster.claims[Int($0.rawValue)]?.rules == 2 }
        #expect(claimed.count < passed.count)
        cluster.run(milliseconds: 30_000)
        #expect(Set(newer.owners.keys) == passed)
        for partition in Self.partitions where !passed.contains(partition) {
            #expect(newer.machine.view.partitions[Int(partition.rawValue)].state == .unowned)
        }
        // One that has them comes back: the order holds.
        cluster.start(SimulatedCluster.name(0))
        cluster.run(milliseconds: 60_000)
        try PlacementTests.check(cluster, "over")
        #expect(Self.rules(cluster) == [2])
        #expect(cluster.gates == SimulatedCluster.partitions)
    }

    @Test func `a partition that cannot pass goes on as before, and is tried again a minute later`() throws {
        var cluster = Self.cluster()
        cluster.faults.failedStarts = 100
        cluster.order(.changeRules(to: 2))
        cluster.run(milliseconds: 2000)
        cluster.faults.failedStarts = 0
        cluster.run(milliseconds: 15_000)
        #expect(Self.rules(cluster) == [1])
        for partition in Self.partitions { #expect(cluster.owners(of: partition).count == 1) }
        cluster.run(milliseconds: 90_000)
        try PlacementTests.check(cluster, "tried again")
        #expect(Self.rules(cluster) == [2])
    }

    @Test func `an order that is taken back sends back what has passed`() throws {
        var cluster = Self.cluster()
        cluster.order(.changeRules(to: 2))
        while cluster.gates < 2, cluster.now < 200_000 { cluster.run(milliseconds: 10) }
        cluster.order(.changeRules(to: 1))
        cluster.run(milliseconds: 60_000)
        try PlacementTests.check(cluster, "as before")
        #expect(Self.rules(cluster) == [1] && cluster.nodes[2].owners.isEmpty)
    }

    @Test(arguments: Seeds.from(1, count: 12))
    func `whatever happens, every partition ends at a node that has its rules`(seed: UInt64) throws {
        try RunningSeed.run(seed, of: "PlacementRules") {
            var cluster = SimulatedCluster(seed: seed)
            for number in 0..<4 { cluster.start(SimulatedCluster.name(number), rules: UInt32(1 + number % 2)) }
            for _ in 0..<40 {
                Self.disturb(&cluster)
                cluster.run(milliseconds: Int64.random(in: 1...3000, using: &cluster.random))
                Self.fence(&cluster)
            }
            cluster.faults = SimulatedCluster.Faults()
            for node in cluster.living where node.isPaused { cluster.resume(node) }
            cluster.run(milliseconds: 5000)
            // Both versions are there.
            for rules in UInt32(1)...2 { cluster.start(SimulatedCluster.name(10 + Int(rules)), rules: rules) }
            for _ in 0..<150 {
                cluster.run(milliseconds: 1000)
                Self.fence(&cluster)
            }
            try PlacementTests.check(cluster, "seed \(seed)")
            if let wished = cluster.wishes.rules { #expect(Self.rules(cluster) == [wished], "seed \(seed)") }
            (cluster.starts, cluster.faults) = ([], SimulatedCluster.Faults())
            cluster.run(milliseconds: 20_000)
            #expect(cluster.starts.isEmpty, "seed \(seed): it does not come to rest")
        }
    }

    private static func disturb(_ cluster: inout SimulatedCluster) {
        cluster.drawFaults()
        let node = cluster.living.randomElement(using: &cluster.random)
        switch Int.random(in: 0..<9, using: &cluster.random) {
        case 0, 1: if let node { cluster.kill(node) }
        case 2: if let node, !node.isPaused { cluster.leave(node) }
        case 3: if let node { cluster.pause(node) }
        case 4: for node in cluster.living where node.isPaused { cluster.resume(node) }
        case 5, 6, 7:
            let number = Int.random(in: 0..<5, using: &cluster.random)
            cluster.start(SimulatedCluster.name(number), rules: UInt32.random(in: 1...2, using: &cluster.random))
        default:
            let node = cluster.living.filter { !$0.isPaused }.randomElement(using: &cluster.random)
            cluster.order(.changeRules(to: UInt32.random(in: 1...2, using: &cluster.random)), at: node)
        }
    }

    /// Of several owners one commits, and none whose rules the log does not go on by.
    private static func fence(_ cluster: inout SimulatedCluster) {
        for partition in Self.partitions {
            let rules = cluster.rules[Int(partition.rawValue)]
            let owners = cluster.owners(of: partition).filter { !$0.isPaused }
            for owner in owners where owner.machine.own.rules != rules { cluster.fence(owner, partition) }
            let right = owners.filter { $0.machine.own.rules == rules }
            guard right.count > 1, let loser = right.randomElement(using: &cluster.random) else { continue }
            cluster.fence(loser, partition)
        }
    }
}

import Clustering
import Testing
import WidgetModel

/// Which nodes follow the owners of others, to have their partitions next.
@Suite struct StandbyPlacementTests {
    private static var partitions: [PartitionID] {
        (0..<SimulatedCluster.partitions).map { PartitionID(UInt16($0)) }
    }

    /// A cluster that has come to rest.
    private static func cluster(
        _ count: Int,
        standsBy: Bool = true,
        memory: Interval = .seconds(3600)
    ) -> SimulatedCluster {
        var cluster = SimulatedCluster(seed: 11)
        for number in 0..<count {
            cluster.start(SimulatedCluster.name(number), standsBy: standsBy, memory: memory)
        }
        cluster.run(milliseconds: 20_000)
        (cluster.starts, cluster.startsFromStandby) = ([], 0)
        return cluster
    }

    /// Every partition is followed by the second by hashing, and all know it.
    private static func check(_ cluster: SimulatedCluster, _ comment: Comment) throws {
        #expect(cluster.faultsFound == [], comment)
        for partition in Self.partitions {
            let names = Rendezvous.ranking(of: cluster.living.map(\.name), for: partition)
            #expect(cluster.followers(of: partition) == Array(names.dropFirst().prefix(1)), comment)
            for node in cluster.living {
                let seen = node.machine.view.partitions[Int(partition.rawValue)]
                #expect(seen.standby?.node == seen.next && seen.standby?.lag == 0, comment)
            }
        }
    }

    @Test func `the second by hashing follows, and a node alone follows nothing`() throws {
        var cluster = Self.cluster(3)
        try Self.check(cluster, "three")
        cluster.kill(cluster.nodes[2])
        cluster.run(milliseconds: 20_000)
        try Self.check(cluster, "two")
        cluster.kill(cluster.nodes[1])
        cluster.run(milliseconds: 20_000)
        #expect(Self.partitions.allSatisfy { cluster.followers(of: $0).isEmpty })
        #expect(cluster.nodes[0].machine.view.partitions.allSatisfy { $0.standby == nil })
    }

    @Test func `what a dead node had goes on from what followed it, and so does what one hands over`() throws {
        var cluster = Self.cluster(3)
        let had = cluster.nodes[0].owners.count
        cluster.kill(cluster.nodes[0])
        cluster.run(milliseconds: 20_000)
        #expect(cluster.starts.count == had && cluster.startsFromStandby == had)
        try Self.check(cluster, "one is dead")
        (cluster.starts, cluster.startsFromStandby) = ([], 0)
        let left = cluster.nodes[1].owners.count
        cluster.leave(cluster.nodes[1])
        cluster.run(milliseconds: 20_000)
        #expect(cluster.starts.count == left && cluster.startsFromStandby == left)
    }

    @Test func `a node that joins follows what it is to have, and then gets it`() throws {
        var cluster = Self.cluster(2)
        cluster.start(SimulatedCluster.name(2))
        cluster.run(milliseconds: 40_000)
        #expect(!cluster.starts.isEmpty && cluster.startsFromStandby == cluster.starts.count)
        try Self.check(cluster, "joined")
    }

    @Test func `a node that is not to follow takes over all the same`() throws {
        var cluster = Self.cluster(2, standsBy: false)
        #expect(Self.partitions.allSatisfy { cluster.followers(of: $0).isEmpty })
        cluster.start(SimulatedCluster.name(2), standsBy: false)
        cluster.run(milliseconds: 40_000)
        #expect(!cluster.starts.isEmpty)
        cluster.kill(cluster.nodes[0])
        cluster.run(milliseconds: 20_000)
        #expect(cluster.startsFromStandby == 0)
        for partition in Self.partitions { #expect(cluster.owners(of: partition).count == 1) }
    }

    @Test func `a node with other decision rules follows nothing`() throws {
        var cluster = Self.cluster(1)
        let newer = cluster.start(SimulatedCluster.name(1), rules: 2)
        cluster.run(milliseconds: 20_000)
        #expect(newer.standbys.isEmpty)
        #expect(cluster.faultsFound == [])
    }

    @Test func `a node that is drained hands over what others follow`() throws {
        var cluster = Self.cluster(3)
        let node = cluster.nodes[0]
        cluster.order(.drain(node.name))
        cluster.run(milliseconds: 40_000)
        #expect(node.owners.isEmpty && cluster.startsFromStandby == cluster.starts.count)
        // Of the two that are left, one follows the other.
        for partition in Self.partitions {
            let names = cluster.followers(of: partition)
            #expect(names.count == 1 && !names.contains(node.name), "partition \(partition)")
        }
    }

    @Test func `a standby that cannot go on is tried again after a while, one that disagrees much later`() throws {
        var cluster = Self.cluster(2, memory: .seconds(60))
        let node = cluster.nodes[0]
        let partition = try #require(node.standbys.keys.min())
        for (end, early, late) in [(StandbyEnd.failed, 9000, 3000), (.disagreed, 59_000, 3000)] {
            node.standbys[partition] = nil
            node.machine.standbyEnded(partition, end)
            #expect(node.machine.view.partitions[Int(partition.rawValue)].standby == nil)
            cluster.run(milliseconds: Int64(early))
            #expect(cluster.followers(of: partition).isEmpty, "\(end)")
            cluster.run(milliseconds: Int64(late))
            #expect(cluster.followers(of: partition) == [node.name], "\(end)")
        }
        #expect(node.machine.view.counts.standbysDisagreed == 1)
    }

    @Test func `how far a standby is behind is told to all`() throws {
        var cluster = Self.cluster(2)
        let node = cluster.nodes[1]
        let partition = try #require(node.standbys.keys.min())
        node.machine.standbyFollows(partition, lag: 34)
        cluster.run(milliseconds: 1000)
        for other in cluster.living {
            let standby = other.machine.view.partitions[Int(partition.rawValue)].standby
            #expect(standby == ClusterView.Standby(node: node.name, lag: 34))
        }
    }
}

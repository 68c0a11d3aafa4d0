package import WidgetModel

/// A node's message to all others, twice a second or when something has changed.
package struct Beat: Hashable, Sendable {
    /// How far a node is.
    package enum Phase: UInt8, Hashable, Sendable, CaseIterable {
        /// It has started, and listens who else is there.
        case joining = 1
        case member = 2
        /// It hands over its partitions, and ends.
        case leaving = 3
    }

    /// A node's part in a partition that it claimed.
    package enum Standing: UInt8, Hashable, Sendable, CaseIterable {
        /// The owner reads its state and the log.
        case starting = 1
        case running = 2
        /// The owner ends, for another one.
        case stopping = 3
        /// The owner could not go on. The node keeps the partition, so that it does not go from node to node.
        case failed = 4
        case released = 5
    }

    package struct Holding: Hashable, Sendable {
        package let partition: PartitionID
        package let epoch: Epoch
        package let standing: Standing
        /// The last entry that its owner has applied.
        package let applied: LogPosition
        /// The node that it is, or was, released for.
        package let successor: NodeName?
        /// The rules by which the log goes on, where the partition was released for others than the node's.
        package let rules: UInt32?

        package init(
            partition: PartitionID,
            epoch: Epoch,
            standing: Standing,
            applied: LogPosition = .start,
            successor: NodeName? = nil,
            rules: UInt32? = nil
        ) {
            self.partition = partition
            self.epoch = epoch
            self.standing = standing
            self.applied = applied
            self.successor = successor
            self.rules = rules
        }
    }

    /// A partition of another node's that this one follows, to have it next.
    package struct Following: Hashable, Sendable {
        package let partition: PartitionID
        /// How many entries the owner has committed that are not applied here; nil while the state is read.
        package let lag: UInt64?

        package init(partition: PartitionID, lag: UInt64?) {
            (self.partition, self.lag) = (partition, lag)
        }
    }

    package let node: ClusterNode
    package let phase: Phase
    /// In the partitions' order.
    package let holdings: [Holding]
    /// The newest ``PlacementWishes/version`` that it knows.
    package let wishes: UInt64
    /// In the partitions' order.
    package let followings: [Following]
    /// Nil until the node has one, and of programs that tell none.
    package let report: NodeReport?

    package init(
        node: ClusterNode,
        phase: Phase,
        holdings: [Holding] = [],
        wishes: UInt64 = 0,
        followings: [Following] = [],
        report: NodeReport? = nil
    ) {
        self.node = node
        self.phase = phase
        self.holdings = holdings
        self.wishes = wishes
        self.followings = followings
        self.report = report
    }
}

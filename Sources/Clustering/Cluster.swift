package import WidgetModel

/// An order of placement to a node.
package enum NodeOrder: Hashable, Sendable {
    /// Start the owner of a partition, and tell ``NodeNews/started(_:)`` or ``NodeNews/stopped(_:_:)``.
    case start(PartitionID, Epoch)
    /// End an owner, also one that is starting, and tell ``NodeNews/stopped(_:_:)``.
    case stop(PartitionID, StopManner)
    /// Follow the owner that another node has, and tell ``NodeNews/standsBy(_:lag:)`` or ``NodeNews/standbyEnded(_:_:)``. A start goes
    /// on from there.
    case standBy(PartitionID)
    case standDown(PartitionID)
    /// The node cannot be one of this cluster: say why, and end.
    case refuse(NodeError)
    /// Nothing is the node's any more: it may end.
    case left
}

/// A node's news for placement.
package enum NodeNews: Hashable, Sendable {
    case started(PartitionID)
    case stopped(PartitionID, OwnerEnd)
    /// The state is read, the owner of another node is followed, and so many entries that it has committed are not applied yet.
    case standsBy(PartitionID, lag: UInt64)
    /// The owner of another node could not be followed any more.
    case standbyEnded(PartitionID, StandbyEnd)
    /// How far an owner is.
    case reached(PartitionID, LogPosition)
    /// What operators are told of the node, with its next beats.
    case reports(NodeReport)
    /// The node is to end: it hands over its partitions.
    case leaving
}

/// The cluster of nodes that share a log, as one node sees it. One node joins once.
package protocol Cluster: Sendable {
    /// Becomes one of the nodes: from now on it gets orders, and tells news.
    ///
    /// - Parameters:
    ///   - node: The node's identity among the others.
    ///   - limits: How often it beats, and when others are dead.
    ///   - follow: Gets the orders, one after the other; it hands each on and returns, and tells nothing before it has.
    /// - Throws: If there is no thread to be had for it.
    func join(
        _ node: ClusterNode,
        limits: PlacementMachine.Limits,
        follow: @escaping @Sendable (NodeOrder) -> Void
    ) throws

    /// Something has happened to the node.
    func tell(_ news: NodeNews)

    /// The cluster as this node knows it; nil before it has joined.
    var view: ClusterView? { get }

    /// The brokers as they were a moment ago; nil if that is not known, or they did not answer.
    var brokers: BrokersView? { get }

    /// Partitions with entries whose two clocks did not agree, as this node has read them, in the partitions' order.
    var clockTroubles: [ClockTrouble] { get }

    /// How often a message was gone that this node had sent and the brokers had stored, since it opened the log.
    var losses: Int { get }

    /// Has all nodes follow an operator's order. Waits for the brokers.
    ///
    /// - Throws: If they did not take it; then it may be ordered again.
    func change(_ change: PlacementWishes.Change) throws

    /// Whether other nodes may have taken this node's partitions over without its knowing yet.
    var isCutOff: Bool { get }

    /// The node that has a partition, as far as this node knows; nil if none has.
    func owner(of partition: PartitionID) -> ClusterNode?

    /// Tells all other nodes something. Nothing stores it: a node that does not hear it now never does.
    func announce(_ announcement: [UInt8])

    /// Has the announcements of other nodes handed on, one after the other.
    ///
    /// - Throws: If there is no thread to be had for it.
    func watch(_ take: @escaping @Sendable ([UInt8]) -> Void) throws

    /// Leaves without a word.
    func close()
}

/// A node, and the cluster that it is to be one of.
package struct Membership: Sendable {
    package let cluster: any Cluster
    /// How nodes ask each other.
    package let exchange: any NodeExchange
    package let node: ClusterNode
    package var limits = PlacementMachine.Limits()

    package init(_ cluster: any Cluster, _ exchange: any NodeExchange, as node: ClusterNode) {
        self.cluster = cluster
        self.exchange = exchange
        self.node = node
    }

    /// Where another node has a partition, as a person is told; nil if none has.
    package var elsewhere: @Sendable (PartitionID) -> String? {
        { [cluster = self.cluster, own = self.node] partition in
            cluster.owner(of: partition).flatMap { $0 == own ? nil : "node \($0.name), \($0.address)" }
        }
    }
}

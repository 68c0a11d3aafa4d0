package import WidgetModel

/// The operators' wishes for placement. The brokers have them as one note, which every node reads.
package struct PlacementWishes: Hashable, Sendable {
    /// One change of them.
    package enum Change: Hashable, Sendable {
        /// The node is to have nothing while another one is there.
        case drain(NodeName)
        case undrain(NodeName)
        /// The partition is to be the node's while that lives; nil to go by the names again.
        case place(PartitionID, NodeName?)
        /// Partitions are to go on by these decision rules: their owners pass the gate to them once a node has them.
        case changeRules(to: UInt32)
    }

    /// The number of the note: later ones are higher. 0 for none.
    package var version: UInt64
    package private(set) var drained: Set<NodeName>
    /// Partitions that are to be a certain node's.
    package private(set) var places: [PartitionID: NodeName]
    /// The decision rules that all partitions are to go on by; nil for those that they have.
    package private(set) var rules: UInt32?

    package init(
        version: UInt64 = 0,
        drained: Set<NodeName> = [],
        places: [PartitionID: NodeName] = [:],
        rules: UInt32? = nil
    ) {
        self.version = version
        self.drained = drained
        self.places = places
        self.rules = rules
    }

    /// Doing so twice changes nothing more.
    package mutating func apply(_ change: Change) {
        switch change {
        case .drain(let node): self.drained.insert(node)
        case .undrain(let node): self.drained.remove(node)
        case .place(let partition, let node): self.places[partition] = node
        case .changeRules(let rules): self.rules = rules
        }
    }

    /// Nodes by how much a partition is theirs, as operators want it: first the one that they have named, last those that are
    /// drained. Where all are drained, it is as if none were.
    ///
    /// - Parameter ranking: By their names alone.
    package func ranking(_ ranking: [NodeName], for partition: PartitionID) -> [NodeName] {
        let (drained, others) = (
            ranking.filter { self.drained.contains($0) }, ranking.filter { !self.drained.contains($0) }
        )
        let group = others.isEmpty ? drained : others
        let wished = self.places[partition]
        return group.filter { $0 == wished } + group.filter { $0 != wished } + (others.isEmpty ? [] : drained)
    }
}

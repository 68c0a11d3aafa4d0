package import WidgetModel

/// Rendezvous hashing: which of several nodes has a partition follows from their names alone, so that all nodes that know of each
/// other agree, and one that comes or goes moves nothing but its own share.
///
/// Source: Thaler, Ravishankar, "Using Name-Based Mappings to Increase Hit Rates" (IEEE/ACM Transactions on Networking, 1998).
package enum Rendezvous {
    /// How much a node is a partition's.
    package static func weight(of node: NodeName, for partition: PartitionID) -> UInt64 {
        var hash = StableHash()
        hash.combine(node.rawValue)
        hash.combine(UInt64(partition.rawValue))
        return hash.value
    }

    /// Nodes by how much a partition is theirs: the first is its owner, the second the one that has it next.
    package static func ranking(of nodes: some Sequence<NodeName>, for partition: PartitionID) -> [NodeName] {
        nodes.map { (weight: Self.weight(of: $0, for: partition), name: $0) }
            .sorted { ($0.weight, $0.name) > ($1.weight, $1.name) }
            .map(\.name)
    }
}

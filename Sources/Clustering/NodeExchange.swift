package import WidgetModel

/// Asks other nodes about partitions that are theirs, and answers their questions. Questions and answers are bytes.
///
/// Changes of the state never go from node to node: those go through the log, whichever node appends them. So everything that a node is
/// asked may be asked again.
package protocol NodeExchange: Sendable {
    /// Asks a node, and comes back with its answer, or when it is known that there will be none, or when the time is
    /// over.
    func ask(_ node: ClusterNode, _ question: NodeQuestion) async -> NodeAnswer

    /// Answers other nodes' questions to this one, from now on. Called once.
    ///
    /// - Throws: If there is no thread to be had for it.
    func answer(
        as node: ClusterNode,
        _ body: @escaping @Sendable (NodeQuestion) async -> NodeAnswer
    ) throws

    /// Answers nothing more, and has no answers any more.
    func close()
}

/// A question to a node.
package struct NodeQuestion: Hashable, Sendable {
    package let partition: PartitionID
    package let bytes: [UInt8]
    /// How long an answer is waited for.
    package let time: Interval

    package init(about partition: PartitionID, _ bytes: [UInt8], within time: Interval) {
        self.partition = partition
        self.bytes = bytes
        self.time = time
    }
}

/// A node's answer.
package enum NodeAnswer: Hashable, Sendable {
    case answer([UInt8])
    /// The partition is not the node's.
    case away
    /// So much is asked at this moment that this was not.
    case busy
    /// The answer is longer than may be sent.
    case tooLong
    /// The node is not there, or said nothing in time.
    case silence
}

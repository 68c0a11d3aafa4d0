package import WidgetModel

/// Asks for the content that a host's widgets show. Only the node that has its partition keeps it.
package struct ContentsQuestion: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.host, \.hasTimelines)

    package let host: HostKey
    /// Whether whole timelines are asked for, with the entries to come.
    package let hasTimelines: Bool

    package init(_ host: HostKey, hasTimelines: Bool) { (self.host, self.hasTimelines) = (host, hasTimelines) }
}

/// The timeline providers of a node, as far as other nodes need them.
package protocol NodeProviders: Sendable {
    /// Takes a call-back about widgets whose partition is this node's.
    func takeCallBack(_ callBack: CallBack) async throws(Problem) -> CallBack.Result
    /// The bytes of the content that a host of this node's partitions shows.
    func contents(_ question: ContentsQuestion) async throws(Problem) -> [UInt8]
}

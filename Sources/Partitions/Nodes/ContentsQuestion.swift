package import Engine
package import WidgetModel

/// Asks for the content that widgets of a host show. Only the node that has their partition keeps it.
package struct ContentsQuestion: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.instances, \.added)

    /// The widgets whose timelines are asked for.
    package let instances: [InstanceAddress]
    /// Outstanding reloads of new widgets, whose placeholders are asked for.
    package let added: [ReloadEffect]

    package init(timelinesOf instances: [InstanceAddress], placeholdersOf added: [ReloadEffect]) {
        (self.instances, self.added) = (instances, added)
    }
}

/// The timeline providers of a node, as far as other nodes need them.
package protocol NodeProviders: Sendable {
    /// Takes a call-back about widgets whose partition is this node's.
    func take(_ callBack: CallBack) async throws(Problem) -> CallBack.Result
    /// The bytes of the content that widgets of this node's partitions show.
    func contents(_ question: ContentsQuestion) async -> [UInt8]
}

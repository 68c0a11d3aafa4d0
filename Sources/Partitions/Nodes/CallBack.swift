package import WidgetModel

/// Timelines that a provider has promised and brings now. The node that asked for them takes them: the owner of their partition.
package struct CallBack: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.app, \.kind, \.body)
    /// The longest body that a node hands to another one.
    package static let bodyBytesMax = OtherNodes.questionBytesMax

    package let app: BundleID
    package let kind: WidgetKind
    /// The bytes of its JSON.
    package let body: [UInt8]

    package init(app: BundleID, kind: WidgetKind, body: [UInt8]) {
        (self.app, self.kind, self.body) = (app, kind, body)
    }

    /// How many instances were waited for, and how many ids were not.
    package struct Result: FieldCoded, Hashable, Sendable {
        package static let coding = Fields(Self.init, \.taken, \.unknown)
        package var taken: Int
        package var unknown: Int

        package init(taken: Int = 0, unknown: Int = 0) { (self.taken, self.unknown) = (taken, unknown) }
    }
}

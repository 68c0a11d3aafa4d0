package import WidgetModel

/// The data that a host or a timeline provider must be asked for again: never a reload, and nothing is charged for it.
package struct Invalidation: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.subject, \.app, \.kind, \.host, \.at)

    package let subject: InvalidationRequest.Subject
    package let app: BundleID
    package let kind: WidgetKind
    /// The host whose widgets of the kind it is about; nil for recommendations, which belong to the kind.
    package let host: HostID?
    package let at: Instant
}

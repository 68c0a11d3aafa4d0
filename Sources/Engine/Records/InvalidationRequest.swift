package import WidgetModel

/// The app's message that the system's data about its widgets, other than timelines, is out of date: WidgetKit's
/// `invalidateRelevance(ofKind:)` and `invalidateConfigurationRecommendations()`.
package struct InvalidationRequest: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(
        { Self($1, app: $0, kind: $2, host: $3) },
        \.app,
        \.subject,
        \.kind,
        \.host
    )

    /// The data that is out of date. Raw values are part of the on-disk format.
    package enum Subject: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
        /// When a widget is relevant, as its provider's `relevance()` tells.
        case relevance = 0
        /// The configurations that a gallery offers, as the provider's `recommendations()` tells.
        case recommendations = 1
    }

    package var app: BundleID
    package var subject: Subject
    /// Nil for every kind.
    package var kind: WidgetKind?
    /// Only this host's widgets; recommendations are of a kind, not of hosts.
    package var host: HostID?

    package init(_ subject: Subject, app: BundleID, kind: WidgetKind? = nil, host: HostID? = nil) {
        self.app = app
        self.subject = subject
        self.kind = kind
        self.host = host
    }
}

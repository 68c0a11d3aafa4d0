package import IntentMatching
package import WidgetModel

/// The app asks for reloads: WidgetKit's `reloadTimelines(ofKind:)` and `reloadAllTimelines()`.
///
/// Unlike a push it also reaches instances that are not push-enabled.
package struct AppReloadRequest: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(
        Self.init,
        \.app,
        \.kind,
        \.pattern,
        \.host,
        \.digest,
        \.isForControls
    )

    package var app: BundleID
    package var kind: WidgetKind?
    package var pattern: MatchPattern?
    /// Only this host's instances.
    package var host: HostID?
    /// Names the state of the content, as a push's does.
    package var digest: [UInt8]?
    /// Whether it is for controls, WidgetKit's `reloadControls(ofKind:)`, and not for widgets.
    package var isForControls: Bool

    package init(
        app: BundleID,
        kind: WidgetKind? = nil,
        pattern: MatchPattern? = nil,
        host: HostID? = nil,
        digest: [UInt8]? = nil,
        isForControls: Bool = false
    ) {
        self.app = app
        self.kind = kind
        self.pattern = pattern
        self.host = host
        self.digest = digest
        self.isForControls = isForControls
    }
}

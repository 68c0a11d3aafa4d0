import Engine
import IntentMatching
package import Timelines
package import WidgetModel

/// The difference between the two runs: another budget policy for some kinds of widget.
package struct PolicyRewrite: Hashable, Sendable {
    package let policy: BudgetPolicy
    /// Nil for every app.
    package let app: BundleID?
    /// Nil for every kind.
    package let kind: WidgetKind?

    package init(_ policy: BudgetPolicy, app: BundleID? = nil, kind: WidgetKind? = nil) {
        self.policy = policy
        self.app = app
        self.kind = kind
    }

    /// The settings as they would have been.
    func applied(to settings: EngineSettings) -> EngineSettings {
        var settings = settings
        for app in settings.apps.indices where self.app == nil || self.app == settings.apps[app].app {
            for kind in settings.apps[app].kinds.indices
            where self.kind == nil || self.kind == settings.apps[app].kinds[kind].schema.kind {
                settings.apps[app].kinds[kind].budget = self.policy
            }
        }
        return settings
    }
}

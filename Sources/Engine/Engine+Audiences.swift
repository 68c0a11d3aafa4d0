import IntentMatching
package import WidgetModel

extension Engine {
    /// How many instances a push can match, by app and kind: those that take pushes. O(kinds).
    package func audiences() -> [BundleID: [WidgetKind: Int]] {
        var audiences: [BundleID: [WidgetKind: Int]] = [:]
        for app in self.catalogue.apps {
            for kind in app.kinds {
                let name = self.catalogue[kind].name
                let count = self.registry.pushEnabledCount(app: app.id, kind: name)
                if count > 0 { audiences[app.id, default: [:]][name] = count }
            }
        }
        return audiences
    }
}

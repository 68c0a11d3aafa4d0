package import IntentMatching
package import WidgetModel

extension Engine {
    /// The hosts of an app after `cursor`, at most `limit`.
    package func hosts(app: BundleID, from cursor: HostID?, limit: Int) -> HostsPage {
        HostsPage(hosts: [], next: nil)
    }

    /// The widgets of an app that match, from `cursor`, at most `limit`.
    package func widgets(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        from cursor: InstanceAddress?,
        limit: Int
    ) -> WidgetsPage {
        WidgetsPage(widgets: [], next: nil)
    }
}

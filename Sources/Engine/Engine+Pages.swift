package import IntentMatching
package import WidgetModel

extension Engine {
    /// The widgets of an app that match, from `cursor` on, at most `limit`: `getCurrentConfigurations` of a whole app.
    /// Unlike a push it also finds instances that are not push-enabled. O(hosts log hosts + instances).
    package func widgets(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        from cursor: InstanceAddress?,
        limit: Int
    ) -> WidgetsPage {
        var found: [WidgetsPage.Widget] = []
        for slot in self.hostSlots(of: app) {
            let host = self.hosts[slot].id
            if let cursor, host < cursor.host { continue }
            for instance in self.instances(of: slot) where self.instances[instance].isLive {
                let address = InstanceAddress(host: host, instance: self.instances[details: instance].id)
                if let cursor, address < cursor { continue }
                if let kind, self.apps.kinds[Int(self.instances[instance].kind)].name != kind { continue }
                if let pattern, !self.matches(instance, pattern) { continue }
                if found.count == limit { return WidgetsPage(widgets: found, next: address) }
                found.append(WidgetsPage.Widget(host: host, registration: self.registration(of: instance)))
            }
        }
        return WidgetsPage(widgets: found, next: nil)
    }

    private func hostSlots(of app: BundleID) -> [UInt32] {
        guard let number = self.apps.names.find(app.rawValue) else { return [] }
        return self.hosts.sortedSlots().filter { self.hosts[$0].isRegistered && self.hosts[$0].app == number }
    }
}

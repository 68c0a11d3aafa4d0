package import WidgetModel

extension Engine {
    /// The reloads of all hosts of an app that are out and not acknowledged, host by host in the order of their ids.
    ///
    /// O(hosts log hosts + outstanding reloads).
    package func outstandingReloads(app: BundleID) -> [ReloadEffect] {
        guard let number = self.apps.names.find(app.rawValue) else { return [] }
        return self.hosts.sortedSlots()
            .filter { self.hosts[$0].isRegistered && self.hosts[$0].app == number }
            .flatMap { self.outstandingReloads(host: self.hosts[$0].id) }
    }
}

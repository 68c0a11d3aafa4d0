import WidgetModel

/// Each app's part of the registry, by the app's number. No part of the state: it follows from hosts and instances.
struct UsageTable: Sendable {
    private(set) var rows: [RegistryUsage] = []
    /// Grows with every change.
    private(set) var version: UInt64 = 0

    /// An app's usage; nothing before its first host.
    subscript(app: AppNumber) -> RegistryUsage {
        get { app.index < self.rows.count ? self.rows[app.index] : RegistryUsage() }
        _modify {
            if app.index >= self.rows.count {
                self.rows += Array(repeating: RegistryUsage(), count: app.index + 1 - self.rows.count)
            }
            self.version &+= 1
            yield &self.rows[app.index]
        }
    }

    /// The teams of the apps have changed.
    mutating func markChanged() { self.version &+= 1 }
}

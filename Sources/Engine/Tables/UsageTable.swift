/// What of the registry is each app's, by the app's number. No part of the state: it follows from hosts and instances.
struct UsageTable: Sendable {
    private(set) var rows: [RegistryUsage] = []
    /// Grows with every change.
    private(set) var version: UInt64 = 0

    /// What an app has; nothing before its first host.
    subscript(app: UInt32) -> RegistryUsage {
        get { Int(app) < self.rows.count ? self.rows[Int(app)] : RegistryUsage() }
        _modify {
            if Int(app) >= self.rows.count {
                self.rows += Array(repeating: RegistryUsage(), count: Int(app) + 1 - self.rows.count)
            }
            self.version &+= 1
            yield &self.rows[Int(app)]
        }
    }

    /// Whose the apps are has changed.
    mutating func markChanged() { self.version &+= 1 }
}

package import Settings
package import WidgetModel

/// The number that stands for each app in the tables of a running gateway: an app keeps its own as long as the process runs,
/// whatever becomes of others, and gets the same back when it comes again.
package struct AppNumbers: Hashable, Sendable {
    /// The apps in the order of their numbers.
    package private(set) var apps: [BundleID] = []
    private var numbers: [BundleID: Int] = [:]

    package init() {}

    /// Numbers the apps of a configuration in its order.
    package init(_ configuration: GatewayConfiguration) {
        self.add(configuration.apps.map(\.bundleID))
    }

    /// Numbers those that have none yet.
    package mutating func add(_ apps: [BundleID]) {
        for app in apps where self.numbers[app] == nil {
            self.numbers[app] = self.apps.count
            self.apps.append(app)
        }
    }

    /// - Precondition: The app was added.
    package subscript(app: BundleID) -> Int {
        guard let number = self.numbers[app] else { preconditionFailure("\(app) has no number") }
        return number
    }
}

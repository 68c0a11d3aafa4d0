package import WidgetModel

extension HostKey {
    /// A host of the app that most tests are about.
    package init(_ id: String, of app: BundleID = BundleID("com.example.scores")) {
        self.init(app: app, id: HostID(id))
    }
}

extension InstanceAddress {
    /// `<host>:<instance>`, where the app is clear.
    package var short: String { "\(self.host.id):\(self.instance)" }
}

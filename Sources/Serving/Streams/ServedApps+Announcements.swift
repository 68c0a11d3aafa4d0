package import Partitions

extension ServedApps {
    /// The most apps of one announcement, which brokers take up to a megabyte of.
    package static let appsPerAnnouncementMax = 1000

    /// Announces the kinds of all apps that this node has accepted pushes for since the last call.
    package func takeUntold() -> [Announcement] {
        let pushed = self.apps.compactMap { app in
            let kinds = app.pushedKinds.takeUntold()
            return kinds.isEmpty ? nil : Announcement.PushedApp(app: app.bundle, kinds: kinds)
        }
        return stride(from: 0, to: pushed.count, by: Self.appsPerAnnouncementMax).map {
            .pushed(Array(pushed[$0..<min($0 + Self.appsPerAnnouncementMax, pushed.count)]))
        }
    }
}

import WidgetModel

/// The channels of the apps whose home this partition is, sorted by app and id, so that every listing has one order.
///
/// A look-up is O(log channels), a change O(channels of the app): there are thousands, and they change seldom.
struct ChannelTable: Sendable {
    struct App: Sendable {
        let id: BundleID
        /// Sorted by id.
        var channels: [Channel] = []
    }

    /// Sorted by id; none is empty.
    private(set) var apps: [App] = []
    /// Channels over all apps.
    private(set) var count = 0

    /// The channels of an app, in the order of their ids.
    func channels(of app: BundleID) -> [Channel] {
        let place = self.place(of: app)
        return self.isFound(app, at: place) ? self.apps[place].channels : []
    }

    func find(_ channel: ChannelID, of app: BundleID) -> Channel? {
        let place = self.place(of: app)
        guard self.isFound(app, at: place) else { return nil }
        let number = self.place(of: channel, in: self.apps[place].channels)
        return self.isFound(channel, at: number, in: self.apps[place].channels)
            ? self.apps[place].channels[number] : nil
    }

    /// Precondition: the app has no channel with this id.
    mutating func insert(_ channel: Channel, of app: BundleID) {
        let place = self.place(of: app)
        if !self.isFound(app, at: place) { self.apps.insert(App(id: app), at: place) }
        let number = self.place(of: channel.id, in: self.apps[place].channels)
        precondition(!self.isFound(channel.id, at: number, in: self.apps[place].channels))
        self.apps[place].channels.insert(channel, at: number)
        self.count += 1
    }

    /// Whether there was one to remove.
    mutating func remove(_ channel: ChannelID, of app: BundleID) -> Bool {
        let place = self.place(of: app)
        guard self.isFound(app, at: place) else { return false }
        let number = self.place(of: channel, in: self.apps[place].channels)
        guard self.isFound(channel, at: number, in: self.apps[place].channels) else { return false }
        self.apps[place].channels.remove(at: number)
        self.count -= 1
        if self.apps[place].channels.isEmpty { self.apps.remove(at: place) }
        return true
    }

    /// The violated invariants; empty unless there is a bug. O(channels).
    func checkInvariants() -> [String] {
        var faults: [String] = []
        for (left, right) in zip(self.apps, self.apps.dropFirst()) where left.id >= right.id {
            faults.append("channels of \(right.id) behind those of \(left.id)")
        }
        for app in self.apps {
            if app.channels.isEmpty { faults.append("\(app.id) has a row and no channels") }
            for (left, right) in zip(app.channels, app.channels.dropFirst()) where left.id >= right.id {
                faults.append("channel \(right.id) of \(app.id) behind \(left.id)")
            }
        }
        let found = self.apps.reduce(0) { $0 + $1.channels.count }
        if found != self.count { faults.append("\(self.count) channels, \(found) of them in lists") }
        return faults
    }

    private func isFound(_ app: BundleID, at place: Int) -> Bool {
        place < self.apps.count && self.apps[place].id == app
    }

    private func isFound(_ channel: ChannelID, at place: Int, in channels: [Channel]) -> Bool {
        place < channels.count && channels[place].id == channel
    }

    /// The place of the first app that is not before this one.
    private func place(of app: BundleID) -> Int {
        Self.partition(self.apps.count) { self.apps[$0].id < app }
    }

    private func place(of channel: ChannelID, in channels: [Channel]) -> Int {
        Self.partition(channels.count) { channels[$0].id < channel }
    }

    /// The first place that is not before the wanted one.
    private static func partition(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

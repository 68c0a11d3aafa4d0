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
        let (place, isFound) = self.apps.search(app, by: \.id)
        return isFound ? self.apps[place].channels : []
    }

    func find(_ channel: ChannelID, of app: BundleID) -> Channel? {
        let channels = self.channels(of: app)
        let (place, isFound) = channels.search(channel, by: \.id)
        return isFound ? channels[place] : nil
    }

    /// Precondition: the app has no channel with this id.
    mutating func insert(_ channel: Channel, of app: BundleID) {
        let (place, isKnown) = self.apps.search(app, by: \.id)
        if !isKnown { self.apps.insert(App(id: app), at: place) }
        let (number, isTaken) = self.apps[place].channels.search(channel.id, by: \.id)
        precondition(!isTaken)
        self.apps[place].channels.insert(channel, at: number)
        self.count += 1
    }

    /// Whether there was one to remove.
    mutating func remove(_ channel: ChannelID, of app: BundleID) -> Bool {
        let (place, isKnown) = self.apps.search(app, by: \.id)
        guard isKnown else { return false }
        let (number, isFound) = self.apps[place].channels.search(channel, by: \.id)
        guard isFound else { return false }
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
}

extension Array {
    /// The first place whose key is not less, and whether it has the key. The elements are sorted by their keys. O(log elements).
    fileprivate func search<Key: Comparable>(
        _ key: Key,
        by path: KeyPath<Element, Key>
    ) -> (place: Int, isFound: Bool) {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle][keyPath: path] < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < self.count && self[low][keyPath: path] == key)
    }
}

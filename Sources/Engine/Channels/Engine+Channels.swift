package import WidgetModel

extension Engine {
    /// Creates or deletes a channel.
    mutating func acceptCommand(_ command: ChannelCommand) -> RecordAnswer.Result {
        switch command {
        case .create(let channel, let app, let channelsMax):
            guard self.channels.find(channel.id, of: app) == nil else { return .channel(.alreadyExists) }
            guard self.channels.channels(of: app).count < channelsMax else { return .channel(.limit(channelsMax)) }
            self.channels.insert(channel, of: app)
            return .channel(.created)
        case .delete(let channel, let app):
            return .channel(self.channels.remove(channel, of: app) ? .deleted : .unknown)
        }
    }

    /// A channel of an app, if this partition is the app's home. O(log channels).
    package func channel(_ id: ChannelID, app: BundleID) -> Channel? { self.channels.find(id, of: app) }

    /// An app's channels in the order of their ids, if this partition is the app's home.
    package func channels(app: BundleID) -> [Channel] { self.channels.channels(of: app) }
}

package import Serving

/// The live news for hosts and senders.
package struct HostUpdates: Sendable {
    package let streams: HostStreams
    /// Those who follow a push.
    package let followers: PushFollowers
    /// Nil where no kind has a timeline provider.
    package let providers: (any TimelineSource)?

    package init(streams: HostStreams, followers: PushFollowers, providers: (any TimelineSource)? = nil) {
        self.streams = streams
        self.followers = followers
        self.providers = providers
    }
}

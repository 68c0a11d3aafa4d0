package import APNSWire
package import Partitions
package import Serving

/// A request about channels in which everything is in order, as far as it can be told without knowing the channel.
package struct JudgedChannelRequest: Sendable {
    /// The request in the body.
    package enum Body: Sendable {
        case none
        case creation(ChannelCreation)
        /// With a hash of its bytes.
        case broadcast(BroadcastBody, hash: UInt64)
    }

    package let sender: Sender
    package let app: ServedApps.App
    package let request: ChannelRequest
    package let body: Body

    /// Whether it is something new for the log; to delete a channel is not.
    var isNew: Bool {
        switch self.request.operation {
        case .create, .broadcast: true
        case .read, .delete, .list: false
        }
    }
}

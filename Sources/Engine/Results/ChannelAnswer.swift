/// The result of a command about a channel.
package enum ChannelAnswer: Hashable, Sendable {
    case created
    case deleted
    /// The app has the most channels that it may have; nothing changed.
    case limit(Int)
    /// The id is taken; nothing changed.
    case alreadyExists
    /// The app has no such channel; nothing changed.
    case unknown
}

/// The id of a broadcast channel, `apns-channel-id`: base64 text that the gateway made up.
package struct ChannelID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { self.rawValue }

    /// By bytes.
    package static func < (left: ChannelID, right: ChannelID) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    /// The longest id: 48 bytes in base64, and short enough for a collapse id.
    package static let bytesMax = 64
}

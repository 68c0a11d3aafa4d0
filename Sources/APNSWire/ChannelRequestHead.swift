/// The headers that a broadcast or a channel-management request is judged by, beside those of ``PushRequestHead``.
package struct ChannelRequestHead: Hashable, Sendable {
    /// `apns-request-id`.
    package private(set) var requestID: ByteRange?
    /// `apns-channel-id`.
    package private(set) var channelID: ByteRange?
    /// Whether one of them came twice.
    package private(set) var isRepeating = false

    package init() {}

    /// Notes one header; others are ignored. Names are in lower case.
    package mutating func receive(name: Span<UInt8>, value: ByteRange) {
        guard name.count == 15 else { return }
        if name.spells("apns-request-id") {
            if self.requestID != nil { self.isRepeating = true }
            self.requestID = self.requestID ?? value
        } else if name.spells("apns-channel-id") {
            if self.channelID != nil { self.isRepeating = true }
            self.channelID = self.channelID ?? value
        }
    }
}

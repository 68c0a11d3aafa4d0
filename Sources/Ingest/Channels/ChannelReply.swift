package import WidgetModel

/// The answer to a valid request about channels.
package struct ChannelReply: Hashable, Sendable {
    /// The type of the body.
    package enum ContentType: String, Hashable, Sendable {
        case json = "application/json"
        case problem = "application/problem+json"
    }

    package var status: Int
    /// `apns-channel-id`.
    package var channel: ChannelID?
    /// Empty for none.
    package var body: [UInt8]
    package var contentType: ContentType

    package init(
        status: Int,
        channel: ChannelID? = nil,
        body: [UInt8] = [],
        contentType: ContentType = .json
    ) {
        self.status = status
        self.channel = channel
        self.body = body
        self.contentType = contentType
    }
}

/// The route of a `:path` of APNs' broadcast and channel-management services.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs" and "Sending channel management requests to
/// APNs". The path with a channel's id is APNSwift's own.
package enum ChannelRoute: Hashable, Sendable {
    /// `/4/broadcasts/apps/<bundle-id>`: a push on a channel.
    case broadcast(bundle: ByteRange)
    /// `/1/apps/<bundle-id>/channels`; which channel, the header `apns-channel-id` tells.
    case channels(bundle: ByteRange)
    /// `/1/apps/<bundle-id>/channels/<channel-id>`.
    case channel(bundle: ByteRange, id: ByteRange)
    /// `/1/apps/<bundle-id>/all-channels`.
    case allChannels(bundle: ByteRange)

    package var bundle: ByteRange {
        switch self {
        case .broadcast(let bundle), .channels(let bundle), .channel(let bundle, _), .allChannels(let bundle): bundle
        }
    }

    /// The methods that it takes.
    package var methods: [PushRequestHead.Method] {
        switch self {
        case .broadcast: [.post]
        case .channels: [.get, .post, .delete]
        case .channel: [.get, .delete]
        case .allChannels: [.get]
        }
    }

    /// Classifies a path; nil if it is none of these. O(length).
    package init?(path: ByteRange, in bytes: Span<UInt8>) {
        let text = bytes.extracting(path.bounds)
        if text.holds("/4/broadcasts/apps/", at: 0) {
            guard text.count > 19, text.firstIndex(of: UInt8(ascii: "/"), from: 19) == nil else { return nil }
            self = .broadcast(bundle: path.dropping(first: 19))
            return
        }
        guard text.holds("/1/apps/", at: 0), let slash = text.firstIndex(of: UInt8(ascii: "/"), from: 8), slash > 8
        else { return nil }
        let bundle = path.dropping(first: 8).keeping(first: slash - 8)
        let rest = text.extracting(slash..<text.count)
        if rest.spells("/channels") {
            self = .channels(bundle: bundle)
        } else if rest.spells("/all-channels") {
            self = .allChannels(bundle: bundle)
        } else if rest.holds("/channels/", at: 0), rest.count > 10 {
            // The rest is the id: one in standard base64 may itself have slashes.
            self = .channel(bundle: bundle, id: path.dropping(first: slash + 10))
        } else {
            return nil
        }
    }
}

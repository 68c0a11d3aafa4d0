package import WidgetModel

/// Where a `:path` of the push listener leads.
package enum PushRoute: Hashable, Sendable {
    /// One host, APNs' own route. The token's form is checked later.
    case device(token: ByteRange)
    /// `/3/device` or `/3/device/`.
    case missingDeviceToken
    /// Every instance of an app that matches. The bundle id is still percent-encoded.
    case targeted(bundle: ByteRange, isDryRun: Bool)
    /// Targeted pushes, one a line.
    ///
    /// - Parameter path: Where each of them goes.
    case bulk(path: ByteRange)
    /// A push on a channel, or a request about channels; nil where there is no such path.
    case channels(ChannelRoute?)
    /// Another path below `/v1/`: not a push; another handler answers it.
    case other
    /// No route: 404 `BadPath`.
    case unknown

    /// The longest bundle id, decoded.
    package static let bundleBytesMax = 255

    /// Looks a path up in ``PushPath/all``. O(length).
    package init(path: ByteRange, in bytes: Span<UInt8>) {
        let text = bytes.extracting(path.bounds)
        // Most are of the first line.
        if text.holds("/3/device", at: 0) {
            self = Self.deviceRoute(path, text)
            return
        }
        for index in PushPath.all.indices {
            guard let (parameter, rest) = PushPath.all[index].places(in: text) else { continue }
            let bundle = path.dropping(first: parameter.lowerBound).keeping(first: parameter.count)
            switch PushPath.all[index].kind {
            case .device: self = .device(token: bundle)
            case .targeted: self = Self.targeted(bundle, query: text.extracting(rest))
            case .bulk: self = .bulk(path: path.keeping(first: text.count - "/bulk".utf8.count))
            case .broadcast, .channels, .channel, .allChannels:
                let id = path.dropping(first: rest.lowerBound)
                self = .channels(ChannelRoute(path: PushPath.all[index], bundle: bundle, id: id))
            }
            return
        }
        self = PushPath.isBelowChannels(text) ? .channels(nil) : text.holds("/v1/", at: 0) ? .other : .unknown
    }

    /// Whether a path is of APNs' device route, even a malformed one: decided by its first bytes alone.
    package static func isBelowDevice(_ path: ByteRange, in bytes: Span<UInt8>) -> Bool {
        bytes.extracting(path.bounds).holds("/3/device", at: 0)
    }

    private static func deviceRoute(_ path: ByteRange, _ text: Span<UInt8>) -> PushRoute {
        guard text.count > 9 else { return .missingDeviceToken }
        guard text[9] == UInt8(ascii: "/") else { return .unknown }
        guard text.count > 10 else { return .missingDeviceToken }
        // A token has no slash, so a path that has one is no push's; looked for eight bytes at a time.
        guard text.firstIndex(of: UInt8(ascii: "/"), from: 10) == nil else { return .unknown }
        return .device(token: path.dropping(first: 10))
    }

    /// - Parameter query: With its question mark, or empty.
    private static func targeted(_ bundle: ByteRange, query: Span<UInt8>) -> PushRoute {
        if query.isEmpty || query.spells("?") || query.spells("?dry-run=false") {
            return .targeted(bundle: bundle, isDryRun: false)
        }
        // A query that is not understood is refused: to push for real where a dry run was meant would be worse.
        return query.spells("?dry-run=true") ? .targeted(bundle: bundle, isDryRun: true) : .unknown
    }

    /// The bundle id that a percent-encoded path segment spells, or nil if it is none.
    ///
    /// Letters, digits, hyphens and full stops, at most ``bundleBytesMax``; escapes in either case.
    package static func bundle(decoding segment: ByteRange, in bytes: Span<UInt8>) -> BundleID? {
        let text = bytes.extracting(segment.bounds)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(min(text.count, Self.bundleBytesMax))
        var index = 0
        while index < text.count {
            var byte = text[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 1 < text.count, let high = Base16.digit(text[index]),
                    let low = Base16.digit(text[index + 1])
                else { return nil }
                byte = high << 4 | low
                index += 2
            }
            guard Topic.isTopicByte(byte), decoded.count < Self.bundleBytesMax else { return nil }
            decoded.append(byte)
        }
        return decoded.isEmpty ? nil : BundleID(String(decoding: decoded, as: UTF8.self))
    }
}

/// The route of a request of APNs' broadcast and channel-management services.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs" and "Sending channel management requests to APNs".
package struct ChannelRoute: Hashable, Sendable {
    package let path: PushPath
    package let bundle: ByteRange
    /// The channel's id in the path; empty where the header `apns-channel-id` has it. One in standard base64 has slashes.
    package let id: ByteRange
}

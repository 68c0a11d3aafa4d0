package import WidgetModel

/// The route of a `:path` on the push listener.
package enum PushRoute: Hashable, Sendable {
    /// `/3/device/<token>`: one host, APNs' own route. The token's form is checked later.
    case device(token: ByteRange)
    /// `/3/device` or `/3/device/`.
    case missingDeviceToken
    /// `/v1/apps/<bundle-id>/pushes`: every instance of an app that matches. The bundle id is still percent-encoded.
    case targeted(bundle: ByteRange, isDryRun: Bool)
    /// `/v1/apps/<bundle-id>/pushes/bulk`: targeted pushes, one a line.
    ///
    /// - Parameter path: Where each of them goes.
    case bulk(path: ByteRange)
    /// Below `/4/broadcasts/apps/` or `/1/apps/`: a push on a channel, or one about channels; see ``ChannelRoute``.
    case channels
    /// Another path below `/v1/`: not a push; another handler answers it.
    case other
    /// No route: 404 `BadPath`.
    case unknown

    /// The longest bundle id, decoded.
    package static let bundleBytesMax = 255

    /// Classifies a path. O(length).
    package init(path: ByteRange, in bytes: Span<UInt8>) {
        let text = bytes.extracting(path.bounds)
        if text.holds("/3/device", at: 0) {
            self = Self.deviceRoute(path, text)
        } else if text.holds("/v1/apps/", at: 0) {
            self = Self.appRoute(path, text)
        } else if text.holds("/v1/", at: 0) {
            self = .other
        } else if text.holds("/4/broadcasts/apps/", at: 0) || text.holds("/1/apps/", at: 0) {
            self = .channels
        } else {
            self = .unknown
        }
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

    private static func appRoute(_ path: ByteRange, _ text: Span<UInt8>) -> PushRoute {
        guard let slash = text.firstIndex(of: UInt8(ascii: "/"), from: 9), slash > 9 else { return .other }
        guard text.holds("/pushes", at: slash) else { return .other }
        let bundle = path.dropping(first: 9).keeping(first: slash - 9)
        let end = slash + 7
        if end == text.count { return .targeted(bundle: bundle, isDryRun: false) }
        if text.extracting(end..<text.count).spells("/bulk") { return .bulk(path: path.keeping(first: end)) }
        guard text[end] == UInt8(ascii: "?") else { return .other }
        let query = text.extracting((end + 1)..<text.count)
        if query.isEmpty || query.spells("dry-run=false") { return .targeted(bundle: bundle, isDryRun: false) }
        // A query that is not understood is refused: to push for real where a dry run was meant would be worse.
        return query.spells("dry-run=true") ? .targeted(bundle: bundle, isDryRun: true) : .unknown
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

package import WidgetModel

/// Judges a broadcast or channel-management request by its head. The first check that fails gives the reason.
///
/// Several functions, since the owner knows credentials and apps. Pure.
package enum ChannelValidation {
    /// The longest broadcast, and the longest description of a channel: 5,120 bytes, as APNs has it for broadcasts.
    package static let bodyBytesMax = 5120

    /// Checks everything up to the presence of credentials.
    ///
    /// - Parameter route: Of the request's path; nil where that is none of channels.
    package static func beforeCredentials(
        _ route: ChannelRoute?,
        _ head: PushRequestHead,
        _ own: ChannelRequestHead,
        hasCertificate: Bool = false
    ) throws(Rejection) -> ChannelRoute {
        guard !head.isRepeating, !own.isRepeating else { throw .duplicateHeaders }
        guard let route else { throw .badPath }
        guard let method = head.method, route.path.takes(method) else { throw .methodNotAllowed }
        guard hasCertificate || head.authorization.map({ !$0.isEmpty }) ?? false else { throw .missingProviderToken }
        return route
    }

    /// The id of the request: `apns-request-id`, or `apns-id` as in Apple's own sample.
    package static func requestID(
        _ head: PushRequestHead,
        _ own: ChannelRequestHead,
        in bytes: Span<UInt8>
    ) throws(Rejection) -> PushID? {
        guard let range = own.requestID ?? head.id else { return nil }
        guard let id = PushID(bytes.extracting(range.bounds)) else { throw .badMessageID }
        return id
    }

    /// The number of the app that the path names, if the sender may speak for it.
    package static func app(
        _ route: ChannelRoute,
        in bytes: Span<UInt8>,
        topics: TopicTable
    ) throws(Rejection) -> Int {
        if let entry = topics.entry(bundle: route.bundle, in: bytes) { return Int(entry.app) }
        guard let bundle = PushRoute.bundle(decoding: route.bundle, in: bytes) else { throw .topicMismatch }
        throw Self.hasSuffix(bundle) ? .topicDisallowed : .topicMismatch
    }

    /// Whether a key is for the other environment than the app that the path names: `BadEnvironmentKeyInToken`.
    package static func isOfOtherEnvironment(_ route: ChannelRoute, in bytes: Span<UInt8>, topics: TopicTable) -> Bool {
        topics.entry(bundle: route.bundle, in: bytes)?.isOfOtherEnvironment ?? false
    }

    /// Whether a text is a topic with the suffix of a push type.
    private static func hasSuffix(_ bundle: BundleID) -> Bool {
        PushType.allCases.contains { type in
            let suffix = "\(Topic.suffix(of: type))"
            return !suffix.isEmpty && bundle.rawValue.hasSuffix(suffix)
        }
    }

    /// Checks the rest of the head and the size of the body.
    ///
    /// - Parameters:
    ///   - route: The result of ``beforeCredentials(_:_:_:hasCertificate:)``.
    ///   - app: The result of ``app(_:in:topics:)``.
    ///   - id: The result of ``requestID(_:_:in:)``.
    ///   - bodyBytes: The length of the whole body.
    package static func request(
        _ head: PushRequestHead,
        _ own: ChannelRequestHead,
        in bytes: Span<UInt8>,
        route: ChannelRoute,
        app: Int,
        id: PushID?,
        bodyBytes: Int
    ) throws(Rejection) -> ChannelRequest {
        let operation: ChannelRequest.Operation
        var isAlias = false
        switch route.path.kind {
        case .broadcast:
            let channel = try Self.channel(own.channelID, bytes)
            try Self.checkPushType(head, bytes)
            let message = ChannelRequest.Message(
                priority: try PushValidation.priority(head, bytes, .liveactivity),
                expiration: try PushValidation.expiration(head, bytes)
            )
            try Self.checkBody(bodyBytes)
            operation = .broadcast(channel, message)
        case .channel:
            let channel = try Self.channel(route.id, bytes)
            isAlias = true
            operation = head.method == .delete ? .delete(channel) : .read(channel)
        case .allChannels: operation = .list
        case .channels where head.method == .post:
            try Self.checkBody(bodyBytes)
            operation = .create
        case .channels where head.method == .get && own.channelID == nil:
            isAlias = true
            operation = .list
        default:
            let channel = try Self.channel(own.channelID, bytes)
            operation = head.method == .delete ? .delete(channel) : .read(channel)
        }
        return ChannelRequest(operation: operation, app: app, id: id, isAlias: isAlias)
    }

    private static func channel(_ range: ByteRange?, _ bytes: Span<UInt8>) throws(Rejection) -> ChannelID {
        guard let range, !range.isEmpty else { throw .missingChannelID }
        let text = bytes.extracting(range.bounds)
        guard text.count <= ChannelID.bytesMax, Base64.decode(text) != nil else { throw .badChannelID }
        return ChannelID(String(decoding: Array(copying: text), as: UTF8.self))
    }

    private static func checkPushType(_ head: PushRequestHead, _ bytes: Span<UInt8>) throws(Rejection) {
        guard let range = head.pushType, !range.isEmpty else { throw .missingPushType }
        let text = bytes.extracting(range.bounds)
        // Apple's own pages spell it in three ways.
        guard text.spells("widgets") || text.spellsIgnoringCase("liveactivity") else { throw .invalidPushType }
    }

    private static func checkBody(_ count: Int) throws(Rejection) {
        guard count > 0 else { throw .payloadEmpty }
        guard count <= Self.bodyBytesMax else { throw .payloadTooLarge }
    }
}

import WidgetModel

/// The checks of a push request, in the order in which the first that fails gives the reason.
///
/// Apple does not document its order. This one agrees with what was seen of its servers: the method comes before the
/// credentials, the credentials before the token, the token before the topic.
package enum PushCheck: UInt8, Hashable, Sendable, CaseIterable {
    // beforeCredentials
    /// No `apns-…` header and no `authorization` comes twice: `DuplicateHeaders`.
    case repeatedHeaders
    /// POST: `MethodNotAllowed`.
    case method
    /// A push route: `BadPath`.
    case path
    /// A token in the path: `MissingDeviceToken`.
    case tokenPresent
    /// An `authorization`, or a client certificate: `MissingProviderToken`.
    case credentialsPresent
    // Here the owner verifies them: `InvalidProviderToken`, `ExpiredProviderToken`, …
    // afterCredentials
    /// `apns-id` is a UUID: `BadMessageId`.
    case id
    /// Hex digits, an even number, not too many: `BadDeviceToken`.
    case tokenForm
    /// `apns-topic`, but for a targeted push: `MissingTopic`.
    case topicPresent
    /// `apns-topic` looks like one: `BadTopic`.
    case topicForm
    /// `apns-push-type`, if present, is one handled here; if absent, the topic tells: `InvalidPushType`.
    case pushType
    /// The topic's suffix is the type's, and a targeted push's topic is its app's: `BadTopic`.
    case topicSuffix
    /// The sender may push to the topic: `TopicDisallowed`.
    case topicAllowed
    /// 1, 5 or 10: `BadPriority`.
    case priority
    /// UNIX seconds: `BadExpirationDate`.
    case expiration
    /// At most 64 bytes: `BadCollapseId`.
    case collapseID
    /// A body: `PayloadEmpty`.
    case bodyPresent
    /// Not more of it than allowed: `PayloadTooLarge`.
    case bodySize
    // Then PushPayload reads the body: `BadPayload`. Then the owner looks up the token: `BadDeviceToken`,
    // `DeviceTokenNotForTopic`, `Unregistered`, `ExpiredToken`, `TooManyRequests`.
}

/// Judges a push request by its head, in the order of ``PushCheck``.
///
/// Two functions, since between them the owner verifies the credentials. Both are pure and allocate nothing on the
/// way of an ordinary push.
package enum PushValidation {
    /// Checks everything up to the presence of credentials.
    ///
    /// - Parameter hasCertificate: Whether the connection's client certificate speaks for the sender; `authorization`
    ///   is then neither needed nor looked at.
    /// - Returns: Whom the push is for, its form not yet checked.
    package static func beforeCredentials(
        _ head: PushRequestHead,
        in bytes: Span<UInt8>,
        hasCertificate: Bool = false
    ) throws(Rejection) -> PushTarget {
        guard !head.isRepeating else { throw .duplicateHeaders }
        guard head.method == .post else { throw .methodNotAllowed }
        guard let path = head.path else { throw .badPath }
        let target: PushTarget
        switch PushRoute(path: path, in: bytes) {
        case .device(let token): target = .device(token: token)
        case .targeted(let bundle, let isDryRun): target = .targeted(bundle: bundle, isDryRun: isDryRun)
        case .missingDeviceToken: throw .missingDeviceToken
        case .broadcast, .other, .unknown: throw .badPath
        }
        guard hasCertificate || head.authorization.map({ !$0.isEmpty }) ?? false else { throw .missingProviderToken }
        return target
    }

    /// Checks the rest of the head and the size of the body.
    ///
    /// - Parameters:
    ///   - target: What ``beforeCredentials(_:in:hasCertificate:)`` answered.
    ///   - bodyBytes: The length of the whole body.
    ///   - topics: What the verified sender may push to.
    package static func afterCredentials(
        _ head: PushRequestHead,
        in bytes: Span<UInt8>,
        target: PushTarget,
        bodyBytes: Int,
        topics: TopicTable,
        limits: PushLimits = PushLimits()
    ) throws(Rejection) -> ValidatedPush {
        let id = try Self.id(head, bytes)
        let place: Place
        switch target {
        case .device(let token):
            guard Self.isToken(bytes.extracting(token.bounds), limits) else { throw .badDeviceToken }
            place = try Self.devicePlace(head, bytes, topics)
        case .targeted(let bundle, _):
            place = try Self.targetedPlace(head, bytes, bundle, topics)
        }
        let push = ValidatedPush(
            target: target,
            app: place.app,
            type: place.type,
            id: id,
            idText: head.id,
            priority: try Self.priority(head, bytes),
            expiration: try Self.expiration(head, bytes),
            collapseID: try Self.collapseID(head)
        )
        guard bodyBytes > 0 else { throw .payloadEmpty }
        guard bodyBytes <= limits.bodyBytesMax else { throw .payloadTooLarge }
        return push
    }

    private static func id(_ head: PushRequestHead, _ bytes: Span<UInt8>) throws(Rejection) -> PushID? {
        guard let range = head.id else { return nil }
        guard let id = PushID(bytes.extracting(range.bounds)) else { throw .badMessageID }
        return id
    }

    private static func isToken(_ token: Span<UInt8>, _ limits: PushLimits) -> Bool {
        token.count.isMultiple(of: 2) && token.count <= limits.tokenDigitsMax && Base16.isHex(token)
    }

    private static func priority(_ head: PushRequestHead, _ bytes: Span<UInt8>) throws(Rejection) -> Priority? {
        guard let range = head.priority else { return nil }
        let text = bytes.extracting(range.bounds)
        if text.spells("10") { return .high }
        if text.spells("5") { return .normal }
        if text.spells("1") { return .low }
        throw .badPriority
    }

    private static func expiration(_ head: PushRequestHead, _ bytes: Span<UInt8>) throws(Rejection) -> Int64? {
        guard let range = head.expiration else { return nil }
        guard let seconds = Decimal.parse(bytes.extracting(range.bounds)) else { throw .badExpirationDate }
        return seconds
    }

    /// An empty collapse id is none: it could collapse nothing that the sender meant.
    private static func collapseID(_ head: PushRequestHead) throws(Rejection) -> ByteRange? {
        guard let range = head.collapseID, !range.isEmpty else { return nil }
        guard range.count <= CollapseID.bytesMax else { throw .badCollapseID }
        return range
    }
}

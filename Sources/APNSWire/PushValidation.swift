import WidgetModel

/// Judges a push request by its head, in the order of the rules in `docs/apns-conformance.md`.
///
/// Two functions, since between them the owner verifies the credentials. Both are pure and allocate nothing on the
/// way of an ordinary push.
package enum PushValidation {
    /// Checks everything up to the credentials.
    ///
    /// - Returns: The target of the push, its form not yet checked.
    package static func beforeCredentials(
        _ head: PushRequestHead,
        in bytes: Span<UInt8>
    ) throws(Rejection) -> PushTarget {
        guard !head.isRepeating else { throw .duplicateHeaders }
        guard head.method == .post else { throw .methodNotAllowed }
        let path = head.path ?? .empty
        switch PushRoute(path: path, in: bytes) {
        case .device(let token): return .device(token: token)
        case .targeted(let bundle, let isDryRun): return .targeted(bundle: bundle, isDryRun: isDryRun)
        case .missingDeviceToken: throw .missingDeviceToken
        case .bulk, .channels, .other, .unknown: throw .badPath
        }
    }

    /// Checks the rest of the head and the size of the body.
    ///
    /// - Parameters:
    ///   - target: The result of ``beforeCredentials(_:in:)``.
    ///   - place: The push's place in the verified sender's topics, its environment already checked.
    ///   - bodyBytes: The length of the whole body.
    ///   - tokenIsHex: Whether the device token is hex, if that is known already.
    package static func afterCredentials(
        _ head: PushRequestHead,
        in bytes: Span<UInt8>,
        target: PushTarget,
        place: PushPlace,
        bodyBytes: Int,
        tokenIsHex: Bool? = nil,
        limits: PushLimits = PushLimits()
    ) throws(Rejection) -> ValidatedPush {
        let id = try Self.id(head, bytes)
        if case .device(let token) = target {
            let digits = bytes.extracting(token.bounds)
            try Self.check(digits, isHex: tokenIsHex ?? Base16.isHex(digits), place, limits)
        }
        let (app, type) = try place.appAndType(head, bytes, target)
        let push = ValidatedPush(
            target: target,
            app: app,
            type: type,
            id: id,
            idText: id == nil ? nil : head.id,
            priority: try Self.priority(head, bytes, type),
            expiration: try Self.expiration(head, bytes),
            collapseID: try Self.collapseID(head)
        )
        guard bodyBytes > 0 else { throw .payloadEmpty }
        guard bodyBytes <= limits.bodyBytesMax(of: type) else { throw .payloadTooLarge }
        return push
    }

    private static func id(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>
    ) throws(Rejection) -> PushID? {
        guard let range = head.id else { return nil }
        let id = PushID(bytes.extracting(range.bounds))
        guard id != nil else { throw .badMessageID }
        return id
    }

    private static func check(
        _ token: Span<UInt8>,
        isHex: Bool,
        _ place: PushPlace,
        _ limits: PushLimits
    ) throws(Rejection) {
        guard token.count.isMultiple(of: 2) && isHex else { throw .badDeviceToken }
        let digitsMax = place.tokenDigitsMax ?? limits.tokenDigitsMax
        guard token.count <= digitsMax else { throw .badDeviceToken }
    }

    static func priority(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ type: PushType
    ) throws(Rejection) -> Priority? {
        guard let range = head.priority else { return nil }
        let text = bytes.extracting(range.bounds)
        let priority: Priority? =
            text.spells("10") ? .high : text.spells("5") ? .normal : text.spells("1") ? .low : nil
        guard priority != nil else { throw .badPriority }
        // Apple, of the type background: "Using priority 10 is an error."
        guard type != .background || priority != .high else { throw .badPriority }
        return priority
    }

    static func expiration(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>
    ) throws(Rejection) -> Int64? {
        guard let range = head.expiration else { return nil }
        let seconds = Decimal.parse(bytes.extracting(range.bounds))
        guard seconds != nil else { throw .badExpirationDate }
        return seconds
    }

    /// An empty collapse id is none: it could collapse nothing that the sender meant.
    private static func collapseID(_ head: PushRequestHead) throws(Rejection) -> ByteRange? {
        guard let range = head.collapseID, !range.isEmpty else { return nil }
        guard range.count <= CollapseID.bytesMax else { throw .badCollapseID }
        return range
    }
}

import WidgetModel

/// A text for people about a refused head, if APNs' reason alone does not say what to change.
package enum PushAdvice {
    /// A sentence about a refusal; nil if there is nothing to add. For answers alone: a valid push never needs it.
    ///
    /// - Parameters:
    ///   - rejection: The refusal of ``PushValidation``.
    ///   - head: The head.
    package static func sentence(
        about rejection: Rejection,
        _ head: PushRequestHead,
        in bytes: Span<UInt8>
    ) -> String? {
        switch rejection {
        case .duplicateHeaders: "authorization or a header of APNs occurs more than once"
        case .methodNotAllowed: "send a push with POST"
        case .badPath: Self.path(head, bytes)
        case .missingDeviceToken: "the path ends before the push token, as in /3/device/<token>"
        case .badMessageID: "apns-id is not a UUID: 8-4-4-4-12 hex digits"
        case .badDeviceToken: Self.deviceToken(head, bytes)
        case .missingTopic: "apns-topic is missing: send the bundle id with .push-type.widgets or .push-type.controls"
        case .badTopic: Self.topic(head, bytes)
        case .invalidPushType: Self.pushType(head)
        case .topicDisallowed: "the credentials are not for this topic, or the gateway has no app with it"
        case .badPriority: "apns-priority must be 10, 5 or 1, and not 10 for background"
        case .badExpirationDate: "apns-expiration must be a time in whole UNIX seconds, or 0"
        case .badCollapseID:
            "apns-collapse-id has \(head.collapseID?.count ?? 0) bytes, more than \(CollapseID.bytesMax)"
        case .payloadTooLarge:
            "the body is too long (limits.maxDeviceBodyBytes, limits.maxTargetedBodyBytes; APNs' limits for types that are relayed)"
        case .payloadEmpty: "the body is empty; a widget push is {\"aps\":{\"content-changed\":true}}"
        default: nil
        }
    }

    private static func path(_ head: PushRequestHead, _ bytes: Span<UInt8>) -> String {
        let text = bytes.extracting((head.path ?? .empty).bounds)
        guard text.holds("/v1/apps/", at: 0), text.firstIndex(of: UInt8(ascii: "?"), from: 9) != nil else {
            return "pushes go to /3/device/<token> and /v1/apps/<bundle-id>/pushes"
        }
        return "the query of a targeted push must be dry-run=true, dry-run=false or empty"
    }

    private static func deviceToken(_ head: PushRequestHead, _ bytes: Span<UInt8>) -> String? {
        guard let path = head.path, case .device(let token) = PushRoute(path: path, in: bytes) else { return nil }
        let digits = bytes.extracting(token.bounds)
        guard Base16.isHex(digits) else { return "the push token in the path is not in hex" }
        guard digits.count.isMultiple(of: 2) else { return "the push token in the path has an odd number of digits" }
        return "the push token in the path has \(digits.count) digits, more than the limit (limits.maxTokenDigits)"
    }

    private static func topic(_ head: PushRequestHead, _ bytes: Span<UInt8>) -> String {
        guard Topic.isWellFormed(bytes.extracting((head.topic ?? .empty).bounds)) else {
            return "apns-topic is not a bundle id with a suffix"
        }
        if head.pushType != nil {
            return
                "apns-topic does not fit apns-push-type, or belongs to another app than the path: for widgets it is the bundle id with .push-type.widgets"
        }
        return "apns-topic belongs to another app than the path"
    }

    private static func pushType(_ head: PushRequestHead) -> String {
        head.pushType == nil
            ? "apns-push-type is missing, and apns-topic does not end in .push-type.widgets or .push-type.controls"
            : "apns-push-type must be widgets or controls, or a type that the app relays"
    }
}

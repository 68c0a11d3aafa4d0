package import WidgetModel

/// A push server's answer, as a sender reads it.
package enum PushResponse: Hashable, Sendable {
    /// 200. The id as the server spelled it; APNs makes up ids in upper case.
    case accepted(id: String?)
    case refused(Refusal)

    package struct Refusal: Hashable, Sendable {
        package let status: Int
        /// nil if the body named none, or no body came.
        package let reason: Reason?
        /// Since when the token is not valid; only with 410. A token registered later than that stays.
        package let timestamp: Instant?
        package let detail: String?
    }

    package enum Reason: Hashable, Sendable {
        case known(Rejection)
        /// A reason that this version does not know, as it came (at most ``unknownBytesMax`` bytes of it).
        case unknown(String)

        package static let unknownBytesMax = 128
    }

    /// Reads an answer. Never fails: a body that is not JSON is an answer without a reason.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - id: The `apns-id` header.
    ///   - body: The whole body, or the part of it that was kept.
    ///   - reader: The loop's reader.
    package static func parse(status: Int, id: String?, body: Span<UInt8>, reader: JSONReader) -> PushResponse {
        guard status != 200 else { return .accepted(id: id) }
        let value = try? reader.parse(body, limits: JSONLimits(bytesMax: 65_536, depthMax: 8))
        var reason: Reason?
        if case .string(let text) = value?["reason"] {
            reason = Rejection(reason: text).map(Reason.known) ?? .unknown(Self.clipped(text))
        }
        var timestamp: Instant?
        if status == 410, case .int(let milliseconds) = value?["timestamp"] {
            timestamp = Instant(milliseconds: milliseconds)
        }
        var detail: String?
        if case .string(let text) = value?["detail"] { detail = text }
        return .refused(Refusal(status: status, reason: reason, timestamp: timestamp, detail: detail))
    }

    private static func clipped(_ text: String) -> String {
        guard text.utf8.count > Reason.unknownBytesMax else { return text }
        return String(decoding: text.utf8.prefix(Reason.unknownBytesMax), as: UTF8.self)
    }
}

public import Foundation

/// Why a request failed.
public enum FreshetError: Error, Sendable, CustomStringConvertible {
    /// The gateway refused, with a reason.
    case refused(Refusal)
    /// No answer came, or not all of it. Whether the gateway has done the request is unknown.
    case unreachable(String)
    /// This client does not understand the gateway's answer, or it is longer than ``Endpoint/answerBytesMax``.
    case unexpectedAnswer(String)
    /// These arguments make no valid request.
    case invalidArgument(String)

    /// A description for people. It contains no credential.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description
        case .unreachable(let reason): "the gateway does not answer: \(reason)"
        case .unexpectedAnswer(let reason): "the gateway's answer cannot be read: \(reason)"
        case .invalidArgument(let reason): reason
        }
    }

    /// Whether the same request may succeed later.
    public var isTransient: Bool {
        switch self {
        case .refused(let refusal):
            // A token that was renewed too early stays so.
            [408, 429, 500, 502, 503, 504, 507].contains(refusal.status)
                && refusal.code != "TooManyProviderTokenUpdates"
        case .unreachable: true
        case .unexpectedAnswer, .invalidArgument: false
        }
    }

    /// The wait that the gateway asks for, if it does.
    public var retryAfter: Duration? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal.retryAfter
    }
}

/// A refusal.
public struct Refusal: Sendable, Hashable, CustomStringConvertible {
    /// The HTTP status, 300 and above.
    public let status: Int
    /// APNs' reason (`BadDeviceToken`) or the problem's code (`unknown-host`): stable, for programs. nil if the answer
    /// has none.
    public let code: String?
    /// The needed change, for people.
    public let detail: String?
    /// The place in the body, such as `instances[0].configuration.team`.
    public let path: String?
    /// The wait after which the same request may succeed.
    public let retryAfter: Duration?
    /// For 410: when the push token stopped belonging to its host.
    public let timestamp: Date?
    /// For `too-many-matched`: the number of instances that the push matches.
    public let matched: Int?

    /// The status, the code and the detail.
    public var description: String {
        let detail = [self.path, self.detail].compactMap { $0 }.joined(separator: ": ")
        return "refused \(self.status) \(self.code ?? "without a reason")" + (detail.isEmpty ? "" : ": \(detail)")
    }

    /// The body of a refusal.
    struct Body: Decodable {
        var reason: String?
        var code: String?
        var detail: String?
        var path: String?
        var timestamp: Double?
        var matched: Int?
    }

    init(_ answer: TransportAnswer, _ data: Data) {
        let retryAfter = answer.headers["retry-after"].flatMap { UInt32($0) }
        self.init(status: answer.status, retryAfter: retryAfter, try? WireJSON.decode(Body.self, from: data))
    }

    /// - Parameter retryAfter: In seconds.
    init(status: Int, retryAfter: UInt32?, _ body: Body?) {
        self.status = status
        self.code = body?.reason ?? body?.code
        self.detail = body?.detail
        self.path = body?.path
        // No wait is longer than this number of seconds.
        self.retryAfter = retryAfter.map { .seconds(Int64($0)) }
        self.timestamp = body?.timestamp.map { Date(timeIntervalSince1970: $0 / 1_000) }
        self.matched = body?.matched
    }
}

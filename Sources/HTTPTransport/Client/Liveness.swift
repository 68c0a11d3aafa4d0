import NIOCore

/// Whether the other side of a connection is still there, by the times of its last bytes.
///
/// A PING goes out after a silence, a short one while requests wait and a long one otherwise (RFC 9113, 6.7). Any byte
/// after it shows that the server is there; nothing for the timeout shows that it has gone.
struct Liveness: Hashable, Sendable {
    enum Finding: Hashable, Sendable {
        case later
        case ping
        case isGone
    }

    private let silence: TimeAmount
    private let idle: TimeAmount
    private let timeout: TimeAmount
    /// The last byte, or the first request after a time without any.
    private var quietSince: NIODeadline
    private var pingedAt: NIODeadline?
    /// When the owner looks next; kept here for it.
    var scheduled = NIODeadline.distantFuture

    init(_ configuration: HTTP2ClientConfiguration, now: NIODeadline) {
        self.silence = configuration.pingAfterSilence
        self.idle = configuration.pingWhenIdle
        self.timeout = configuration.pingTimeout
        self.quietSince = now
    }

    /// - Returns: Whether this ended the wait for an answer to a PING: the next look may be due sooner than the last.
    mutating func heard(at now: NIODeadline) -> Bool {
        defer { self.pingedAt = nil }
        self.quietSince = now
        return self.pingedAt != nil
    }

    /// The first request after a time without any.
    mutating func began(at now: NIODeadline) {
        self.quietSince = max(self.quietSince, now)
    }

    func nextLook(hasRequests: Bool) -> NIODeadline {
        if let pingedAt { return pingedAt + self.timeout }
        return self.quietSince + (hasRequests ? self.silence : self.idle)
    }

    mutating func look(at now: NIODeadline, hasRequests: Bool) -> Finding {
        guard now >= self.nextLook(hasRequests: hasRequests) else { return .later }
        guard self.pingedAt == nil else { return .isGone }
        self.pingedAt = now
        return .ping
    }
}

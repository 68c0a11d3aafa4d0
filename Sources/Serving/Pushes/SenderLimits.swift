package import APNSWire
import Journaling
package import Partitions
package import WidgetModel

/// The last checks of a push that is in order: whether disk and memory have room for it, and whether it comes too fast.
///
/// Nothing is held against a sender for a push that another limit refuses. Any event loop.
package struct SenderLimits: Sendable {
    package let backlog: PushBacklog
    package let counters: RateCounters
    /// The gateways that share the rates.
    package let nodes = LiveNodes()
    /// Nil where the log takes no disk.
    private let storage: StorageWatch?

    package init(
        backlog: PushBacklog = PushBacklog(max: 200_000),
        counters: RateCounters = RateCounters(),
        storage: StorageWatch? = nil
    ) {
        self.backlog = backlog
        self.counters = counters
        self.storage = storage
    }

    /// - Parameters:
    ///   - sender: The request's sender.
    ///   - app: The app's own limit, nil for none.
    ///   - tokens: The limit of each device token, nil for none.
    ///   - target: The request's target.
    ///   - bytes: Where the target's text is.
    ///   - own: Requests of this loop that the backlog does not know yet.
    ///   - isLogged: Whether it is to be written to the log, as new.
    /// - Throws: `ServiceUnavailable` or `TooManyRequests`, with the time after which to try again.
    @inline(__always)
    package func admit(
        _ sender: Sender,
        _ app: RateMeter?,
        _ tokens: TokenRates?,
        _ target: PushTarget,
        in bytes: Span<UInt8>,
        beside own: Int,
        isLogged: Bool = true,
        at now: Instant
    ) throws(RejectionAnswer) {
        if isLogged, let storage = self.storage, !storage.admits(.traffic) {
            storage.addRefusedPush()
            throw RejectionAnswer(
                .serviceUnavailable,
                detail: "the gateway's disk is full; send the push again later",
                retryAfter: StorageWatch.retryAfterSeconds
            )
        }
        if self.backlog.isFull(beside: own) {
            self.counters.addFullBacklog()
            throw RejectionAnswer(.serviceUnavailable, retryAfter: Problem.retryAfterSeconds)
        }
        guard tokens != nil || sender.meter != nil || app != nil else { return }
        try self.judge(sender, app, tokens, target, in: bytes, at: now)
    }

    @inline(never)
    private func judge(
        _ sender: Sender,
        _ app: RateMeter?,
        _ tokens: TokenRates?,
        _ target: PushTarget,
        in bytes: Span<UInt8>,
        at now: Instant
    ) throws(RejectionAnswer) {
        let nodes = self.nodes.count
        var tag: UInt64?
        if let tokens, case .device(let token) = target {
            let number = tokens.tag(ofHex: bytes.extracting(token.bounds))
            if let wait = tokens.admit(number, at: now, of: nodes) { throw self.refusal(.token, wait) }
            tag = number
        }
        if let wait = sender.meter?.admit(at: now, of: nodes) {
            if let tag { tokens?.giveBack(tag, of: nodes) }
            throw self.refusal(.key, wait)
        }
        if let wait = app?.admit(at: now, of: nodes) {
            if let tag { tokens?.giveBack(tag, of: nodes) }
            sender.meter?.giveBack(of: nodes)
            throw self.refusal(.app, wait)
        }
    }

    private func refusal(_ scope: RateCounters.Scope, _ wait: Int64) -> RejectionAnswer {
        self.counters.add(scope)
        let detail =
            switch scope {
            case .app: "pushes to this app come faster than its rate limit"
            case .key: "pushes with this provider key or certificate come faster than its rate limit"
            case .token: "pushes to this device token come faster than its rate limit"
            }
        return RejectionAnswer(.tooManyRequests, detail: detail, retryAfter: RateLimit.retryAfterSeconds(wait))
    }
}

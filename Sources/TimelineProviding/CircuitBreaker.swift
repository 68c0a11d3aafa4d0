package import WidgetModel

/// Keeps requests from a service that does not answer them well: closed while all is well, open after failures in a row,
/// then half open, with one request on trial.
///
/// ```
///            failures in a row               wait is over
///   closed ─────────────────────▶ open ─────────────────────▶ half open
///      ▲                            ▲                            │  │
///      └──────── trial succeeds ────┼────────────────────────────┘  │
///                                   └──── trial fails, twice as long┘
/// ```
///
/// Source: Nygard, "Release It!" (2nd edition, 2018), "Circuit Breaker".
package struct CircuitBreaker: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Requests go; so many failed in a row.
        case closed(failures: Int)
        /// No request goes before `until`; opened so many times without a success between.
        case open(until: Instant, times: Int)
        /// One request is on its way whose answer decides.
        case halfOpen(trial: Int, times: Int)
    }

    package enum Permission: Hashable, Sendable {
        case granted
        /// One may go, to see.
        case trial
        /// Not before; nil if only the end of the trial can tell.
        case refused(until: Instant?)
    }

    /// Failures in a row that open it.
    private let failuresMax: Int
    private let backoff: Backoff
    /// The hash of its service.
    private let hash: UInt64
    package private(set) var state = State.closed(failures: 0)
    /// The service said itself when to come back.
    private var heldUntil = Instant.epoch
    /// How often it opened.
    package private(set) var opened = 0

    /// - Parameters:
    ///   - failuresMax: At least 1.
    ///   - backoff: How long it stays open.
    ///   - hash: Gives each service its own times.
    package init(failuresMax: Int, backoff: Backoff, hash: UInt64) {
        self.failuresMax = failuresMax
        self.backoff = backoff
        self.hash = hash
    }

    /// Whether a request may go.
    package func permission(at now: Instant) -> Permission {
        if now < self.heldUntil { return .refused(until: self.heldUntil) }
        switch self.state {
        case .closed: return .granted
        case .open(let until, _): return now < until ? .refused(until: until) : .trial
        case .halfOpen: return .refused(until: nil)
        }
    }

    /// A request goes, as permitted.
    ///
    /// - Parameter request: Its number, which no other request has.
    package mutating func sent(_ request: Int) {
        if case .open(_, let times) = self.state { self.state = .halfOpen(trial: request, times: times) }
    }

    /// A permitted request was not sent after all.
    package mutating func withdrawn(_ request: Int) {
        if case .halfOpen(request, let times) = self.state { self.state = .open(until: .epoch, times: times) }
    }

    /// A request was answered well. The answer to a request from before it opened changes nothing any more.
    package mutating func succeeded(_ request: Int) {
        switch self.state {
        case .closed, .halfOpen(request, _): self.state = .closed(failures: 0)
        case .halfOpen, .open: break
        }
    }

    /// A request was not answered well. The failure of a request from before it opened changes nothing any more.
    package mutating func failed(_ request: Int, at now: Instant) {
        switch self.state {
        case .closed(let failures) where failures + 1 < self.failuresMax:
            self.state = .closed(failures: failures + 1)
        case .closed: self.open(at: now, times: 1)
        case .halfOpen(request, let times): self.open(at: now, times: times + 1)
        case .halfOpen, .open: break
        }
    }

    /// Waits no longer: one request may go now, to see. Where one is on trial already, it decides.
    package mutating func release() {
        self.heldUntil = .epoch
        if case .open(_, let times) = self.state { self.state = .open(until: .epoch, times: times) }
    }

    /// The service asks for no requests until then. Its earlier request holds if that is later.
    package mutating func hold(until: Instant) { self.heldUntil = max(self.heldUntil, until) }

    private mutating func open(at now: Instant, times: Int) {
        self.opened += 1
        self.state = .open(until: now + self.backoff.wait(after: times, seed: self.hash), times: times)
    }
}

package import WidgetModel

/// The health of an HTTP target: an upstream, a webhook, a timeline provider. A value without a clock.
///
/// ```
///         mostly failures for so long, or to be left alone for so long
///   well ────────────────────────────────────────────────────────────▶ in trouble
///        ◀────────────────────────────────────────────────────────────
///         mostly better answers, or one and then no failure for a while
/// ```
package struct TargetHealth: Hashable, Sendable {
    /// A target that has mostly failed for this long is in trouble; a failure among successes is not.
    package static let patience = Interval.seconds(30)
    /// One that fails no more for this long after a better answer is well, however often it failed before.
    package static let relief = Interval.seconds(5)
    /// So many answers are weighed at most: as many better ones end the longest trouble.
    package static let weighedMax = 100
    /// Reasons that are counted by their name; the others are counted together.
    package static let reasonsMax = 16
    /// The name under which those are counted that are beyond ``reasonsMax``.
    package static let otherReasons = "other"

    /// The result of a request.
    package struct Answer: Hashable, Sendable {
        package enum Meaning: Hashable, Sendable {
            /// The target did its work.
            case success
            /// It answered, and will not have this one request. It may be well.
            case refusal
            /// It did not answer, cannot, or refuses whatever this gateway sends.
            case failure
        }

        package let meaning: Meaning
        /// The HTTP status; nil if no answer came.
        package let status: Int?
        /// Why it is no success, in a word or two; empty for a success.
        package let reason: String
        /// The message of the layer below; nil without one.
        package let detail: String?
        package let at: Instant

        /// - Parameters:
        ///   - reason: Cut to 64 characters: a part of it may come from the other side.
        ///   - detail: Cut to 300 characters.
        package init(
            _ meaning: Meaning,
            status: Int?,
            reason: String = "",
            detail: String? = nil,
            at instant: Instant
        ) {
            self.meaning = meaning
            self.status = status
            self.reason = String(reason.prefix(64))
            self.detail = detail.map { String($0.prefix(300)) }
            self.at = instant
        }
    }

    /// A change to report, once.
    package enum Change: Hashable, Sendable {
        case trouble(Answer)
        /// It was in trouble for that long.
        case well(after: Interval)
    }

    package private(set) var lastAnswer: Answer?
    package private(set) var lastSuccess: Instant?
    /// Requests with a result, good or bad.
    package private(set) var attempts = 0
    /// Of these, those that were no success, by reason.
    private var failures: [String: Int] = [:]
    /// The first failure since it was well.
    private var failingSince: Instant?
    /// The failures since then less the better answers, ``weighedMax`` at most: above zero, most answers are failures.
    private var excess = 0
    /// The first better answer since the last failure, while it fails.
    private var betterSince: Instant?
    package private(set) var isInTrouble = false

    package init() {}

    /// How often each reason was given, by name.
    package var failuresByReason: [(reason: String, count: Int)] {
        self.failures.sorted { $0.key < $1.key }.map { (reason: $0.key, count: $0.value) }
    }

    /// Whether it has mostly failed lately.
    package var isFailing: Bool { self.failingSince != nil }

    /// Since when it has mostly failed; nil if it is not in trouble.
    package var troubleSince: Instant? { self.isInTrouble ? self.failingSince : nil }

    /// When it is in trouble, or well again, if nothing comes until then; nil if time changes nothing.
    package var looksAt: Instant? {
        if let betterSince { return betterSince + Self.relief }
        return self.isInTrouble ? nil : self.failingSince.map { $0 + Self.patience }
    }

    /// Takes the result of a request.
    ///
    /// - Parameter heldUntil: The end of a hold, because of this answer or an earlier one.
    /// - Returns: The change; nil if there is none.
    package mutating func takeAnswer(_ answer: Answer, heldUntil: Instant? = nil) -> Change? {
        self.attempts += 1
        self.lastAnswer = answer
        if answer.meaning != .success { self.count(answer.reason) }
        guard answer.meaning == .failure else {
            if answer.meaning == .success { self.lastSuccess = answer.at }
            guard self.isFailing else { return nil }
            self.excess -= 1
            self.betterSince = self.betterSince ?? answer.at
            return self.excess <= 0 ? self.recover(at: answer.at) : self.look(at: answer.at)
        }
        self.failingSince = self.failingSince ?? answer.at
        self.excess = min(self.excess + 1, Self.weighedMax)
        self.betterSince = nil
        // Whatever happens, no better answer can come before the hold is over.
        let isHeld = heldUntil.map { $0 - answer.at >= Self.patience } ?? false
        return isHeld ? self.enterTrouble() : self.look(at: answer.at)
    }

    /// Takes the passing of time.
    ///
    /// - Returns: The change; nil if there is none.
    package mutating func look(at now: Instant) -> Change? {
        guard let due = self.looksAt, due <= now else { return nil }
        return self.betterSince == nil ? self.enterTrouble() : self.recover(at: now)
    }

    private mutating func recover(at now: Instant) -> Change? {
        let since = self.troubleSince
        (self.failingSince, self.betterSince, self.excess, self.isInTrouble) = (nil, nil, 0, false)
        return since.map { .well(after: now - $0) }
    }

    private mutating func enterTrouble() -> Change? {
        guard !self.isInTrouble, let answer = self.lastAnswer else { return nil }
        self.isInTrouble = true
        return .trouble(answer)
    }

    private mutating func count(_ reason: String) {
        let isKnown = self.failures[reason] != nil || self.failures.count < Self.reasonsMax
        self.failures[isKnown ? reason : Self.otherReasons, default: 0] += 1
    }
}

/// A target's health, and its waiting deliveries.
package struct TargetView: Hashable, Sendable {
    package let health: TargetHealth
    /// Nothing is sent to it before then; nil if it is not held back.
    package let heldUntil: Instant?
    /// The number of deliveries that wait or are under way.
    package let waiting: Int
    /// When the oldest of that was decided; nil if nothing waits.
    package let oldest: Instant?

    package init(health: TargetHealth, heldUntil: Instant?, waiting: Int, oldest: Instant?) {
        self.health = health
        self.heldUntil = heldUntil
        self.waiting = waiting
        self.oldest = oldest
    }
}

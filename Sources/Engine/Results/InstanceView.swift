package import Timelines
package import WidgetModel

/// Everything about one widget instance: `GET /v1/instances/<id>`.
package struct InstanceView: Hashable, Sendable {
    package let address: InstanceAddress
    package let kind: WidgetKind
    package let family: WidgetFamily
    package let configuration: Configuration
    package let pushEnabled: Bool
    package let tags: [String]
    /// Counts the instance's configurations; a timeline of an older one is discarded.
    package let generation: Int
    /// Its configuration no longer fits the kind's schema, or the kind is no longer configured.
    package let isOrphaned: Bool
    /// Whether the user sees it, from the host's reports; nil if the host has never reported visibility.
    package let isVisible: Bool?
    /// The date of the entry that the host said it shows.
    package let shownEntry: Instant?
    package let budget: BudgetView
    package let timeline: TimelineView?
    /// Causes that wait, in the order in which they came, pushes last; the first ones if not all were asked for.
    package let pending: [PendingView]
    /// How many wait in all.
    package let pendingCount: Int
    /// When the waiting causes will be decided: the first instant at which one of them conforms.
    package let decidesAt: Instant?
    /// Why they are not decided now; nil if nothing waits.
    package let waitsFor: DecisionReason?
    /// Why it does not yet show its newest data, and since when, to the second; nil if it is not behind.
    package let behind: BehindReason?
    package let behindSince: Instant?
    package let outstanding: [ReloadEffect]
    /// The newest first, as far as they are retained.
    package var decisions: [DecisionView]
    /// The number of the decision before the last of those; nil if there is none.
    package let earlierDecision: UInt64?
    package var ledger: DayLedger

    package var app: BundleID { self.address.app }
}

/// The reloads that the gateway issued for an instance in the last 24 hours.
package struct DayLedger: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let decision: DecisionView
        /// Whether the instance's budget paid for it.
        package let isCharged: Bool
        /// The rest of the present window's allowance after it; nil in an earlier window, without a limit, or if the
        /// engine no longer keeps the decision.
        package let left: Int?

        package init(decision: DecisionView, isCharged: Bool, left: Int?) {
            self.decision = decision
            self.isCharged = isCharged
            self.left = left
        }
    }

    package let from: Instant
    package let until: Instant
    /// Whether all decisions of that time are still kept.
    package let isWhole: Bool
    /// The oldest first.
    package let entries: [Entry]
    /// The number of the first decision that is no longer kept; nil if all are kept.
    package let earlier: UInt64?

    package init(from: Instant, until: Instant, isWhole: Bool, entries: [Entry], earlier: UInt64?) {
        self.from = from
        self.until = until
        self.isWhole = isWhole
        self.entries = entries
        self.earlier = earlier
    }
}

/// The budget of one instance, now.
package struct BudgetView: Hashable, Sendable {
    package let policy: String
    package let windowStart: Instant
    package let windowEnd: Instant
    /// The most reloads charged in this window; nil without a limit.
    package let allowance: Int?
    /// How much of the allowance pushes may use; nil without a limit.
    package let pushAllowance: Int?
    package let charged: Int
    package let pushesCharged: Int
    /// How many reloads may run ahead of the pace, and the pace: one reload an interval.
    package let burst: Int
    package let interval: Interval
    package let exemptReloads: Int
    /// Reloads that the host did by itself, ever.
    package let observedReloads: Int
    /// Reloads that pushes for other widgets with the same token brought, ever: within the budget, and beyond it.
    package let collateralReloads: Int
    package let collateralOverReloads: Int
    /// Views a day that the allowance follows from, in 256ths.
    package let viewRate: Int
    /// Whether the window is one of the host's first days.
    package let isLearning: Bool
    package let lastReload: Instant?
    /// The first instant at which a push with priority 10 would conform.
    package let nextHigh: Instant
    /// The first instant at which a push with priority 5 would conform.
    package let nextNormal: Instant
    /// The first instant at which a reload of the timeline's policy would conform.
    package let nextPolicy: Instant
    /// Why reloads are not charged at this moment, if so.
    package let exemption: Exemption?
}

/// The timeline that an instance shows.
package struct TimelineView: Hashable, Sendable {
    package let entries: Int
    package let firstDate: Instant?
    package let lastDate: Instant?
    package let policy: ReloadPolicy
    package let digest: [UInt8]?
    package let receivedAt: Instant
    /// When its policy asks for the next one, smoothing included; nil if never, or if that has been asked already.
    package let nextRequest: Instant?
    package let findings: [TimelineFinding]
}

/// A cause that waits.
package struct PendingView: Hashable, Sendable {
    package let cause: ReloadCause
    package let push: PushID?
    package let priority: Priority?
    /// When the push was accepted.
    package let since: Instant?
    package let notBefore: Instant?
    package let expiresAt: Instant?
    /// When it is decided next, as far as is known now; nil if that hangs on something else than time.
    package let until: Instant?
    /// Why it waits.
    package let reason: DecisionReason
}

extension InstanceView {
    /// The first instant at which a reload is possible as far as is known now: a waiting cause may reload, or the
    /// timeline's next request is due. Nil if only a later event can cause one. Later events can move it.
    package var nextReload: Instant? {
        let waiting = self.pending.compactMap { pending in
            pending.until.flatMap { until in pending.expiresAt.map { until < $0 } ?? true ? until : nil }
        }
        let policy = self.timeline?.nextRequest.map { max($0, self.budget.nextPolicy) }
        return (waiting + [policy].compactMap(\.self)).min()
    }
}

/// One decision about an instance, with its reason.
package struct DecisionView: Hashable, Sendable {
    package let at: Instant
    package let position: LogPosition
    package let cause: ReloadCause
    package let push: PushID?
    package let outcome: PushOutcome
    package let reason: DecisionReason
    package let exemption: Exemption?
    /// Deferred until then.
    package let until: Instant?

    package init(
        at: Instant,
        position: LogPosition,
        cause: ReloadCause,
        push: PushID?,
        outcome: PushOutcome,
        reason: DecisionReason,
        exemption: Exemption?,
        until: Instant?
    ) {
        self.at = at
        self.position = position
        self.cause = cause
        self.push = push
        self.outcome = outcome
        self.reason = reason
        self.exemption = exemption
        self.until = until
    }

    /// Whether it issued a reload that the budget paid for.
    package var isCharged: Bool {
        self.outcome == .issued && self.exemption == nil && self.reason != .collateralOver
    }
}

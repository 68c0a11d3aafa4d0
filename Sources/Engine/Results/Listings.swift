package import WidgetModel

/// Which instances a list is of.
package struct InstanceFilter: Hashable, Sendable {
    /// A present state of an instance.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Something waits for it.
        case waiting
        /// It does not yet show its newest data.
        case behind
        /// A reload is out for it.
        case outstanding
        /// Its window's allowance is used up.
        case exhausted
        /// The user sees it, as far as the host tells.
        case visible
        /// Its configuration no longer fits its kind.
        case orphaned
    }

    package var app: BundleID?
    package var kind: WidgetKind?
    /// Only this host, whose instances are one page.
    package var host: HostKey?
    package var state: State?
    /// Only those that have been behind since then or before, to the second.
    package var behindSince: Instant?

    package init(
        app: BundleID? = nil,
        kind: WidgetKind? = nil,
        host: HostKey? = nil,
        state: State? = nil,
        behindSince: Instant? = nil
    ) {
        self.app = app
        self.kind = kind
        self.host = host
        self.state = state
        self.behindSince = behindSince
    }
}

/// One line of a list of instances.
package struct InstanceSummary: Hashable, Sendable {
    package let address: InstanceAddress
    package let kind: WidgetKind
    package let family: WidgetFamily
    package let pushEnabled: Bool
    package let isOrphaned: Bool
    /// Nil if the host has never reported visibility.
    package let isVisible: Bool?
    /// The present window's allowance; nil if the policy has no limit.
    package let allowance: Int?
    package let charged: Int
    /// Pushes and other causes that wait.
    package let waiting: Int
    package let outstanding: Int
    package let decidesAt: Instant?
    package let lastReload: Instant?
    /// Why it does not yet show its newest data; nil if it is not behind.
    package let behind: BehindReason?
    /// Since when, to the second.
    package let behindSince: Instant?

    package var app: BundleID { self.address.app }
}

/// Which hosts a list is of.
package struct HostSummary: Hashable, Sendable {
    package let host: HostKey
    package let delivery: HostDelivery
    package let registeredAt: Instant
    package let leaseEnds: Instant?
    package let exemptions: [Exemption]
    package let isInStandBy: Bool
    package let isInLowPower: Bool
    package let instances: Int
    package let outstanding: Int

    package var app: BundleID { self.host.app }
}

/// One decision about a push, with its instance.
package struct PushDecision: Hashable, Sendable {
    /// Nil if the instance is forgotten by now.
    package let instance: InstanceAddress?
    package let decision: DecisionView

    package init(instance: InstanceAddress?, decision: DecisionView) {
        self.instance = instance
        self.decision = decision
    }
}

/// One push of the list of those that came last.
package struct ListedPush: Hashable, Sendable {
    /// Pushes that were accepted later have greater ones.
    package let number: UInt64
    package let push: PushView
}

/// Which pushes a list is of.
package struct PushFilter: Hashable, Sendable {
    package var team: TeamID?
    package var app: BundleID?
    /// Accepted later than this.
    package var after: Instant?
    /// Accepted earlier than this.
    package var before: Instant?
    package var isComplete: Bool?
    /// At least one instance of it has this outcome.
    package var outcome: PushOutcome?

    package init(
        team: TeamID? = nil,
        app: BundleID? = nil,
        after: Instant? = nil,
        before: Instant? = nil,
        isComplete: Bool? = nil,
        outcome: PushOutcome? = nil
    ) {
        self.team = team
        self.app = app
        self.after = after
        self.before = before
        self.isComplete = isComplete
        self.outcome = outcome
    }

    /// Whether a push is on the list; the counts are those of all partitions.
    package func contains(_ push: PushView) -> Bool {
        guard self.isAbout(push) else { return false }
        if let isComplete, push.isComplete != isComplete { return false }
        if let outcome, push.counts[outcome] == 0 { return false }
        return true
    }

    /// Whether a push may be on the list, by its members that never change.
    package func isAbout(_ push: PushView) -> Bool {
        if let team, push.team != team { return false }
        if let app, push.app != app { return false }
        if let after, push.acceptedAt <= after { return false }
        if let before, push.acceptedAt >= before { return false }
        return true
    }
}

package import WidgetModel

/// The numbers of a policy for one host in one window: every decision about a reload uses them.
///
/// Derived once per policy and window and shared by all instances; integers only, so that replay is exact.
package struct BudgetTerms: Hashable, Sendable {
    package private(set) var window: BudgetWindow
    /// The allowance A of a whole window, from which the pace follows.
    package private(set) var allowance: Int
    /// The burst B = max(1, floor(A / divisor)), but always less than A: this number of reloads may run ahead of the
    /// pace.
    package private(set) var burst: Int
    /// The pace interval T = ceil(window length / (A - B)) in milliseconds.
    package private(set) var interval: Interval
    /// Charged reloads are at least this far apart.
    package private(set) var minimumInterval: Interval
    /// An exempt reload is at least this far after the reload before it. For how long a budget is remembered; what is decided now goes by
    /// the present policy alone, see ``ReloadBudget/exemptEarliest(now:policy:)``.
    package private(set) var exemptInterval: Interval
    /// The most reloads charged in this window: A, less in an instance's first window, more after a grant.
    package private(set) var limit: Int
    /// The most of them that pushes may take: ceil(push share * limit).
    package private(set) var pushLimit: Int
    /// Whether nothing is ever held back.
    package let isUnlimited: Bool
    /// Whether the limit also holds for any 24 hours, not only for windows.
    package private(set) var isRolling: Bool

    private var pushShare: BudgetPolicy.Share
    /// The interval in which the budget's TAT is measured, where that is not ``interval``.
    private var arrivalInterval: Interval?

    /// - Parameters:
    ///   - policy: One without ``BudgetPolicy/faults()``.
    ///   - window: The host's window.
    ///   - allowance: A, as fixed when the window opened. By default the policy's `typical`.
    package init(policy: BudgetPolicy, window: BudgetWindow, allowance: Int? = nil) {
        let allowance = min(max(1, allowance ?? policy.typical), BudgetPolicy.allowanceMax)
        let burst = min(max(1, allowance / policy.burstDivisor), allowance - 1)
        let steps = Int64(allowance - burst)
        self.window = window
        self.allowance = allowance
        self.burst = burst
        self.interval = Interval(milliseconds: (window.length.milliseconds + steps - 1) / steps)
        self.minimumInterval = policy.minimumInterval
        self.exemptInterval = policy.exemptInterval
        self.limit = allowance
        self.pushLimit = policy.pushShare.roundedUp(of: allowance)
        self.isUnlimited = policy.isUnlimited
        self.isRolling = policy.isRolling
        self.pushShare = policy.pushShare
    }

    /// Whether another window with this allowance has the same numbers, by the same policy.
    package func isAlso(for allowance: Int, in window: BudgetWindow) -> Bool {
        self.allowance == allowance && self.window.length == window.length
    }

    /// The same numbers in another window of the same length.
    package func moved(to window: BudgetWindow) -> BudgetTerms {
        var terms = self
        terms.window = window
        return terms
    }

    /// How far before the theoretical arrival time an urgent reload conforms: B * T, by the T in which that is measured.
    package var tolerance: Interval { self.measure * Int64(self.burst) }

    /// The T in which the theoretical arrival time of the budget is measured.
    package var measure: Interval { self.arrivalInterval ?? self.interval }

    /// How long after the next window's start a reload that must wait for it runs: a point in `0..<T` by hash, so that
    /// instances that used up their budgets together do not return together.
    package func spread(_ hash: UInt64) -> Interval {
        Interval(
            milliseconds: Int64(
                StableHash.reduce(hash, below: UInt64(max(1, self.interval.milliseconds)))
            )
        )
    }
}

extension BudgetTerms {
    /// The count of an instance that joins in the middle of a window:
    /// floor(A * time left / window length), at least B + 1 and at most A.
    package func firstWindowLimit(joinedAt instant: Instant) -> Int {
        let left = min(
            max(0, (self.window.end - instant).milliseconds),
            self.window.length.milliseconds
        )
        let proRata = Int(Int64(self.allowance) * left / self.window.length.milliseconds)
        return min(self.allowance, max(proRata, self.burst + 1))
    }

    /// The same pace with another count, as for an instance's first window.
    package func limited(to limit: Int) -> BudgetTerms {
        var terms = self
        terms.limit = min(max(0, limit), Int(UInt16.max))
        terms.pushLimit = self.pushShare.roundedUp(of: terms.limit)
        return terms
    }

    /// The same pace with an operator's extra reloads in this window, which pushes may use too.
    package func granting(_ extra: Int) -> BudgetTerms {
        var terms = self
        terms.limit = min(self.limit + max(0, extra), Int(UInt16.max))
        terms.pushLimit = min(self.pushLimit + max(0, extra), terms.limit)
        return terms
    }

    /// The same numbers for a budget whose TAT was computed with another T, like one that several instances share: B
    /// reloads of that T may run ahead of it.
    package func measured(in interval: Interval) -> BudgetTerms {
        var terms = self
        terms.arrivalInterval = interval
        return terms
    }

    /// The stricter of these and others in each number, in this window: the terms after a change of policy until the
    /// window ends.
    package func smaller(with other: BudgetTerms) -> BudgetTerms {
        if other.isUnlimited { return self }
        // The numbers of unlimited terms mean nothing; only the window is the one in force.
        var terms = self.isUnlimited ? other : self
        terms.window = self.window
        terms.isRolling = self.isRolling || other.isRolling
        terms.allowance = min(terms.allowance, other.allowance)
        terms.burst = min(terms.burst, other.burst)
        terms.interval = max(terms.interval, other.interval)
        terms.minimumInterval = max(terms.minimumInterval, other.minimumInterval)
        terms.exemptInterval = max(terms.exemptInterval, other.exemptInterval)
        terms.limit = min(terms.limit, other.limit)
        terms.pushLimit = min(terms.pushLimit, other.pushLimit)
        // Another limit, as in a first window, is shared by the stricter policy, too.
        terms.pushShare = terms.pushShare.smaller(with: other.pushShare)
        return terms
    }
}

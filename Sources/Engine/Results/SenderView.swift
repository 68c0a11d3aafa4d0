package import WidgetModel

/// The costs of one sender's pushes, since the first record of the log: `GET /v1/senders`.
@dynamicMemberLookup
package struct SenderView: Hashable, Sendable {
    package let team: TeamID
    package var counts: SenderCounts

    package subscript(dynamicMember member: KeyPath<SenderCounts, Int>) -> Int { self.counts[keyPath: member] }
}

/// The costs and outcomes of a sender's pushes.
package struct SenderCounts: MemberCounts, Hashable, Sendable {
    package static let members: [Member] = [
        \.pushes, \.repeats, \.matched, \.unchanged, \.refused, \.charged, \.exempt, \.collateral, \.collateralOver,
    ]

    package var pushes = 0
    package var repeats = 0
    package var matched = 0
    /// Matched instances that showed the content already.
    package var unchanged = 0
    /// Matched instances whose push ended `expired`, having been now or never, or `failed` as too many waited.
    package var refused = 0
    /// Reloads charged to the budget of an instance on the sender's account, and those that were not charged.
    package var charged = 0
    package var exempt = 0
    /// Reloads of other widgets that a push to their common token brought along, charged to their budgets, and those
    /// that their budgets did not allow.
    package var collateral = 0
    package var collateralOver = 0

    package init() {}
}

package import WidgetModel

/// The costs of one sender's pushes, since the first record of the log: `GET /v1/senders`.
package struct SenderView: Hashable, Sendable {
    package let team: TeamID
    package var pushes: Int
    package var repeats: Int
    package var matched: Int
    /// Matched instances that showed the content already.
    package var unchanged: Int
    /// Matched instances for which a push ended at once without a reload: now or never, or too many waiting.
    package var refused: Int
    /// Reloads charged to the budget of an instance on the sender's account, and those that were not charged.
    package var charged: Int
    package var exempt: Int
    /// Reloads of other widgets that a push to their common token brought along, charged to their budgets, and those
    /// that their budgets did not allow.
    package var collateral: Int
    package var collateralOver: Int

    /// Adds another partition's numbers of the same sender.
    package static func += (left: inout SenderView, right: SenderView) {
        left.pushes += right.pushes
        left.repeats += right.repeats
        left.matched += right.matched
        left.unchanged += right.unchanged
        left.refused += right.refused
        left.charged += right.charged
        left.exempt += right.exempt
        left.collateral += right.collateral
        left.collateralOver += right.collateralOver
    }
}

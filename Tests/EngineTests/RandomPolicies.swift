import TestSupport
import Timelines
import WidgetModel

/// Budgets that differ in everything that may change: windows, numbers, distances, shares, the strict rule, scope.
enum RandomPolicies {
    private static let windows: [BudgetPolicy.Window] = [
        .fixed(length: .hours(1), anchor: .hostHash),
        .fixed(length: .hours(3), anchor: .utc),
        .fixed(length: .day, anchor: .utc),
        .fixed(length: .day, anchor: .hostHash),
        .fixed(length: .days(2), anchor: .hostHash),
        .tuned,
        .none,
    ]
    private static let minimumIntervals: [Interval] = [.zero, .minutes(1), .minutes(5), .minutes(20), .hours(1)]
    private static let slots: [Interval] = [.zero, .hours(1), .minutes(5)]
    private static let factors: [BudgetPolicy.Share] = [.init(3, of: 1), .init(1, of: 1), .init(3, of: 2)]
    private static let shares = [BudgetPolicy.Share(1, of: 1), .init(3, of: 4), .init(1, of: 2)]

    /// - Parameters:
    ///   - count: How many; they have different names.
    ///   - isSharing: Whether some of them give all instances of a host one budget.
    static func make(_ count: Int, isSharing: Bool, using random: inout SplitMix64) -> [BudgetPolicy] {
        (0..<count).map { number in
            var policy = Scene.steady
            policy.name = "random \(number)"
            policy.window = self.windows.randomElement(using: &random)!
            policy.minimumInterval = self.minimumIntervals.randomElement(using: &random)!
            policy.pushShare = self.shares.randomElement(using: &random)!
            policy.burstDivisor = Int.random(in: 2...8, using: &random)
            policy.scope = isSharing && random.chance(1, in: 3) ? .host : .instance
            policy.rare = Int.random(in: 1...12, using: &random)
            (policy.typical, policy.frequent) = (policy.rare, policy.rare)
            if policy.scope == .instance, random.chance(1, in: 2) {
                policy.typical += Int.random(in: 0...20, using: &random)
                policy.frequent = policy.typical + Int.random(in: 0...20, using: &random)
            }
            if random.chance(1, in: 3) { policy.learning.days = 2 }
            policy.isRolling = random.chance(1, in: 2)
            if !policy.faults().isEmpty { policy.isRolling = false }
            policy.smoothing = self.slots[number % self.slots.count]
            policy.lowPower = self.factors[number % self.factors.count]
            return policy
        }
    }
}

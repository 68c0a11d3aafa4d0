import Engine
import Testing
import Timelines
import WidgetModel

/// Checks the charges of a schedule against the budget's promises, read off the whole history.
struct BudgetCheck {
    private struct Charge {
        let at: Instant
        let isPush: Bool
        let isRefused: Bool
        let budget: BudgetView
        let policy: BudgetPolicy
    }

    private var byInstance: [[Charge]] = []
    /// Whether nothing cost anything: about once in ten thousand schedules a kind is paused for ever before its first
    /// reload, or every reload is exempt.
    private let isFree: Bool

    init(_ schedule: RandomSchedule, policy: BudgetPolicy = .widgetkit) {
        self.init(schedule.scene, refused: schedule.refused, policy: policy)
    }

    /// - Parameter refused: Reloads that a host gave back.
    init(_ scene: Scene, refused: Set<ReloadID> = [], policy: BudgetPolicy) {
        self.isFree = !scene.reloads.contains { $0.isCharged }
        var found: [InstanceAddress: [Charge]] = [:]
        for (reload, isPush, budget) in scene.charges {
            guard let budget else { continue }
            let owner = policy.scope == .host ? "" : reload.instance.rawValue
            let budgetOwner = InstanceAddress(host: reload.host, instance: InstanceID(owner))
            found[budgetOwner, default: []].append(
                Charge(
                    at: reload.issuedAt,
                    isPush: isPush,
                    isRefused: refused.contains(reload.id),
                    budget: budget,
                    policy: policy
                )
            )
        }
        self.byInstance = found.keys.sorted().compactMap { found[$0] }
    }

    func expectKept(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
        var faults: [String] = []
        for charges in self.byInstance {
            faults += Self.windows(of: charges)
            faults += Self.distances(of: charges)
            faults += Self.spans(of: charges)
        }
        #expect(faults == [], comment, sourceLocation: sourceLocation)
        #expect(self.isFree || !self.byInstance.isEmpty, comment, sourceLocation: sourceLocation)
    }

    /// Each window's charges are within its allowance, and no window begins before the one before has ended.
    private static func windows(of charges: [Charge]) -> [String] {
        var faults: [String] = []
        var start = 0
        while start < charges.count {
            let window = charges[start].budget.windowStart
            let inside = charges[start...].prefix { $0.budget.windowStart == window }
            let kept = inside.filter { !$0.isRefused }
            let allowance = inside.compactMap(\.budget.allowance).max() ?? 0
            let pushes = inside.compactMap(\.budget.pushAllowance).max() ?? 0
            if kept.count > allowance { faults.append("\(kept.count) charged of \(allowance) from \(window)") }
            let pushCount = kept.count { $0.isPush }
            if pushCount > pushes { faults.append("\(pushCount) pushes charged of \(pushes) from \(window)") }
            for charge in inside where charge.at < window || charge.at >= charge.budget.windowEnd {
                faults.append("charged at \(charge.at) outside of its window from \(window)")
            }
            start += inside.count
            // A host that was forgotten starts anew with windows of its own, but never before its last one has ended.
            if start < charges.count, charges[start].at < inside.last?.budget.windowEnd ?? window {
                faults.append("charged at \(charges[start].at) in a window, before the one before has ended")
            }
        }
        return faults
    }

    private static func distances(of charges: [Charge]) -> [String] {
        zip(charges, charges.dropFirst()).compactMap { early, late in
            late.at - early.at < late.policy.minimumInterval ? "\(early.at) and \(late.at) are too near" : nil
        }
    }

    /// Any span t holds at most max(B) + t / min(T) + 1, of the budgets that its charges were made under.
    private static func spans(of charges: [Charge]) -> [String] {
        var faults: [String] = []
        for first in charges.indices {
            var (burst, interval) = (Int64(0), Int64.max)
            for last in first..<charges.count {
                burst = max(burst, Int64(charges[last].budget.burst))
                interval = min(interval, charges[last].budget.interval.milliseconds)
                let most = burst + (charges[last].at - charges[first].at).milliseconds / interval + 1
                if Int64(last - first + 1) > most { faults.append("\(last - first + 1) of \(most) from \(first)") }
            }
        }
        return faults
    }
}

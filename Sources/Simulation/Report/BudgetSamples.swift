import Engine
import WidgetModel

/// How the allowances of a sample of instances are used up, hour by hour of their windows.
package struct BudgetUse: Hashable, Sendable {
    /// The hours of the longest window.
    package static let hours = 25
    /// By hour of the window: how many windows had used so many percent of their allowance when the hour ended.
    package private(set) var percents = Array(repeating: Array(repeating: 0, count: 101), count: Self.hours)
    package private(set) var windows = 0
    package private(set) var allowances = WaitHistogram()

    /// A window is over: its use after each of its hours.
    mutating func takeWindow(_ used: [Int], allowance: Int) {
        self.windows += 1
        self.allowances.noteWait(allowance)
        for hour in 0..<Self.hours { self.percents[hour][Swift.min(100, used[hour])] += 1 }
    }

    mutating func add(_ other: BudgetUse) {
        self.windows += other.windows
        self.allowances.add(other.allowances)
        for hour in 0..<Self.hours {
            for percent in 0...100 { self.percents[hour][percent] += other.percents[hour][percent] }
        }
    }

    /// The percentage that so many percent of the windows had not exceeded after an hour.
    package func percentile(_ percent: Int, hour: Int) -> Int {
        let rank = Swift.max(1, (self.windows * percent + 99) / 100)
        var seen = 0
        for used in 0...100 {
            seen += self.percents[hour][used]
            if seen >= rank { return used }
        }
        return 0
    }

    /// The mean percentage after an hour.
    package func mean(hour: Int) -> Double {
        guard self.windows > 0 else { return 0 }
        return Double((0...100).reduce(0) { $0 + $1 * self.percents[hour][$1] }) / Double(self.windows)
    }
}

/// Follows the budgets of some instances; all of them would cost more than the simulation.
struct BudgetSamples: Sendable {
    /// How many instances of a partition are followed.
    private static let instancesMax = 128

    private struct Window: Sendable {
        var start = Instant.epoch
        var allowance = 0
        /// The percentage of the allowance that is used after each hour.
        var used = Array(repeating: 0, count: BudgetUse.hours)
    }

    private let every: Int
    private var windows: [Window?]

    init(instances: Int) {
        self.every = max(1, instances / Self.instancesMax)
        self.windows = Array(repeating: nil, count: instances / self.every + 1)
    }

    func isSampled(_ number: Int) -> Bool { number % self.every == 0 }

    /// Notes the budget of an instance just after a charge, if it has a limit.
    mutating func noteBudget(_ number: Int, _ budget: BudgetView, at instant: Instant, into use: inout BudgetUse) {
        guard let allowance = budget.allowance else { return }
        let place = number / self.every
        var window = self.windows[place] ?? Window(start: budget.windowStart)
        if window.start != budget.windowStart {
            use.takeWindow(window.used, allowance: window.allowance)
            window = Window(start: budget.windowStart)
        }
        window.allowance = allowance
        let hour = min(BudgetUse.hours - 1, max(0, Int((instant - window.start).milliseconds / 3_600_000)))
        let percent = allowance > 0 ? budget.charged * 100 / allowance : 0
        for later in hour..<BudgetUse.hours { window.used[later] = percent }
        self.windows[place] = window
    }
}

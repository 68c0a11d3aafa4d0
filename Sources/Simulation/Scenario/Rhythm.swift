import Scenarios

/// When in a day and a week people look at their widgets.
package enum Rhythm: String, Hashable, Sendable, CaseIterable {
    /// Before work, at noon, after work and in the evening; later at weekends.
    case commuter
    /// Awake from the afternoon to the morning.
    case nightWorker
    /// All day long, every quarter of an hour or so.
    case heavy
    /// Once every other day.
    case rare
    /// A commuter whose phone stands on its charger at night and refreshes by itself there.
    case standBy

    /// How often a day they look, unless the scenario says otherwise.
    package var views: Double {
        switch self {
        case .commuter, .standBy: 8
        case .nightWorker: 6
        case .heavy: 30
        case .rare: 0.5
        }
    }

    /// How likely each hour of the local day is, in proportion to the others.
    package func weights(isWeekend: Bool) -> [Int] {
        switch self {
        case .commuter, .standBy:
            isWeekend
                ? [1, 0, 0, 0, 0, 0, 0, 1, 3, 6, 6, 5, 5, 4, 4, 4, 4, 4, 5, 5, 6, 7, 6, 3]
                : [0, 0, 0, 0, 0, 1, 4, 9, 7, 3, 2, 3, 6, 3, 2, 2, 4, 8, 7, 5, 4, 5, 5, 2]
        case .nightWorker: [5, 5, 6, 6, 5, 4, 5, 6, 3, 0, 0, 0, 0, 0, 0, 1, 3, 4, 4, 5, 5, 6, 6, 5]
        case .heavy: [2, 1, 0, 0, 0, 1, 3, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 4]
        case .rare: [0, 0, 0, 0, 0, 0, 1, 2, 2, 1, 1, 1, 2, 1, 1, 1, 2, 3, 4, 5, 5, 4, 2, 1]
        }
    }

    /// The local hours from which and until which the phone stands on its charger, nil if it never does.
    package var standBy: (from: Int, until: Int)? { self == .standBy ? (23, 7) : nil }
}

/// How often each host of a population looks, hour by hour: made once for a run.
struct RhythmRates: Sendable {
    /// Looks a second in each local hour: workdays, then weekends.
    private let rates: [Double]

    init(_ rhythm: Rhythm, views: Double) {
        var rates: [Double] = []
        for isWeekend in [false, true] {
            let weights = rhythm.weights(isWeekend: isWeekend)
            let total = Double(weights.reduce(0, +))
            rates += weights.map { views * Double($0) / total / 3600 }
        }
        self.rates = rates
    }

    /// When the next look is, after a local second: a Poisson process whose rate changes by the hour.
    ///
    /// - Parameters:
    ///   - local: Local seconds.
    ///   - end: Where to stop looking.
    /// - Returns: Local seconds after `local`; at least `end` if there is none before.
    func next(after local: Int, before end: Int, _ dice: inout Dice) -> Int {
        var credit = dice.exponential()
        var second = local
        while second < end {
            let day = second / 86_400
            let hour = second % 86_400 / 3600
            let weekday = CivilTime.weekday(ofDay: day)
            let rate = self.rates[hour + (weekday == 0 || weekday == 6 ? 24 : 0)]
            let hourEnd = (second / 3600 + 1) * 3600
            let mass = rate * Double(hourEnd - second)
            if mass >= credit { return max(local + 1, second + Int(credit / rate)) }
            credit -= mass
            second = hourEnd
        }
        return end
    }
}

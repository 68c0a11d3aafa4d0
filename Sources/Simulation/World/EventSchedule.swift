import Scenarios
import WidgetModel

/// One change of data, and the push about it.
struct DataEvent: Hashable, Sendable {
    /// Seconds after the epoch.
    let at: Int
    /// The sender's number.
    let sender: Int
    /// The value's number, nil for all values of the kind.
    let value: Int?
    /// Whether the data changes, and is not only pushed.
    let isChange: Bool
}

/// Every change of data in a run, drawn beforehand: the events of the world do not depend on widgets.
struct EventSchedule: Sendable {
    /// By time, then sender.
    let events: [DataEvent]
    /// By kind and value: when it changed, in order and each second once.
    let changes: [[[Int32]]]
    /// The scenario's first second, which ``changes`` count from.
    let start: Int

    init(_ scenario: Scenario) {
        var events: [DataEvent] = []
        for (number, sender) in scenario.senders.enumerated() {
            guard let kind = scenario.kinds.first(where: { $0.kind == sender.kind }) else { continue }
            for (index, pattern) in sender.events.enumerated() {
                var dice = Dice(seed: scenario.seed, for: .sender, number << 16 | index)
                let choice = WeightedChoice(pattern.popularity, count: kind.values.count)
                for at in pattern.instants(over: scenario.span, &dice) {
                    let value = pattern.changes == .one ? choice.draw(&dice) : nil
                    events.append(DataEvent(at: at, sender: number, value: value, isChange: pattern.changes != .none))
                }
            }
        }
        // Events of one second stay in the order in which they were drawn.
        self.events = events.enumerated().sorted { left, right in
            (left.element.at, left.offset) < (right.element.at, right.offset)
        }.map(\.element)
        var changes = scenario.kinds.map { Array(repeating: [Int32](), count: $0.values.count) }
        for event in self.events where event.isChange {
            let kind = scenario.senders[event.sender].kind
            guard let row = scenario.kinds.firstIndex(where: { $0.kind == kind }) else { continue }
            let at = Int32(event.at - scenario.start)
            let values = event.value.map { $0..<$0 + 1 } ?? 0..<scenario.kinds[row].values.count
            for value in values where changes[row][value].last != at { changes[row][value].append(at) }
        }
        self.changes = changes
        self.start = scenario.start
    }
}

extension EventPattern {
    /// When it happens, in order.
    func instants(over span: Range<Int>, _ dice: inout Dice) -> [Int] {
        let clocks = self.hours.zone.clocks(over: span)
        var instants: [Int] = []
        switch self.form {
        case .steady(let every):
            let step = max(1, Int(every.milliseconds / 1000))
            instants = Array(stride(from: span.lowerBound + step, to: span.upperBound, by: step))
        case .poisson(let perHour):
            var at = Double(span.lowerBound)
            while true {
                at += dice.exponential() * 3600 / perHour
                guard at < Double(span.upperBound) else { break }
                instants.append(Int(at))
            }
        case .burst(let count, let within):
            for at in self.atTimes(span, clocks) {
                let length = Int(within.milliseconds / 1000)
                for _ in 0..<count { instants.append(at + dice.among(0...length)) }
            }
        case .schedule: instants = self.atTimes(span, clocks)
        }
        return instants.filter { span.contains($0) && self.hours.contains($0, clocks) }.sorted()
    }

    /// The instants of the times of day on every day of the span.
    private func atTimes(_ span: Range<Int>, _ clocks: ZoneClocks) -> [Int] {
        let days = (clocks.local(span.lowerBound) / 86_400)...(clocks.local(span.upperBound) / 86_400)
        return days.flatMap { day in self.times.map { clocks.instant(local: day * 86_400 + $0) } }
    }
}

extension OpeningHours {
    /// Whether it is open at an instant. Hours that pass midnight belong to the day on which they begin.
    func contains(_ second: Int, _ clocks: ZoneClocks) -> Bool {
        let local = clocks.local(second)
        let day = local / 86_400
        let time = local % 86_400
        if self.from < self.until {
            return time >= self.from && time < self.until && self.days.contains(CivilTime.weekday(ofDay: day))
        }
        if time >= self.from { return self.days.contains(CivilTime.weekday(ofDay: day)) }
        return time < self.until && self.days.contains(CivilTime.weekday(ofDay: day - 1))
    }

    /// When it opens next, after an instant.
    func nextOpening(after second: Int, _ clocks: ZoneClocks) -> Int {
        let today = clocks.local(second) / 86_400
        for day in today...today + 8 where self.days.contains(CivilTime.weekday(ofDay: day)) {
            let opening = clocks.instant(local: day * 86_400 + self.from)
            if opening > second { return opening }
        }
        return second + 86_400
    }
}

/// Draws one of several numbers, each as often as a popularity says. O(log count).
struct WeightedChoice: Sendable {
    /// The sum of the weights up to and with each number.
    private let sums: [UInt64]

    init(_ popularity: Popularity, count: Int) {
        var sum: UInt64 = 0
        self.sums = (1...max(1, count)).map { number in
            sum += popularity == .zipf ? 1_000_000_000 / UInt64(number) : 1_000_000
            return sum
        }
    }

    init(weights: [Int]) {
        var sum: UInt64 = 0
        self.sums = weights.map { weight in
            sum += UInt64(weight)
            return sum
        }
    }

    func draw(_ dice: inout Dice) -> Int {
        let point = dice.next().multipliedFullWidth(by: self.sums[self.sums.count - 1]).high
        var low = 0
        var high = self.sums.count - 1
        while low < high {
            let middle = (low + high) / 2
            if self.sums[middle] > point { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

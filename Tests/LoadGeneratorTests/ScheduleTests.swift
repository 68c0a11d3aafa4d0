import LoadGenerator
import TestSupport
import Testing

/// Several loads as one schedule.
@Suite struct ScheduleTests {
    private static func all(_ schedule: LoadSchedule) -> [LoadSchedule.Operation] {
        var schedule = schedule
        var operations: [LoadSchedule.Operation] = []
        while let operation = schedule.next(by: .max) { operations.append(operation) }
        return operations
    }

    @Test func `operations come in the order in which they are due, and of one instant in the order of their loads`() {
        let schedule = LoadSchedule(
            [
                (start: 100, process: .burst(count: 3, within: 300)), nil,
                (start: 0, process: .burst(count: 4, within: 400)),
            ],
            seed: 1
        )
        #expect(
            Self.all(schedule).map { [$0.due, Int64($0.load), $0.number] } == [
                [0, 2, 0], [100, 0, 1], [100, 2, 2], [200, 0, 3], [200, 2, 4], [300, 0, 5], [300, 2, 6],
            ]
        )
    }

    @Test func `nothing is handed out before it is due`() {
        var schedule = LoadSchedule([(start: 5, process: .burst(count: 2, within: 20))], seed: 1)
        #expect(schedule.nextDue == 5)
        #expect(schedule.next(by: 4) == nil)
        #expect(schedule.next(by: 5)?.due == 5)
        #expect(schedule.next(by: 14) == nil)
        #expect(schedule.nextDue == 15)
        #expect(schedule.next(by: 15)?.due == 15)
        #expect(schedule.nextDue == nil)
        #expect(schedule.next(by: .max) == nil)
        #expect(schedule.taken == 2)
    }

    @Test(arguments: Seeds.from(0, count: 20)) func `a merged schedule is its loads' own instants, sorted`(seed: UInt64)
    {
        var random = SplitMix64(seed: seed)
        let loads: [(start: Int64, process: ArrivalProcess)?] = (0..<5).map { _ in
            let start = Int64.random(in: 0...1_000_000_000, using: &random)
            let rate = Double.random(in: 1...500, using: &random)
            let curve = RateCurve(from: rate, to: rate / 2, length: 2_000_000_000)
            return (start, Bool.random(using: &random) ? .uniform(curve) : .poisson(curve))
        }
        var expected: [Int64] = []
        for (index, load) in loads.enumerated() {
            guard let load else { continue }
            var arrivals = Arrivals(load.process, seed: seed, number: index)
            while let instant = arrivals.next() { expected.append(instant + load.start) }
        }
        let operations = Self.all(LoadSchedule(loads, seed: seed))
        #expect(operations.map(\.due) == expected.sorted(), "seed \(seed)")
        #expect(operations.map(\.number) == (0..<Int64(expected.count)).map { $0 }, "seed \(seed)")
    }
}

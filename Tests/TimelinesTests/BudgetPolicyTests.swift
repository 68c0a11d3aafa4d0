import TestSupport
import Testing
import WidgetModel

@testable import Timelines

@Suite struct BudgetPolicyTests {
    @Test(arguments: BudgetPolicy.presets)
    func `a preset is valid, has a source and a date, and is found by its name`(preset: BudgetPolicy) {
        #expect(preset.faults() == [])
        #expect(!preset.source.isEmpty)
        #expect(preset.date.count == 10)
        #expect(BudgetPolicy.preset(named: preset.name) == preset)
    }

    @Test(arguments: BudgetPolicy.presets)
    func `a policy comes back as it was written, and no truncation does`(preset: BudgetPolicy) throws {
        let whole = bytes { preset.encode(into: &$0) }
        var reader = ByteReader(whole)
        #expect(try BudgetPolicy(from: &reader) == preset)
        #expect(reader.isAtEnd)
        for length in whole.indices {
            var reader = ByteReader(Array(whole.prefix(length)))
            #expect(throws: ByteError.self) { try BudgetPolicy(from: &reader) }
        }
    }

    @Test func `a tuned window is written and read, and is a fixed one until something is learned`() throws {
        var policy = BudgetPolicy.widgetkit
        policy.window = .tuned
        let whole = bytes { policy.encode(into: &$0) }
        var reader = ByteReader(whole)
        #expect(try BudgetPolicy(from: &reader) == policy)
        let host = HostKey("host")
        let anchor = BudgetPolicy.widgetkit.anchor(of: host)
        #expect(policy.anchor(of: host) == anchor)
        #expect(
            policy.window(containing: noon, anchoredAt: anchor)
                == BudgetPolicy.widgetkit.window(containing: noon, anchoredAt: anchor)
        )
    }

    @Test func `every fault is reported, with its field`() {
        var policy = BudgetPolicy(name: "", source: "", date: "", rare: 0, typical: 3, frequent: 20_000)
        policy.window = .fixed(length: .seconds(90), anchor: .utc)
        policy.burstDivisor = 1
        policy.minimumInterval = .milliseconds(-1)
        policy.exemptInterval = .days(2)
        policy.pushShare = .init(5, of: 4)
        policy.learning = .init(factor: .init(1, of: 2), days: -1)
        #expect(
            policy.faults().map(\.field) == [
                "name", "window", "rare", "frequent", "burstDivisor", "minimumInterval", "exemptInterval", "pushShare",
                "learning.factor", "learning.days",
            ]
        )
        #expect(policy.faults().first == BudgetPolicyError(field: "name", message: "is empty"))
        let whole = bytes { policy.encode(into: &$0) }
        var reader = ByteReader(whole)
        #expect(throws: ByteError.invalid(offset: 0)) { try BudgetPolicy(from: &reader) }
    }

    @Test(
        arguments: [
            (.milliseconds(-1), ["smoothing"]), (.zero, []), (.milliseconds(1), []), (.hours(1), []),
            (.hours(1) + .milliseconds(1), ["smoothing"]),
        ] as [(Interval, [String])]
    )
    func `a slot is 0 to 1 hour, and comes back as it was written`(slot: Interval, faults: [String]) throws {
        var policy = BudgetPolicy.widgetkit
        policy.smoothing = slot
        #expect(policy.faults().map(\.field) == faults)
        for isRolling in [false, true] where faults.isEmpty {
            policy.isRolling = isRolling
            let whole = bytes { policy.encode(into: &$0) }
            var reader = ByteReader(whole)
            #expect(try BudgetPolicy(from: &reader) == policy)
            #expect(reader.isAtEnd)
            for length in whole.indices {
                var reader = ByteReader(Array(whole.prefix(length)))
                #expect(throws: ByteError.self) { try BudgetPolicy(from: &reader) }
            }
        }
        guard !faults.isEmpty else { return }
        var reader = ByteReader(bytes { policy.encode(into: &$0) })
        #expect(throws: ByteError.invalid(offset: 0)) { try BudgetPolicy(from: &reader) }
    }

    @Test(
        arguments: [
            (.init(1, of: 1), []), (.init(3, of: 2), []), (.init(100, of: 1), []),
            (.init(999, of: 1_000), ["lowPower"]),
            (.init(1_001, of: 10), ["lowPower"]), (.init(1, of: 0), ["lowPower"]),
            (.init(2_000, of: 1_001), ["lowPower"]),
        ] as [(BudgetPolicy.Share, [String])]
    )
    func `low power's factor is 1 to 100, and comes back as it was written`(
        factor: BudgetPolicy.Share,
        faults: [String]
    )
        throws
    {
        var policy = BudgetPolicy.widgetkit
        (policy.lowPower, policy.smoothing) = (factor, .minutes(1))
        #expect(policy.faults().map(\.field) == faults)
        let whole = bytes { policy.encode(into: &$0) }
        var reader = ByteReader(whole)
        guard faults.isEmpty else {
            #expect(throws: ByteError.invalid(offset: 0)) { try BudgetPolicy(from: &reader) }
            return
        }
        #expect(try BudgetPolicy(from: &reader) == policy)
        for length in whole.indices {
            var reader = ByteReader(Array(whole.prefix(length)))
            #expect(throws: ByteError.self) { try BudgetPolicy(from: &reader) }
        }
    }

    @Test func `the usual slot takes no byte, so that policies from before there were others read as they did`() throws
    {
        for isRolling in [false, true] {
            var policy = BudgetPolicy.widgetkit
            policy.isRolling = isRolling
            var whole = bytes { policy.encode(into: &$0) }
            #expect(whole.last == (isRolling ? 1 : 0))
            var reader = ByteReader(whole)
            #expect(try BudgetPolicy(from: &reader).smoothing == .minutes(5))
            whole[whole.count - 1] = 8
            var damaged = ByteReader(whole)
            #expect(throws: ByteError.self) { try BudgetPolicy(from: &damaged) }
        }
    }

    @Test(arguments: [(0, 0), (0, 1), (1, 0), (-1, -1), (1, Int.max), (Int.max, Int.max)])
    func `a share that is no fraction above 0 and up to 1 is a fault`(numerator: Int, denominator: Int) {
        var policy = BudgetPolicy.widgetkit
        policy.pushShare = .init(numerator, of: denominator)
        #expect(policy.faults().map(\.field) == ["pushShare"])
    }

    @Test func `allowances that do not rise are a fault`() {
        #expect(BudgetPolicy.widgetkit(allowing: 10_000).faults() == [])
        #expect(BudgetPolicy.widgetkit(allowing: 10_001).faults().map(\.field) == ["rare", "frequent"])
        var policy = BudgetPolicy.widgetkit
        policy.typical = 9
        #expect(policy.faults().map(\.field) == ["typical"])
    }

    @Test func `the first days give half as much again, rounded down`() {
        #expect(BudgetPolicy.widgetkit.learningAllowance(of: 40) == 60)
        #expect(BudgetPolicy.widgetkit.learningAllowance(of: 11) == 16)
        #expect(BudgetPolicy.huaweiForm.learningAllowance(of: 2) == 2)
    }
}

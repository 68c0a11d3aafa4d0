import Simulation
import TestSupport
import Testing

/// The engines with everything around them failing, a thousand seeds of it. `FRESHET_SEEDS` multiplies them.
@Suite struct FaultTests {
    /// So many runs are one test, so that the tests run side by side.
    private static let runsPerTest: UInt64 = 100

    @Test(arguments: Seeds.from(0, count: 10))
    func `whatever is lost, doubled, late or dead, nothing accepted is lost and nothing is charged twice`(
        block: UInt64
    ) throws {
        var (crashes, steps) = (0, 0)
        var occurrences: [Occurrence: Int] = [:]
        for seed in block * Self.runsPerTest..<(block + 1) * Self.runsPerTest {
            var run = FaultRun(seed: seed)
            #expect(try RunningSeed.run(seed, of: "FaultTests") { run.run() } == [])
            crashes += run.crashes
            steps += run.steps
            occurrences.merge(run.occurrences) { $0 + $1 }
        }
        #expect(crashes > 0, "block \(block)")
        #expect(steps > 1000, "block \(block)")
        // A check of an occurrence that never comes shows nothing.
        for occurrence in Occurrence.allCases {
            #expect(occurrences[occurrence, default: 0] > 0, "block \(block): no \(occurrence)")
        }
    }

    @Test(arguments: Mutation.allCases)
    func `a bug that is put in is noticed`(mutation: Mutation) throws {
        let found = try (0..<UInt64(200)).first { seed in
            var run = FaultRun(seed: seed, mutation: mutation)
            return try RunningSeed.run(seed, of: "FaultTests \(mutation)") { !run.run().isEmpty }
        }
        #expect(found != nil, "\(mutation)")
    }

    /// An app's grant and the removal of one of its widgets came in one entry, and the widget came back with what it was granted.
    @Test(arguments: [UInt64(425_853)])
    func `a seed that failed once holds`(seed: UInt64) {
        var run = FaultRun(seed: seed)
        #expect(run.run() == [])
    }

    @Test func `a seed makes the same run every time`() {
        for seed in UInt64(0)..<8 {
            var first = FaultRun(seed: seed, mutation: .losesEffects)
            var second = FaultRun(seed: seed, mutation: .losesEffects)
            #expect(first.run() == second.run(), "seed \(seed)")
            #expect(first.steps == second.steps, "seed \(seed)")
            #expect(first.crashes == second.crashes, "seed \(seed)")
            #expect(first.occurrences == second.occurrences, "seed \(seed)")
        }
    }
}

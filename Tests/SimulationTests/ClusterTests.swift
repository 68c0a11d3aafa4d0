import Simulation
import TestSupport
import Testing

/// Several machines on one log, with everything around them failing, by seed. `FRESHET_SEEDS` multiplies them.
@Suite struct ClusterTests {
    /// So many runs are one test: the rarest occurrence comes in one of a hundred.
    private static let runsPerTest: UInt64 = 500

    @Test(arguments: Seeds.from(0, count: 1))
    func `whatever nodes believe and brokers do, each partition has one history, and nothing accepted is lost`(
        block: UInt64
    ) throws {
        var (crashes, steps) = (0, 0)
        var occurrences: [ClusterOccurrence: Int] = [:]
        for seed in block * Self.runsPerTest..<(block + 1) * Self.runsPerTest {
            var run = ClusterRun(seed: seed)
            #expect(try RunningSeed.run(seed, of: "ClusterTests") { run.run() } == [])
            crashes += run.crashes
            steps += run.steps
            occurrences.merge(run.occurrences) { $0 + $1 }
        }
        #expect(crashes > 0, "block \(block)")
        #expect(steps > 1000, "block \(block)")
        // A check of an occurrence that never comes shows nothing.
        for occurrence in ClusterOccurrence.allCases {
            #expect(occurrences[occurrence, default: 0] > 0, "block \(block): no \(occurrence)")
        }
    }

    @Test(arguments: ClusterBug.allCases)
    func `a bug that is put into a cluster is noticed`(bug: ClusterBug) throws {
        let found = try (0..<UInt64(1000)).first { seed in
            var run = ClusterRun(seed: seed, bug: bug)
            return try RunningSeed.run(seed, of: "ClusterTests \(bug)") { !run.run().isEmpty }
        }
        #expect(found != nil, "\(bug)")
    }

    @Test func `a seed makes the same cluster every time`() {
        for seed in UInt64(0)..<8 {
            var first = ClusterRun(seed: seed, bug: .expectsNothing)
            var second = ClusterRun(seed: seed, bug: .expectsNothing)
            #expect(first.run() == second.run(), "seed \(seed)")
            #expect(first.steps == second.steps, "seed \(seed)")
            #expect(first.occurrences == second.occurrences, "seed \(seed)")
        }
    }
}

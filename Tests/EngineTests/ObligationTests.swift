import Foundation
import Synchronization
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Schedules of everything that there is, held against what the log obliges an engine to, and counted: what they never meet, no
/// property finds anything about.
@Suite struct ObligationTests {
    /// A third has everything, a third keeps to the strict rule and to streams, and a third to a scarce budget for each host.
    private static func schedule(_ seed: UInt64) -> RandomSchedule {
        switch seed % 3 {
        case 0:
            RandomSchedule(seed: seed, settings: RandomSchedule.rolling, hasRare: true, keepsSettings: true)
        case 1:
            RandomSchedule(
                seed: seed,
                settings: RandomSchedule.scarce,
                deliveries: [.apns, .apns, .stream, .webhook],
                hasRare: true,
                keepsSettings: true
            )
        default:
            RandomSchedule(
                seed: seed,
                settings: RandomSchedule.settings[Int(seed % UInt64(RandomSchedule.settings.count))],
                deliveries: [.apns, .apns, .stream, .webhook],
                hasRare: true
            )
        }
    }

    private static func check(_ seed: UInt64) throws -> (faults: [String], coverage: ScheduleCoverage) {
        var schedule = Self.schedule(seed)
        schedule.scene.checks = false
        schedule.run(steps: 600)
        var check = ObligationCheck(
            repeatsMax: RandomSchedule.narrow.repeatEntriesMax,
            isRolling: seed.isMultiple(of: 3)
        )
        let cut = Int(seed &* 7 % UInt64(schedule.scene.log.count))
        for (index, entry) in schedule.scene.log.enumerated() {
            try check.apply(entry)
            if index == cut { check.readBack() }
        }
        if check.engine.runningHash != schedule.scene.engine.runningHash
            || check.engine.stateDigest() != schedule.scene.engine.stateDigest()
        {
            return (check.faults + ["what was read back went on otherwise"], check.coverage)
        }
        return (check.faults + check.engine.checkInvariants(), check.coverage)
    }

    @Test func `schedules of everything keep what the log obliges to, and meet all that there is`() async throws {
        let seeds = Array(Seeds.from(2001, count: 64)) + [2108, 2138, 2218, 2219, 4736, 18492, 23260]
        let workers = max(1, ProcessInfo.processInfo.activeProcessorCount)
        let coverage = try await withThrowingTaskGroup(of: ScheduleCoverage.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var coverage = ScheduleCoverage()
                    for index in stride(from: worker, to: seeds.count, by: workers) {
                        let (faults, met) = try Self.check(seeds[index])
                        if !faults.isEmpty { #expect(Array(faults.prefix(5)) == [], "seed \(seeds[index])") }
                        coverage.add(met)
                    }
                    return coverage
                }
            }
            var all = ScheduleCoverage()
            for try await coverage in group { all.add(coverage) }
            return all
        }
        let variables = ProcessInfo.processInfo.environment
        let least = variables["FRESHET_COVERAGE_MIN"].flatMap { Int($0) }
        if least != nil { print(coverage.table) }
        #expect(coverage.missing(least: least) == [])
        #expect(coverage.impossible == [])
    }
}

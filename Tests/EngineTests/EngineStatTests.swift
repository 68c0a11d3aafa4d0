import Engine
import Testing
import WidgetModel

/// The one list of what an engine counts.
@Suite struct EngineStatTests {
    @Test func `each number is declared once, under a name of its own`() {
        let names = EngineStat.all.map { "\($0.group) \($0.name)" }
        #expect(Set(names).count == names.count)
        #expect(Set(EngineStat.all.map { $0.member as AnyKeyPath }).count == EngineStat.all.count)
        let metrics = EngineStat.all.compactMap(\.metric).map { "\($0.name) \($0.label?.value ?? "")" }
        #expect(Set(metrics).count == metrics.count)
    }

    /// A member that is added and not declared would be missing from sums, snapshots and answers.
    @Test func `every member that is a number is declared`() {
        var stats = EngineStats()
        for stat in EngineStat.all { stats[keyPath: stat.member] = 7 }
        let numbers = Mirror(reflecting: stats).children.filter { $0.value is Int }
        #expect(numbers.count == EngineStat.all.count)
        #expect(numbers.allSatisfy { $0.value as? Int == 7 })
    }

    @Test func `a sum has every number of every partition`() {
        var stats = EngineStats()
        for (index, stat) in EngineStat.all.enumerated() { stats[keyPath: stat.member] = index + 1 }
        stats.reloadsByCause[1] = 5
        stats.reloadsExempt[2] = 6
        stats.outcomes[.expired] = 3
        stats.decisions = 9
        (stats.position, stats.time) = (LogPosition(4), Instant(seconds: 8))
        let sum = EngineStats(sumOf: [stats, EngineStats(), stats])
        for (index, stat) in EngineStat.all.enumerated() { #expect(sum[keyPath: stat.member] == 2 * (index + 1)) }
        #expect(sum.reloadsByCause[1] == 10 && sum.reloadsExempt[2] == 12)
        #expect(sum.outcomes[.expired] == 6 && sum.decisions == 18)
        #expect(sum.position == LogPosition(4) && sum.time == Instant(seconds: 8))
    }
}

import APNSWire
import LoadGenerator
import TestSupport
import Testing
import WidgetModel

/// Two runs beside each other, and the verdicts on their differences.
@Suite struct ComparisonTests {
    private static let second: Int64 = 1_000_000_000

    /// The report of pushes whose latencies are given, in milliseconds, ten a second; nil for one that failed.
    private static func report(_ latencies: [Double?]) throws -> JSONValue {
        var tally = LoadTally(loads: 1, interval: Self.second)
        for (index, latency) in latencies.enumerated() {
            let intended = Int64(index) * Self.second / 10
            tally.due(0, at: intended)
            tally.sent(0, late: 0, wasHeldBack: false)
            if let latency {
                tally.answered(0, intended: intended, at: intended + Int64(latency * 1e6))
            } else {
                tally.failed(0, LoadTally.Failure(status: 503, reason: "busy"), intended: intended)
            }
        }
        var scenario = LoadScenario()
        scenario.length = Int64(latencies.count) * Self.second / 10
        scenario.loads = [Load(name: "pushes", kind: .pushes, process: nil)]
        let outcome = LoadOutcome(tally: tally, began: 0, elapsed: scenario.length, cpu: 0, failure: nil)
        return try JSONReader().parse(LoadReport(scenario, outcome, server: nil, target: "localhost:1").jsonText)
    }

    /// Latencies of a server that takes 10 to 20 ms, and sometimes ten times as long.
    private static func latencies(_ count: Int, seed: UInt64, times: Double = 1) -> [Double?] {
        var dice = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            let latency = 10 + Double(dice.next() % 1000) / 100
            return (dice.next() % 50 == 0 ? latency * 10 : latency) * times
        }
    }

    private static func row(_ name: String, _ comparison: LoadComparison) throws -> LoadComparison.Row {
        try #require(comparison.rows.first { $0.name == name })
    }

    @Test func `a comparison says what has become worse, and by how much`() throws {
        let before = try Self.report(Self.latencies(600, seed: 1))
        let after = try Self.report(Self.latencies(600, seed: 1, times: 3))
        let comparison = try LoadComparison(before, after)
        let median = try Self.row("pushes accepted p50", comparison)
        #expect(abs((median.ratio ?? 0) - 3) < 0.01)
        let interval = try #require(median.interval)
        #expect(interval.contains(median.difference) && interval.lowerBound > 20_000 && interval.upperBound < 40_000)
        #expect(median.verdict == .worse)
        #expect(comparison.worse(than: 2.1) == [])
        #expect(
            Set(comparison.worse(than: 1.9).map(\.name)).isSuperset(of: ["pushes accepted p50", "pushes accepted p99"])
        )
        #expect(comparison.worse(than: 1.9, only: "p99").map(\.name) == ["pushes accepted p99"])
        // The other way round nothing is worse.
        let back = try LoadComparison(after, before)
        #expect(back.worse(than: 0.01) == [])
        #expect(try Self.row("pushes accepted p50", back).verdict == .better)
        #expect(comparison.text.contains("pushes accepted p50"))
    }

    @Test func `two runs of the same server show no difference, and the same runs the same intervals`() throws {
        let before = try Self.report(Self.latencies(600, seed: 1))
        let after = try Self.report(Self.latencies(600, seed: 2))
        let comparison = try LoadComparison(before, after)
        for name in ["pushes accepted p50", "pushes accepted p90", "pushes failed, share", "answered a second"] {
            let row = try Self.row(name, comparison)
            #expect(row.verdict == .noDifferenceShown, "\(row)")
        }
        #expect(try LoadComparison(before, after).rows == comparison.rows)
        let rate = try Self.row("answered a second", comparison)
        #expect(rate.interval?.contains(rate.difference) == true)
        // Of the longest latency no interval can be drawn, nor of what less than one operation lies beyond.
        #expect(try Self.row("pushes accepted p99.9", comparison).verdict == .untested)
        #expect(try Self.row("pushes accepted p99", comparison).interval != nil)
        #expect(try Self.row("pushes accepted max", comparison).verdict == .untested)
    }

    /// How often an interval holds the difference that is there: the bootstrap's own promise, on forty pairs of runs.
    @Test func `nineteen in twenty intervals hold the true difference`() throws {
        var held = 0
        let pairs = 40
        for pair in 0..<pairs {
            let before = try Self.report(Self.latencies(150, seed: UInt64(2 * pair + 1)))
            let after = try Self.report(Self.latencies(150, seed: UInt64(2 * pair + 2), times: 1.2))
            let interval = try #require(try Self.row("pushes accepted p50", try LoadComparison(before, after)).interval)
            // The median of 10 to 20 ms, of which one in fifty is elsewhere: 15.1 ms.
            if interval.contains(0.2 * 15_100) { held += 1 }
        }
        #expect(held >= 34, "\(held) of \(pairs)")
    }

    @Test(arguments: [(70, LoadComparison.Verdict.untested), (80, .worse)])
    func `fewer intervals than eight say nothing`(count: Int, verdict: LoadComparison.Verdict) throws {
        let before = try Self.report(Self.latencies(count, seed: 1))
        let after = try Self.report(Self.latencies(count, seed: 1, times: 3))
        #expect(try Self.row("pushes accepted p50", try LoadComparison(before, after)).verdict == verdict)
    }

    @Test func `a server that begins to fail is worse, whatever its answers take`() throws {
        let before = try Self.report(Self.latencies(600, seed: 1))
        let after = try Self.report(Self.latencies(600, seed: 1).enumerated().map { $0 % 4 == 0 ? nil : $1 })
        let comparison = try LoadComparison(before, after)
        let tail = try Self.row("pushes accepted p99", comparison)
        #expect(tail.after == .infinity && tail.verdict == .worse)
        #expect(try Self.row("pushes failed, share", comparison).verdict == .worse)
        #expect(try Self.row("answered a second", comparison).verdict == .worse)
        let json = try JSONReader().parse(comparison.jsonText)
        guard case .array(let figures)? = json["figures"] else {
            Issue.record("no figures")
            return
        }
        let figure = try #require(figures.first { $0["figure"] == .string("pushes accepted p99") })
        #expect(figure["after"] == .string("never") && figure["difference"] == .string("never"))
        #expect(figure["verdict"] == .string("worse"))
        #expect(figure["interval"] == .array([.string("never"), .string("never")]))
    }

    @Test func `what never came is compared as later than anything`() throws {
        func report(_ p50: String) throws -> JSONValue {
            let load = #"{"name":"a","latencyMicroseconds":{"accepted":{"p50":\#(p50)}}}"#
            return try JSONReader().parse(Array(#"{"schema":3,"loads":[\#(load)]}"#.utf8))
        }
        let worse = try LoadComparison(try report("20"), try report(#""never""#))
        #expect(worse.worse(than: 1000).map(\.name) == ["a accepted p50"])
        #expect(worse.text.contains("never"))
        #expect(try LoadComparison(try report(#""never""#), try report("20")).worse(than: 0) == [])
        #expect(try LoadComparison(try report(#""never""#), try report(#""never""#)).worse(than: 0) == [])
    }

    @Test(arguments: [
        "1e300", "-1e300", "5e-324", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
    ])
    func `figures that no run has are compared, or passed over`(number: String) throws {
        let reader = JSONReader()
        func report(_ number: String) throws -> JSONValue {
            let interval = #"{"unreached":\#(number),"buckets":[[\#(number),1],[5,\#(number)]]}"#
            let intervals = Array(repeating: interval, count: 9).joined(separator: ",")
            let stage =
                #"{"intervals":[\#(intervals)],"p50":\#(number),"p90":\#(number),"p99":1,"p99.9":\#(number),"max":\#(number)}"#
            let load =
                #"{"name":"a","due":\#(number),"failed":\#(number),"latencyMicroseconds":{"accepted":\#(stage)}}"#
            let text =
                #"{"schema":3,"intervalSeconds":\#(number),"scenario":{"lengthSeconds":\#(number)},"loads":[\#(load)],"#
                + #""answeredPerSecond":\#(number)}"#
            return try reader.parse(Array(text.utf8))
        }
        for (before, after) in [(number, "1"), ("1", number), (number, number), ("0", number)] {
            let comparison = try LoadComparison(try report(before), try report(after))
            #expect(comparison.text.contains("a accepted p99"))
            #expect(comparison.worse(than: 0.1).count <= comparison.rows.count)
        }
    }

    @Test func `what is no report is refused`() {
        let error = #expect(throws: LoadError.self) { try LoadComparison(.object([]), .object([])) }
        #expect(error?.message == "the first file is no report of freshet bench --json, or one of another version")
    }
}

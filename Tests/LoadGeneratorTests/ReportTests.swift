import APNSWire
import LoadGenerator
import ReportPages
import Testing
import WidgetModel

/// Objectives and reports.
@Suite struct ReportTests {
    private static let second: Int64 = 1_000_000_000

    private static func scenario(_ objectives: [String]) throws -> LoadScenario {
        var scenario = LoadScenario()
        scenario.name = "Goals & <others>"
        scenario.loads = [
            Load(
                name: "pushes",
                kind: .pushes,
                process: .uniform(RateCurve(from: 10, to: 10, length: 10 * Self.second))
            ),
            Load(name: "goal", kind: .targeted, process: .burst(count: 1, within: 1)),
        ]
        scenario.objectives = try objectives.map { try #require(Objective($0, loads: ["pushes", "goal"])) }
        return scenario
    }

    /// A hundred pushes of which the n-th took n milliseconds, and a goal that failed.
    private static func report(_ objectives: [String] = [], slower: Int64 = 1) throws -> LoadReport {
        var tally = LoadTally(loads: 2, interval: Self.second)
        for number in 1...100 {
            let intended = Int64(number - 1) * 100_000_000
            tally.due(0, at: intended)
            tally.sent(0, late: 0, wasHeldBack: false)
            tally.answered(0, intended: intended, at: intended + Int64(number) * 1_000_000 * slower)
        }
        tally.due(1, at: 0)
        tally.sent(1, late: 0, wasHeldBack: false)
        tally.failed(1, LoadTally.Failure(status: 409, reason: "too-many-matched"), intended: 0)
        let outcome = LoadOutcome(tally: tally, began: 0, elapsed: 10 * Self.second, cpu: Self.second / 2, failure: nil)
        let server = LoadReport.Server(cpu: Self.second, resident: 1)
        return LoadReport(try self.scenario(objectives), outcome, server: server, target: "localhost:1")
    }

    @Test(arguments: [
        ("pushes accepted p50 <= 51ms", true), ("pushes accepted p50 <= 49ms", false), ("accepted p99 >= 98ms", true),
        ("pushes accepted max <= 100.1ms", true), ("pushes accepted max <= 99ms", false),
        // Of all loads together one operation failed: it was later than any bound.
        ("accepted p99 <= 100.1ms", true), ("accepted max <= 1h", false), ("errors <= 1%", true),
        ("errors <= 0.5%", false), ("errors <= 0", false), ("answered >= 99%", true), ("answered >= 99.5%", false),
        ("behind <= 0", true),
        // There is nothing to judge it by.
        ("goal accepted p50 <= 1h", false), ("pushes shown p50 <= 1h", false),
    ])
    func `an objective is met or missed`(text: String, isMet: Bool) throws {
        let report = try Self.report([text])
        #expect(report.results.map(\.isMet) == [isMet])
        #expect(report.isMet == isMet)
        #expect(report.text.contains(isMet ? "met     \(text)" : "MISSED  \(text)"))
    }

    @Test(arguments: [
        "", "accepted", "accepted p50", "accepted p50 <=", "accepted p50 <= 5", "accepted p101 <= 5ms",
        "accepted p0 <= 5ms",
        "nobody accepted p50 <= 5ms", "accepted p50 < 5ms", "errors <= -1", "errors <= five", "errors pushes <= 1",
        "p50 <= 1ms", "seen p50 <= 1ms",
    ])
    func `what is no objective is refused`(text: String) {
        #expect(Objective(text, loads: ["pushes"]) == nil)
    }

    @Test func `the JSON has the counts, the latencies and the judgement`() throws {
        let json = try JSONReader().parse(try Self.report(["errors <= 5%"]).jsonText)
        #expect(json["schema"] == .int(3))
        #expect(json["isMet"] == .bool(true))
        guard case .array(let loads)? = json["loads"] else {
            Issue.record("no loads")
            return
        }
        #expect(loads.map { $0["name"] } == [.string("pushes"), .string("goal")])
        #expect(loads.map { $0["answered"] } == [.int(100), .int(0)])
        #expect(loads[0]["latencyMicroseconds"]?["accepted"]?["count"] == .int(100))
        guard case .array(let failures)? = loads[1]["failures"] else {
            Issue.record("no failures")
            return
        }
        #expect(failures.map { $0["status"] } == [.int(409)])
        #expect(loads[1]["latencyMicroseconds"]?["accepted"]?["unreached"] == .int(1))
        #expect(loads[1]["latencyMicroseconds"]?["accepted"]?["p50"] == .string("never"))
        #expect(loads[1]["decided"] == .null)
        #expect(failures.map { $0["reason"] } == [.string("too-many-matched")])
        #expect(json["server"]?["answeredPerCPUSecond"] == .double(100))
        #expect(json["generator"]?["answeredPerCPUSecond"] == .double(200))
    }

    @Test func `the page stands alone, with the report inside and its names escaped`() throws {
        let report = try Self.report(["errors <= 5%"])
        let page = report.page.text(chartScript: nil)
        #expect(page.hasPrefix("<!doctype html>"))
        #expect(page.contains("<title>Goals &amp; &lt;others&gt; – Freshet</title>"))
        for forbidden in ["http:", "https:", "src=", "href=\"", "<link", "<others>", "import "] {
            #expect(!page.contains(forbidden), "\(forbidden)")
        }
        let json = String(decoding: report.jsonText, as: UTF8.self)
        #expect(page.contains(json.split(separator: "<").joined(separator: "\\u003c")))
    }

    @Test func `nothing in a library can end its element`() throws {
        let page = try Self.report().page.text(
            chartScript: "const a = '</script><p id=made>', b = '<!--', c = '@json@'"
        )
        #expect(page.contains(#"'<\/script><p id=made>', b = '<\!--', c = '@json@'"#))
        #expect(page.ranges(of: "</script>").count == 3)
        #expect(page.contains("data-chart=\"yes\""))
    }

    @Test func `the intervals of the JSON add up to the whole`() throws {
        let json = try JSONReader().parse(try Self.report().jsonText)
        guard case .array(let loads)? = json["loads"],
            case .array(let intervals)? = loads[0]["latencyMicroseconds"]?["accepted"]?["intervals"]
        else {
            Issue.record("no intervals")
            return
        }
        #expect(intervals.count == 10)
        var sum: Int64 = 0
        for interval in intervals {
            guard case .array(let buckets)? = interval["buckets"] else { continue }
            for case .array(let pair) in buckets { if case .int(let count) = pair[1] { sum += count } }
        }
        #expect(sum == 100)
        #expect(loads[0]["dueByInterval"] == .array(Array(repeating: .int(10), count: 10)))
        #expect(json["latencyMicroseconds"]?["accepted"]?["count"] == .int(101))
    }
}

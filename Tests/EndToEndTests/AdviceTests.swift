import Foundation
import Testing

/// The dashboard's advice, from the numbers alone: its rules, run by Node.js.
@Suite struct AdviceTests {
    private struct Advice: Decodable, Equatable {
        let level: String
        let text: String
    }

    @Test(
        arguments: [
            (
                #"{"of": {"app": "a.b"}, "since": "2026-11-25", "by": "night", "isConfigured": true}"#,
                "Paused: a.b, since "
            ),
            (
                #"{"of": {"app": "a.b", "kind": "k"}, "since": "2026-11-25", "isConfigured": false}"#,
                "Paused: k of a.b (no longer in the configuration), since "
            ),
            (
                #"{"of": {"sender": "TEAM"}, "since": "2026-11-25", "isConfigured": true}"#,
                "Paused: Pushes of TEAM, since "
            ),
        ]
    )
    func `what is paused is said above every view`(order: String, sentence: String) async throws {
        let said = try await DashboardRules.run("pauseText(\(order))", as: String.self)
        #expect(said.hasPrefix(sentence) && said.hasSuffix("until an operator resumes it."), "\(said)")
        #expect(said.contains(" by night") == order.contains("night"))
    }

    private static func health(_ state: String, _ more: String = "") -> String {
        """
        {"state": "\(state)", "attempts": 9, "waiting": 3, "oldestWaitingSeconds": 90, "troubleSince": "2026-11-25T10:00:00Z",
         "lastAnswer": {"result": "failure", "at": "2026-11-25T10:01:00Z", "status": 503, "reason": "ServiceUnavailable"}\(more)}
        """
    }

    @Test(arguments: ["upstreams", "webhooks", "receipts"])
    func `what takes nothing is something to do, what failed once is not`(list: String) async throws {
        for (state, isTold) in [("inTrouble", true), ("failing", false), ("well", false), ("untried", false)] {
            let places = #"{"\#(list)": [{"name": "The target of a.b", "health": \#(Self.health(state))}]}"#
            let found = try await DashboardRules.run("advice({ stats: {}, places: \(places) })", as: [Advice].self)
            #expect(found.count == (isTold ? 1 : 0))
            #expect(found.allSatisfy { $0.level == "bad" && $0.text.hasPrefix("The target of a.b has failed since ") })
        }
    }

    @Test func `a timeline provider that is down is something to do, with what it said and what waits`() async throws {
        let provider = #"{"name": "The timeline provider of k of a.b", "health": \#(Self.health("inTrouble"))}"#
        let said = try await DashboardRules.run(
            "advice({ stats: {}, providers: [\(provider)] }).map((one) => one.text + one.act)",
            as: [String].self
        )
        #expect(said.count == 1)
        #expect(said[0].hasPrefix("The timeline provider of k of a.b has failed since "), "\(said)")
        #expect(said[0].contains("Its last answer: 503 ServiceUnavailable at "), "\(said)")
        #expect(said[0].hasSuffix(" 3 wait, the oldest for 1 min 30 s."), "\(said)")
    }

    private struct Verdict: Decodable, Equatable {
        let level: String
        let word: String
        let text: String
        let why: String
        let link: String?
    }

    /// The stats with so many of a thousand widgets behind.
    private static func row(
        _ behind: Int,
        late: Int,
        _ burnRate: Double,
        _ reasons: String = "{}",
        oldest: Int = 3720,
        missed: [String] = []
    ) -> String {
        """
        {"freshness": {"goal": "95% within 15m", "goalShare": 0.95, "goalSeconds": 900, "instances": 1000, "behind": \(behind),
          "late": \(late), "share": 0.5, "isMet": \(burnRate <= 1), "burnRate": \(burnRate), "oldestSeconds": \(oldest), "reasons": \(reasons),
          "missed": [\(missed.joined(separator: ","))]}}
        """
    }

    /// An app, or a kind of it, of which all forty widgets are late.
    private static func missed(_ app: String, kind: String? = nil, burnRate: Double) -> String {
        """
        {"app": "\(app)", \(kind.map { #""kind": "\#($0)","# } ?? "") "burnRate": \(burnRate), "instances": 40, "behind": 40, "late": 40,
         "oldestSeconds": 86400, "reasons": {"hostAway": 40}}
        """
    }

    private func verdict(_ stats: String) async throws -> Verdict {
        try await DashboardRules.run("freshness(\(stats))", as: Verdict.self)
    }

    @Test func `the headline is judged by what is behind, says why, and leads to the list`() async throws {
        let none = try await self.verdict(#"{"freshness": {"instances": 0, "behind": 0, "late": 0, "reasons": {}}}"#)
        #expect(none.word == "Not known" && none.level.isEmpty && none.link == nil)
        #expect(try await self.verdict("{}").word == "Not known")

        let all = try await self.verdict(Self.row(0, late: 0, 0))
        #expect(
            all.level == "good" && all.word == "Fresh" && all.text == "None of the 1,000 widgets waits for newer data."
        )
        #expect(all.link == nil)

        let waiting = try await self.verdict(Self.row(9, late: 0, 0, #"{"budget": 8, "paused": 1}"#))
        #expect(waiting.level == "good")
        #expect(waiting.text == "9 of 1,000 widgets are behind, none for more than 15 min.")
        #expect(waiting.why == "8 wait for their budgets, 1 is paused")
        #expect(waiting.link == "#/instances?state=behind")

        #expect(try await self.verdict(Self.row(50, late: 0, 0)).word == "Fresh")
        let catchingUp = try await self.verdict(Self.row(51, late: 0, 0))
        #expect(catchingUp.word == "Catching up" && catchingUp.level.isEmpty)

        let within = try await self.verdict(Self.row(60, late: 50, 1))
        #expect(
            within.level == "good" && within.text.hasSuffix("the longest for 1 h 2 min. The goal allows 5 %."),
            "\(within)"
        )
        let missed = try await self.verdict(
            Self.row(60, late: 51, 1.02, #"{"provider": 51, "budget": 5, "hostAway": 2, "paused": 2}"#)
        )
        #expect(missed.level == "warn" && missed.word == "Getting old")
        #expect(missed.text == "51 of 1,000 widgets have been behind for more than 15 min, the longest for 1 h 2 min.")
        #expect(
            missed.why
                == "51 wait for a timeline provider in trouble, 5 wait for their budgets, 2 are on hosts that are away, 2 more"
        )
        #expect(missed.link == "#/instances?state=behind&olderThan=900s")
        #expect(try await self.verdict(Self.row(100, late: 100, 2)).word == "Getting old")
        #expect(try await self.verdict(Self.row(101, late: 101, 2.02)).word == "Stale")
        let old = try await self.verdict(Self.row(101, late: 101, 2.02, oldest: 90_000))
        #expect(old.text.hasSuffix("the longest for more than 25 hours."), "\(old)")
    }

    /// A small app of which every widget is late, among fresh ones: the goal is met in all, and the log and the alert tell of the app.
    @Test(
        arguments: [(nil, 20, "bad", "Partly stale"), (nil, 2, "warn", "Partly old"), ("k", 20, "warn", "Partly old")]
            as [(String?, Double, String, String)]
    )
    func `an app or kind that misses the goal is something to do, and the headline names it`(
        kind: String?,
        burnRate: Double,
        level: String,
        word: String
    ) async throws {
        let missed = Self.missed("a.b", kind: kind, burnRate: burnRate)
        let stats = Self.row(40, late: 40, 0.8, #"{"hostAway": 40}"#, missed: [missed])
        let name = kind.map { "\($0) of a.b" } ?? "a.b"
        let headline = try await self.verdict(stats)
        #expect(headline.level == level && headline.word == word)
        #expect(headline.text.hasSuffix(" The goal is missed by \(name)."), "\(headline)")
        let found = try await self.advice(stats)
        let text = "40 of 40 widgets of \(name) have been behind for more than 15 min, the longest for 24 h."
        #expect(found == [Advice(level: level, text: text)])
    }

    @Test func `each app that misses the goal is something to do, and the headline counts them`() async throws {
        let all = ["a.b", "c.d", "e.f"].map { Self.missed($0, burnRate: 20) }
        let stats = Self.row(120, late: 120, 2.4, #"{"hostAway": 120}"#, missed: all)
        let headline = try await self.verdict(stats)
        #expect(headline.word == "Stale" && headline.text.hasSuffix(" The goal is missed by a.b and 2 more."))
        #expect(try await self.advice(stats).map(\.level) == ["bad", "bad", "bad"])
        let links = try await DashboardRules.run(
            "advice({ stats: \(stats) }).map((one) => one.link[0])",
            as: [String].self
        )
        #expect(links.first == "#/instances?app=a.b&state=behind&olderThan=900s")
    }

    @Test func `every reason that the gateway gives has its words`() async throws {
        let known = try await DashboardRules.run("Object.keys(behindReasons)", as: [String].self)
        let document = try String(contentsOfFile: "\(TestGateway.root)/docs/openapi.yaml", encoding: .utf8)
        let named = try #require(document.firstMatch(of: /BehindReason:\n[^\[]*?enum: \[([^\]]+)\]/)).output.1
        #expect(Set(known) == Set(named.split(separator: ", ").map(String.init)))
    }

    @Test func `the faults of a cluster are something to do, in the gateway's words`() async throws {
        func said(_ troubles: String) async throws -> [Advice] {
            let cluster = #"{"nodes": [], "partitions": [], "troubles": [\#(troubles)]}"#
            return try await DashboardRules.run("advice({ stats: {}, cluster: \(cluster) })", as: [Advice].self)
        }
        #expect(try await said("").isEmpty)
        let bad = #"{"level": "bad", "text": "Partition 1 cannot go on.", "act": "Restart its owner."}"#
        let warn = #"{"level": "warn", "text": "1 stream is not whole on every broker.", "act": "Wait."}"#
        let found = try await said("\(bad), \(warn)")
        #expect(found.map(\.level) == ["bad", "warn"])
        #expect(found.map(\.text) == ["Partition 1 cannot go on.", "1 stream is not whole on every broker."])
    }

    /// An answer of `GET /v1/budget` with so many kinds, of which the first `spent` have too little budget.
    private static func budget(kinds: Int, spent: Int) -> String {
        let rows = (0..<kinds).map { number in
            #"{"app": "a.b", "kind": "k \#(number)", "instances": 100, "exhausted": \#(number < spent ? 30 : 25), "isSpent": \#(number < spent)}"#
        }
        return """
            {"survey": {}, "instances": \(kinds * 100), "exhausted": \(kinds * 25 + spent * 5), "kinds": [\(rows.joined(separator: ","))]}
            """
    }

    @Test(arguments: [0, 1, 3, 4, 15])
    func `the kinds without budgets are something to do, three of them each and how many more there are`(spent: Int)
        async throws
    {
        let words = "advice({ stats: {}, budget: \(Self.budget(kinds: 16, spent: spent)) })"
        let said = try await DashboardRules.run("\(words).map((one) => one.text)", as: [String].self)
        let links = try await DashboardRules.run("\(words).map((one) => one.link[0])", as: [String].self)
        guard spent > 0 else {
            let text = "25 % of the widgets have used up the budget of their window."
            return #expect(said == [text] && links == ["#/apps"])
        }
        var expected = (0..<min(3, spent)).map {
            "30 of 100 widgets of k \($0) of a.b have used up the budget of their window."
        }
        var places = (0..<min(3, spent)).map { "#/apps?app=a.b&kind=k+\($0)" }
        if spent > 3 {
            let kinds = spent == 4 ? "1 more kind has" : "12 more kinds have"
            expected.append("\(kinds) many widgets without a budget.")
            places.append("#/apps")
        }
        #expect(said == expected && links == places)
    }

    @Test(
        arguments: [
            (reloaded: 75, expired: 25, failed: 0, said: nil),
            (74, 24, 2, "26 of 100 matches that ended within an hour were not shown: 24 expired, 2 failed."),
            (0, 0, 1, "1 of 1 match that ended within an hour was not shown: 0 expired, 1 failed."),
            (0, 0, 0, nil),
        ] as [(reloaded: Int, expired: Int, failed: Int, said: String?)]
    )
    func `matches that ended unshown are something to do, with the pushes`(
        reloaded: Int,
        expired: Int,
        failed: Int,
        said: String?
    ) async throws {
        let minutes = """
            [{"at": "2026-11-25T09:00:00Z", "failed": 1000},
             {"at": "2026-11-25T09:01:00Z", "reloaded": \(reloaded), "expired": \(expired), "deferred": 900},
             {"at": "2026-11-25T10:00:00Z", "failed": \(failed), "issued": 900}]
            """
        let words = #"advice({ stats: { asOf: "2026-11-25T10:00:00Z" }, minutes: \#(minutes) })"#
        let found = try await DashboardRules.run(words, as: [Advice].self)
        #expect(found == (said.map { [Advice(level: "warn", text: $0)] } ?? []))
        let links = try await DashboardRules.run("\(words).map((one) => one.link[0])", as: [String].self)
        #expect(links == (said.map { _ in ["#/pushes?outcome=\(expired >= failed ? "expired" : "failed")"] } ?? []))
    }

    private struct Mark: Decodable, Equatable {
        let at: String
        let kind: String
        let text: String
    }

    @Test func `a mark says since when the gateway was away, and who gave an order`() async throws {
        let what = """
            [{"at": "2026-11-25T10:29:00Z", "kind": "start", "text": "The gateway was started", "awaySince": "2026-11-25T10:02:00Z"},
             {"at": "2026-11-25T10:41:30Z", "kind": "order", "text": "Paused k of a.b", "by": "night"},
             {"at": "2026-11-25T10:41:40Z", "kind": "order", "text": "Resumed k of a.b"}]
            """
        let marks = try await DashboardRules.run("marksOf(\(what))", as: [Mark].self)
        #expect(marks.map(\.kind) == ["start", "order", "order"])
        #expect(marks[0].text.hasPrefix("The gateway was started; it was away since "))
        #expect(marks.dropFirst().map(\.text) == ["Paused k of a.b by night.", "Resumed k of a.b."])
        #expect(try await DashboardRules.run("marksOf()", as: [Mark].self) == [])
    }

    private func advice(_ stats: String) async throws -> [Advice] {
        try await DashboardRules.run("advice({ stats: \(stats) })", as: [Advice].self)
    }

    private static func stats(_ secondsAgo: Int) -> String {
        """
        {"ready": true, "listeners": {"push": {"cutOff":
            {"maxWindowUpdates": {"times": 3, "peer": "192.0.2.7:5", "secondsAgo": \(secondsAgo)}}}, "ops": {}}}
        """
    }

    @Test func `a configuration that was refused, an old backup and many dead tokens are something to do`() async throws
    {
        #expect(try await self.advice(#"{"configuration": {"result": "loaded"}}"#) == [])
        let refused = try await self.advice(#"{"configuration": {"result": "refused", "faults": 2}}"#)
        let kept = "The newest configuration was refused; the previous one stays in force."
        #expect(refused == [Advice(level: "warn", text: kept)])
        for (at, told) in [("04T00:00:00Z", []), ("04T00:00:01Z", ["The last backup is 2 days old."])] {
            let stats =
                #"{"asOf": "2026-11-\#(at)", "storage": {"level": "ample", "lastBackup": "2026-11-02T00:00:00Z"}}"#
            #expect(try await self.advice(stats).map(\.text) == told)
        }
        let overdue = #"{"snapshots": {"overdue": [{"partition": 3, "since": "2026-11-02T00:00:00Z"}]}}"#
        let late = try #require(try await self.advice(overdue).first)
        #expect(late.text.hasPrefix("1 partition has had no snapshot since "))
        for (gone, told) in [(1, []), (2, ["Upstreams refused 2 of 11 push tokens as invalid."])] {
            let stats = #"{"deliveries": {"apns": {"gone": \#(gone), "delivered": 9}}}"#
            #expect(try await self.advice(stats).map(\.text) == told)
        }
    }

    @Test(arguments: [0, 3600])
    func `connections that a limit has ended are something to look at, for an hour`(secondsAgo: Int) async throws {
        let found = try await self.advice(Self.stats(secondsAgo))
        let ago = secondsAgo == 0 ? "1 s" : "1 h"
        let text = "Connections of push that the limit maxWindowUpdates ended: 3, the last from 192.0.2.7:5 \(ago) ago."
        #expect(found == [Advice(level: "warn", text: text)])
        #expect(try await self.advice(Self.stats(3601)) == [])
    }
}

import Settings
import Testing
import WidgetModel

/// The goal of freshness: its text, and its burn rate.
@Suite struct FreshnessGoalTests {
    private static func configured(_ text: String) throws -> GatewayConfiguration {
        let listener = "listeners: {push: {enabled: false}, host: {enabled: false}}"
        return try ConfigurationFile.parse("\(text)\n\(listener)").configuration
    }

    @Test func `by default 95 % of the widgets are to be within 15 minutes`() throws {
        let goal = try Self.configured("").freshnessGoal
        #expect((goal.share, goal.within) == (9_500, .minutes(15)))
        #expect(goal.text == "95% within 15m")
    }

    @Test(
        arguments: [
            ("1% within 1m", 100, .minutes(1)), ("99.99% within 24h", 9_999, .day),
            ("99.9% within 90m", 9_990, .minutes(90)),
            ("50.05% within 60s", 5_005, .minutes(1)), ("95% within 1d", 9_500, .day),
        ] as [(String, Int, Interval)]
    )
    func `a goal is a share and a time in whole minutes`(text: String, share: Int, within: Interval) throws {
        let configuration = try Self.configured("freshness: {goal: \(text)}")
        let goal = configuration.freshnessGoal
        #expect((goal.share, goal.within) == (share, within))
        // The printed goal reads as the same.
        #expect(FreshnessGoal(goal.text) == goal)
        #expect(ConfigurationFile.json(of: configuration)["freshness"]?["goal"] == .string(goal.text))
    }

    @Test(
        arguments: [
            "0.99% within 15m", "100% within 15m", "99.999% within 15m", "95% within 59s", "95% within 90s",
            "95% within 24h1m", "95% within 1441m", "95% within 2d", "95%", "within 15m", "95 within 15m", "95% in 15m",
            "-95% within 15m", "95.% within 15m", ".5% within 15m", "95%  15m", "yes", "95% within 15",
            "1e1% within 15m",
        ]
    )
    func `what is no goal is refused with what it has to be`(text: String) {
        let faults = #expect(throws: SettingsError.self) {
            try Self.configured("freshness: {goal: \"\(text)\"}")
        }
        let sentence = faults?.faults.first.map { "\($0)" } ?? ""
        #expect(sentence.contains("freshness.goal"))
        #expect(sentence.contains("(95% within 15m), from 1% to 99.99% and from 1m to 24h in whole minutes"))
    }

    @Test(arguments: [
        ("95 within 15m", "95% within 15m"), ("15m, 99.5%", "99.5% within 15m"), ("95% in 1h", "95% within 1h"),
    ])
    func `what was probably meant is said`(text: String, meant: String) {
        let faults = #expect(throws: SettingsError.self) {
            try Self.configured("freshness: {goal: \"\(text)\"}")
        }
        #expect(faults?.faults.first.map { "\($0)" }?.contains("did you mean \(meant)?") == true)
    }

    @Test func `a goal is met as long as no more are late than it allows`() throws {
        let goal = try #require(FreshnessGoal("95% within 15m"))
        #expect(goal.isMet(late: 0, of: 0) && goal.isMet(late: 5, of: 100))
        #expect(!goal.isMet(late: 6, of: 100) && !goal.isMet(late: 1, of: 19))
        #expect(goal.burnRate(late: 5, of: 100) == 1)
        #expect(goal.burnRate(late: 10, of: 100) == 2)
        #expect(goal.burnRate(late: 0, of: 100) == 0)
        #expect(goal.burnRate(late: 0, of: 0) == 0)
    }
}

import Scenarios
import Simulation
import Testing
import Timelines
import WidgetModel

/// The keys of a scenario's file, and the messages about its faults.
@Suite struct ScenarioReadingTests {
    private static let good = """
        days: 2
        kinds:
          - kind: scores
            values: 3
        populations:
          - hosts: 10
            widgets: [{kind: scores}]
        senders:
          - kind: scores
            events: [{poisson: 2}]
        """

    private func faults(_ text: String, policy: Scenario.PolicyReader? = Scenarios.policy) -> [String] {
        do {
            _ = try Scenario(reading: text, file: "s.yaml", policy: policy)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test func `a short scenario is enough`() throws {
        let scenario = try Scenario(reading: Self.good, file: "s.yaml")
        #expect(scenario.days == 2)
        #expect(scenario.instanceCount == 10)
        #expect(scenario.kinds[0].values == ["v1", "v2", "v3"])
        #expect(scenario.senders[0].events[0].form == .poisson(perHour: 2))
    }

    @Test(arguments: Scenarios.names)
    func `the repository's scenarios can be read`(name: String) throws {
        #expect(try Scenarios.whole(name).instanceCount > 1000)
    }

    @Test func `every fault is told with its line and key`() {
        let text = """
            dayz: 3
            days: 400
            kinds:
              - kind: scores
                values: 3
                timeline: {policy: sometimes}
                provider:
                  latency: quick
                  faults: [{fault: failing, at: 1d}]
            populations:
              - hosts: 10
                rhythm: comuter
                zones: {Mars/Base: 1}
                widgets: [{kind: score}]
            senders:
              - kind: scores
                events:
                  - {steady: 5m, poisson: 2}
                  - {burst: 5}
                  - {schedule: ["25:00"], days: [someday]}
            """
        let faults = self.faults(text)
        let starts = [
            "s.yaml:1:1: dayz: is not a key of this section",
            "s.yaml:2:7: days: must be an integer from 1 to 366, not \"400\"",
            "s.yaml:6:24: kinds[0].timeline.policy: must be atEnd, never or after",
            "s.yaml:8:16: kinds[0].provider.latency: must be a range of seconds",
            "s.yaml:9:16: kinds[0].provider.faults[0].for: is missing",
            "s.yaml:12:13: populations[0].rhythm: must be one of commuter",
            "s.yaml:13:13: populations[0].zones.Mars/Base: is not a key",
            "s.yaml:14:22: populations[0].widgets[0].kind: must be one of the kinds scores",
            "s.yaml:18:9: senders[0].events[0]",
            "s.yaml:19:9: senders[0].events[1].at: is missing",
            "s.yaml:20:21: senders[0].events[2].schedule[0]: must be a time of day",
            "s.yaml:20:38: senders[0].events[2].days[0]: must be one of sun",
        ]
        for start in starts {
            #expect(faults.contains { $0.hasPrefix(start) }, "\(start) is not among \(faults.joined(separator: "\n"))")
        }
    }

    @Test(arguments: [
        ("", "s.yaml: is empty"),
        ("days: [", "s.yaml:2:1: is not YAML"),
        ("days: 1\ndays: 2", "s.yaml:1:1: days is given twice"),
        ("days: 1", "s.yaml:1:1: kinds: is missing"),
    ])
    func `a file that is none is told so`(text: String, start: String) {
        #expect(self.faults(text).contains { $0.hasPrefix(start) }, "\(self.faults(text))")
    }

    private static func budget(_ lines: String...) -> String {
        Self.good.replacing(
            "    values: 3\n",
            with: "    values: 3\n    budget:\n" + lines.map { "      \($0)\n" }.joined()
        )
    }

    @Test func `a budget may be a policy in full, as in the configuration`() throws {
        let text = Self.budget("preset: widgetkit", "typical: 20", "frequent: 30", "window: 12h")
        let budget = try Scenario(reading: text, file: "s.yaml", policy: Scenarios.policy).kinds[0].budget
        var expected = BudgetPolicy.widgetkit
        (expected.name, expected.source) = ("own", "the operator, from widgetkit")
        (expected.typical, expected.frequent) = (20, 30)
        expected.window = .fixed(length: .hours(12), anchor: .hostHash)
        #expect(budget == expected)
        let preset = Self.good.replacing("values: 3", with: "values: 3\n    budget: trmnl")
        #expect(try Scenario(reading: preset, file: "s.yaml", policy: Scenarios.policy).kinds[0].budget == .trmnl)
    }

    @Test func `a policy's faults are told with their lines in the scenario`() {
        let faults = self.faults(
            Self.budget("typical: many", "pushShre: 1/2", "learning:", "  days: 4000", "window: 24h")
        )
        let starts = [
            "s.yaml:6:16: kinds[0].budget.typical: must be an integer from 0 to",
            "s.yaml:7:17: kinds[0].budget.pushShre: there is no such key; did you mean pushShare?",
            "s.yaml:9:15: kinds[0].budget.learning.days: must be an integer from 0 to 365",
        ]
        for start in starts {
            #expect(faults.contains { $0.hasPrefix(start) }, "\(start) is not among \(faults.joined(separator: "\n"))")
        }
        #expect(faults.count == starts.count, "\(faults)")
        let presetsOnly = self.faults(Self.budget("typical: 20"), policy: nil)
        #expect(presetsOnly.count == 1 && presetsOnly[0].contains("must be one of widgetkit"), "\(presetsOnly)")
    }

    @Test func `more widgets than can be simulated are refused`() {
        let text = Self.good.replacing("hosts: 10", with: "hosts: 20000000").replacing(
            "{kind: scores}]",
            with: "{kind: scores, count: 2}]"
        )
        #expect(self.faults(text).contains { $0.contains("40000000 widgets, at most 20000000") })
    }
}

/// Rules for the shipped alerts: an operator can act on each of them, and a test has seen it fire.
enum AlertRules {
    private static let manual = "docs/operating.md"

    /// The alerts that lead to no section of the manual, of which the drill book says another time, or that no test fires.
    ///
    /// - Parameters:
    ///   - path: The file with the alerts.
    ///   - text: Its text.
    ///   - manual: The text of the page with the drill book.
    ///   - tests: The texts of the tests that run gateways.
    static func violations(_ path: String, _ text: String, manual: String, tests: [String]) -> [Violation] {
        let drills = self.drills(manual)
        let fired = Set(drills.flatMap { $0.matches(of: /`(\w+)`/) }.map(\.output.1) + tests.flatMap(self.fired))
        let alerts = self.alerts(text)
        guard !alerts.isEmpty else { return [Violation(path, 0, "has no alerts")] }
        return alerts.flatMap { alert in
            var sentences: [String] = []
            if alert.runbook.map({ PageRules.hasHeading($0, manual) }) != true {
                sentences.append("\(alert.name) leads to no section of \(Self.manual)")
            }
            let time = alert.minutes.map { "`\(alert.name)` after \($0) min" } ?? "`\(alert.name)` at once"
            for drill in drills where drill.contains("`\(alert.name)`") && !drill.contains(time) {
                sentences.append("the drill book does not say \(time)")
            }
            if !fired.contains(alert.name) {
                sentences.append("no test causes \(alert.name)")
            }
            return sentences.map { Violation(path, alert.line, $0) }
        }
    }

    private struct Alert {
        let name: Substring
        let line: Int
        /// How long it has to be so; nil for no time at all.
        var minutes: Substring?
        /// The anchor of its section.
        var runbook: Substring?
    }

    private static func alerts(_ text: String) -> [Alert] {
        var alerts: [Alert] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let name = line.firstMatch(of: /- alert: (\w+)/)?.output.1 {
                alerts.append(Alert(name: name, line: index + 1))
            } else if let last = alerts.indices.last {
                alerts[last].minutes = line.firstMatch(of: /^ +for: ([0-9]+)m$/)?.output.1 ?? alerts[last].minutes
                let runbook = line.firstMatch(of: /runbook_url: https:\/\/\S+\/docs\/operating\.md#([a-z0-9_-]+)$/)?
                    .output.1
                alerts[last].runbook = runbook ?? alerts[last].runbook
            }
        }
        return alerts
    }

    /// The alerts' row of each incident in the drill book, every one of which a test goes through.
    private static func drills(_ manual: String) -> [Substring] {
        let book = manual.split(separator: "\n").drop { $0 != "## Drill book" }.dropFirst()
        return book.prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| Alert | ") }
    }

    /// The alerts that a test waits for, or finds among those that fire.
    private static func fired(_ test: String) -> [Substring] {
        let awaited = test.matches(of: /waitUntilFiring\(\[([^\]]*)\]/).flatMap { $0.output.1.matches(of: /"(\w+)"/) }
        let found = test.split(separator: "\n").filter { !$0.contains(" == 0)") }
            .compactMap { $0.firstMatch(of: /Alerts\.firing\("(\w+)"/) }
        return awaited.map(\.output.1) + found.map(\.output.1)
    }
}

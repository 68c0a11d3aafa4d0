import Testing

/// The rules for alerts catch a planted fault and let its neighbour pass.
@Suite struct AlertRuleTests {
    @Test func `an alert that no test fires, or that leads nowhere, is caught`() {
        func alert(_ name: String, _ more: String, runbook: String) -> String {
            "  - alert: \(name)\n\(more)    annotations:\n      runbook_url: https://example.com/docs/operating.md#\(runbook)\n"
        }
        let alerts =
            alert("Drilled", "    for: 5m\n", runbook: "a-disk") + alert("Awaited", "", runbook: "a-disk")
            + alert("Found", "", runbook: "nowhere") + alert("OnlyAbsent", "", runbook: "a-disk")
        func manual(_ time: String) -> String {
            """
            # A
            ## Drill book
            ### A disk
            | Alert | `Drilled` \(time), `Awaited` at once |
            ## Others
            | Alert | `OnlyAbsent` at once |
            """
        }
        let tests = [
            #"await prometheus.waitUntilFiring(["Awaited"])"#,
            """
            #expect(try await Alerts.firing("OnlyAbsent", gateway, afterMinutes: 5) == 0)
            #expect(try await Alerts.firing("Found", gateway, afterMinutes: 5) == 1)
            """,
        ]
        let found = AlertRules.violations("a.yml", alerts, manual: manual("after 5 min"), tests: tests)
        #expect(
            found.map(\.sentence) == [
                "Found leads to no section of docs/operating.md", "no test causes OnlyAbsent",
            ]
        )
        #expect(found.map(\.line) == [8, 11])
        let late = AlertRules.violations("a.yml", alerts, manual: manual("after 2 min"), tests: tests)
        #expect(late.first?.sentence == "the drill book does not say `Drilled` after 5 min")
        #expect(AlertRules.violations("a.yml", "", manual: "", tests: []).map(\.sentence) == ["has no alerts"])
    }
}

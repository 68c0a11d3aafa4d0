import Engine
import Foundation
import Testing
import WidgetModel

/// The dashboard's page of one widget, and plain words on the pages around it.
@Suite struct InstancePageTests {
    private static let freeApp = """
          - bundleID: com.example.free
            team: \(TestGateway.team)
            kinds: [{kind: ticker, budget: unlimited}]
        """

    /// The texts of views, which keep the page's rules.
    private static func texts(_ gateway: TestGateway, _ views: [String]) async throws -> [String] {
        let reports = try await DashboardTests.reports(gateway, ["texts"] + views)
        #expect(reports.allSatisfy { $0["violations"] as? [String] ?? [] == [] }, "\(reports)")
        #expect(DashboardTests.complaints(reports) == [])
        return reports.compactMap { $0["text"] as? String }
    }

    @Test func `it says what waits, why and until when, when the next reload is possible, and leads to its host`()
        async throws
    {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        // The id of a widget may have colons, that of a host has none.
        let widget = #"{"id":"a:b:c","kind":"scores","family":"systemSmall","configuration":{"team":"bears"}}"#
        let registered = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer,
            body: #"{"app":"\#(TestGateway.app)","host":"host-1","instances":[\#(widget)]}"#
        )
        try #require(registered.status == 200, "\(registered.body)")
        for _ in 1...2 {
            try await gateway.acknowledge(try await gateway.outstanding(1, bearer: bearer), bearer: bearer)
            #expect(try await gateway.push(1, bearer: bearer) == "200")
        }
        let waiting = try await gateway.eventually("the second push waits") {
            let list = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes?outcome=deferred").json
            return (list["pushes"] as? [[String: Any]])?.first?["id"] as? String
        }
        let id = "\(TestGateway.app)/host-1:a:b:c"
        let view = "instances/\(TestGateway.app)%2Fhost-1:a:b:c"
        let texts = try await Self.texts(gateway, [view, "pushes/\(waiting)"])
        #expect(texts[0].contains("Its next reload is possible at "), "\(texts[0])")
        // The row of the waiting push: its priority, why, until when, and its end.
        let row = #/push\t[0-9a-f]{8}…\t\d+\tthe pace of its budget\t\d+ \w+, [\d:]+\t\d+ \w+, [\d:]+\n/#
        #expect(texts[0].contains(row), "\(texts[0])")
        #expect(texts[0].contains("widget added"))
        #expect(texts[1].contains("Key\n\(TestGateway.kid)"), "\(texts[1])")
        let reports = try await DashboardTests.reports(gateway, ["links", view])
        #expect((reports.first?["links"] as? [String])?.first == "#/hosts/\(TestGateway.app)/host-1", "\(reports)")
        let found = try await DashboardTests.reports(gateway, ["find", "host-1:a:b:c"])
        #expect(found.first?["led"] as? String == "#/instances/\(id)", "\(found)")
        await gateway.stop()
    }

    @Test func `where there is no limit, nothing is used up`() async throws {
        let gateway = try await TestGateway.start(extra: Self.freeApp)
        let (app, bearer) = ("com.example.free", try await gateway.providerToken())
        let widget = #""kind":"ticker","configuration":{}"#
        try await Drilling.register(gateway, 1, app: app, widget: widget, bearer: bearer)
        #expect(try await gateway.push(1, of: app, bearer: bearer) == "200")
        let path = "\(gateway.opsURL)/v1/instances/\(app)/host-1:a"
        let budget = try await gateway.eventually("the push is charged") {
            let budget = try await gateway.curl("GET", path).json["budget"] as? [String: Any]
            return budget?["charged"] as? Int == 1 ? budget : nil
        }
        #expect(budget["allowance"] == nil && budget["pushAllowance"] == nil)
        let text = try #require(try await Self.texts(gateway, ["instances/\(app)%2Fhost-1:a"]).first)
        #expect(text.contains("Left now\nno limit\n") && text.contains("Pushes may use\nno limit\n"), "\(text)")
        #expect(!text.contains("1 of 1") && !text.contains("At once at most"), "\(text)")
        #expect(!text.contains("Left of the budget"), "\(text)")
        let shown = try await gateway.runVerb(["instances", "show", "\(app)/host-1:a"])
        #expect(shown.output.contains("1 charged, no limit, until "), "\(shown)")
        let why = try await gateway.runVerb(["why", "\(app)/host-1:a"])
        #expect(why.output.contains("budget: 1 charged (pushes 1), no limit, window until "), "\(why)")
        await gateway.stop()
    }

    @Test(.oneGateway("decisions on disk are a gateway's own"))
    func `it lets the gateway replay older decisions, and says when that is done or not possible`() async throws {
        for (options, said) in [([], "The replay is done."), (["--in-memory"], "writes no decisions to its disk.")] {
            let gateway = try await TestGateway.start(options: options)
            let bearer = try await gateway.providerToken()
            _ = try await gateway.register(1, teams: ["bears"], bearer: bearer)
            let view = "instances/\(TestGateway.app)%2Fhost-1:scores-0"
            let reports = try await DashboardTests.reports(gateway, ["press", view, "Replay older decisions", said])
            #expect(reports.contains { ($0["said"] as? String)?.contains(said) == true }, "\(reports)")
            #expect(DashboardTests.complaints(reports) == [])
            let verb = ["instances", "show", "\(TestGateway.app)/host-1:scores-0", "--replay"]
            let shown = try await gateway.runVerb(verb)
            #expect(shown.output.contains(options.isEmpty ? "entries of the log" : String(said.dropLast())), "\(shown)")
            await gateway.stop()
        }
    }

    @Test(.oneGateway("the health of a provider is that at the gateway which asks it"))
    func `pages say in plain words what reloads come from, and why answers are no success`() async throws {
        let gateway = try await TestGateway.start(
            extra: TestGateway.providedApps,
            appSettings: "    developerMode: true"
        )
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["bears"], bearer: bearer)
        let widget = #""kind":"panel","configuration":{}"#
        try await Drilling.register(gateway, 2, app: TestGateway.providedApp, widget: widget, bearer: bearer)
        _ = try await gateway.eventually("the provider was asked") {
            let list = try await gateway.curl("GET", "\(gateway.opsURL)/v1/providers").json["providers"]
            let health = (list as? [[String: Any]])?.first?["health"] as? [String: Any]
            return (health?["failures"] as? [String: Int])?.isEmpty == false ? true : nil
        }
        let texts = try await Self.texts(
            gateway,
            ["instances/\(TestGateway.app)%2Fhost-1:scores-0", "system", "upstreams"]
        )
        #expect(texts[0].contains("Exempt now\ndeveloper mode\n"), "\(texts[0])")
        #expect(texts[1].contains("Deferred matches") && texts[1].contains("By cause\nwidget added 3\n"), "\(texts[1])")
        #expect(texts[2].contains(#/\d+ of \d+\s+no connection \d+/#), "\(texts[2])")
        await gateway.stop()
    }

    @Test func `every cause, exemption, reason and outcome has its words`() async throws {
        let sources = ReloadCause.allCases.map(\.name) + Exemption.allCases.map(\.name)
        let reasons = DecisionReason.allCases.map(\.name) + FailureReason.allCases.map(\.name)
        let outcomeNames = PushOutcome.allCases.map(\.name)
        let silent = try await DashboardRules.run(
            """
            [...\(sources).filter((name) => sources[name] === undefined), ...\(reasons).filter((name) => because[name] === undefined),
             ...\(outcomeNames).filter((name) => !outcomes.some(([known]) => known === name))]
            """,
            as: [String].self
        )
        #expect(silent == [])
    }
}

import Foundation
import Testing

/// A team's person with a key that reads: let in by an operator, in the browser, on the command line, and out again.
@Suite struct TeamReaderTests {
    private static let rival = "RIVALTEAM1"
    private static let rivalApp = "com.example.rival"
    private static let kid = "READKEY001"
    private static let path = "/v1/teams/\(TestGateway.team)/keys/\(Self.kid)"
    /// Words that only operators and the other team may see.
    private static let foreign = [Self.rival, "rival", "RIVALKEY01", "127.0.0.1:7", "operator-token"]

    private static func signer(_ key: String) -> [String] {
        ["--key", key, "--kid", Self.kid, "--team", TestGateway.team]
    }

    private static func get(_ gateway: TestGateway, _ path: String, _ bearer: String) async throws -> TestGateway.Answer
    {
        try await gateway.curl("GET", "\(gateway.opsURL)\(path)", bearer: bearer)
    }

    /// An operator's entry of the key.
    private static func put(_ gateway: TestGateway, _ publicKey: String, reads: Bool) async throws {
        let half = try String(contentsOfFile: publicKey, encoding: .utf8)
        var entry: [String: Any] = ["publicKey": half, "allows": ["devices"]]
        if reads { entry = ["publicKey": half, "allows": [], "reads": true] }
        let body = String(decoding: try JSONSerialization.data(withJSONObject: entry), as: UTF8.self)
        let answer = try await gateway.curl("PUT", "\(gateway.opsURL)\(Self.path)", body: body)
        try #require(answer.status == 200, "\(answer.body)")
    }

    /// Changes the configuration file, and has it read.
    private static func change(_ gateway: TestGateway, _ edit: (String) -> String) async throws {
        let file = "\(gateway.folder)/freshet.yaml"
        try edit(try String(contentsOfFile: file, encoding: .utf8)).write(
            toFile: file,
            atomically: true,
            encoding: .utf8
        )
        let answer = try await gateway.curl("POST", "\(gateway.opsURL)/v1/config/reload")
        try #require(answer.status == 200, "\(answer.body)")
    }

    /// A gateway with two teams, each with a host and a push.
    private static func start() async throws -> TestGateway {
        let gateway = try await TestGateway.start(partitions: 2)
        let (rival, _) = try await TestGateway.makeKey("rival", in: gateway.folder)
        try await Self.change(gateway) { text in
            text.replacing(
                "teams:\n",
                with: "teams:\n  - {id: \(Self.rival), keys: [{id: RIVALKEY01, file: rival.public.pem}]}\n"
            ) + """

                  - bundleID: \(Self.rivalApp)
                    team: \(Self.rival)
                    webhook: {url: "https://127.0.0.1:7", secretFile: certs/server.key}
                    kinds:
                      - kind: rivals
                        timelineProvider: {url: "http://127.0.0.1:7/"}
                """
        }
        let own = try await gateway.providerToken()
        let other = try await TestGateway.providerToken(rival, kid: "RIVALKEY01", team: Self.rival)
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: own)
        let instance = #"{"id":"r","kind":"rivals","family":"systemSmall","configuration":{}}"#
        let registered = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(9))/widgets",
            bearer: other,
            body: #"{"app":"\#(Self.rivalApp)","host":"rival-host","revision":1,"instances":[\#(instance)]}"#
        )
        try #require(registered.status == 200, "\(registered.body)")
        #expect(try await gateway.push(1, bearer: own) == "200")
        #expect(try await gateway.push(9, of: Self.rivalApp, bearer: other) == "200")
        return gateway
    }

    @Test func `a key that an operator lets read opens its team's part, with verbs and routes, and no longer`()
        async throws
    {
        let gateway = try await Self.start()
        let (key, publicKey) = try await TestGateway.makeKey("reader", in: gateway.folder)
        let bearer = try await TestGateway.providerToken(key, kid: Self.kid)
        #expect(try await Self.get(gateway, "/v1/apps", bearer).status == 401)
        try await Self.put(gateway, publicKey, reads: true)
        let document = try await Self.get(gateway, "/v1/openapi.yaml", bearer)
        #expect(document.status == 200)
        for path in [
            "session", "apps", "kinds", "budget", "instances", "hosts", "pushes", "senders", "providers", "upstreams",
            "orders", "instances/\(TestGateway.app)/host-1:scores-0/why", "hosts?host=host-1",
        ] {
            let answer = try await Self.get(gateway, "/v1/\(path)", bearer)
            #expect(answer.status == 200, "\(path) \(answer.body)")
            for word in Self.foreign { #expect(!answer.body.contains(word), "\(word) in \(path)") }
        }
        for path in [
            "stats", "config", "config/amendments", "config/diff", "teams", "teams/\(TestGateway.team)", "log-levels",
            "history", "events", "apps/\(TestGateway.app)", "forecast", "partitions", "clock", "audit",
        ] {
            #expect(try await Self.get(gateway, "/v1/\(path)", bearer).status == 403, "\(path)")
        }
        #expect(try await Self.get(gateway, "/metrics", bearer).status == 403)
        #expect(try await Self.get(gateway, "/v1/hosts/\(Self.rivalApp)/rival-host", bearer).status == 404)
        let order = try await gateway.curl(
            "POST",
            "\(gateway.opsURL)/v1/orders",
            bearer: bearer,
            body: #"{"action":"pause","of":{"app":"\#(TestGateway.app)"}}"#
        )
        #expect(order.status == 403)
        // It pushes nothing, since it is for reading alone.
        #expect(try await gateway.push(1, bearer: bearer) == "Forbidden")

        let file = "\(gateway.folder)/token.txt"
        try bearer.write(toFile: file, atomically: true, encoding: .utf8)
        for verb in ["apps", "kinds", "instances", "hosts", "pushes", "orders", "senders"] {
            let told = try await Command.run(
                TestGateway.program,
                [verb, "--server", gateway.opsURL, "--ca", gateway.ca, "--token-file", file]
            )
            #expect(told.status == 0 && !told.output.lowercased().contains("rival"), "\(verb) \(told)")
        }
        let teams = try await gateway.runVerb(["teams", "--json"])
        #expect(teams.output.contains(#""readers":["\#(Self.kid)"]"#), "\(teams)")

        try await Self.put(gateway, publicKey, reads: false)
        #expect(try await Self.get(gateway, "/v1/apps", bearer).status == 401)
        try await Self.put(gateway, publicKey, reads: true)
        #expect(try await Self.get(gateway, "/v1/apps", bearer).status == 200)
        #expect(try await gateway.curl("DELETE", "\(gateway.opsURL)\(Self.path)").status == 200)
        #expect(try await Self.get(gateway, "/v1/apps", bearer).status == 401)
        await gateway.stop()
    }

    @Test func `a file lets a key read, and takes that back when it is read again`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        #expect(try await Self.get(gateway, "/v1/apps", bearer).status == 401)
        let entry = "file: certs/provider-key.public.pem"
        try await Self.change(gateway) { $0.replacing(entry, with: "\(entry), reads: true") }
        #expect(try await Self.get(gateway, "/v1/apps", bearer).status == 200)
        try await Self.change(gateway) { $0.replacing(", reads: true", with: "") }
        #expect(try await Self.get(gateway, "/v1/apps", bearer).status == 401)
        await gateway.stop()
    }

    @Test func `the page shows a team its own views, without a dead link, an action or another's name`() async throws {
        let gateway = try await Self.start()
        let (key, publicKey) = try await TestGateway.makeKey("reader", in: gateway.folder)
        try await Self.put(gateway, publicKey, reads: true)
        let printed = try await Command.run(
            TestGateway.program,
            ["dashboard", "--server", gateway.opsURL, "--ca", gateway.ca] + Self.signer(key)
        )
        try #require(printed.status == 0, "\(printed.errors)")
        let address = printed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(address.hasPrefix("\(gateway.opsURL)/#token="))
        let push = try #require(
            (try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes?app=\(TestGateway.app)").json["pushes"]
                as? [[String: Any]])?.first?["id"] as? String
        )
        let views = [
            "apps", "apps?app=\(TestGateway.app)&kind=scores", "instances", "instances?state=behind",
            "instances/\(TestGateway.app)%2Fhost-1:scores-0", "hosts", "hosts/\(TestGateway.app)/host-1", "pushes",
            "pushes/\(push)", "senders", "upstreams",
        ]
        let script = "\(TestGateway.root)/Tests/EndToEndTests/Clients/dashboard.py"
        let shots = ["--shots", "\(TestGateway.root)/.build/dashboard/team"]
        let result = try await Command.run(TestGateway.python, [script, "--url", address] + shots + ["team"] + views)
        try #require(result.status == 0, "\(result.errors.suffix(4000))")
        let reports = result.output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        let first = try #require(reports.first { $0["views"] != nil })
        let shown = ["instances", "hosts", "pushes", "senders", "apps", "upstreams"]
        #expect(first["views"] as? [String] == shown)
        #expect(first["team"] as? String == "Team \(TestGateway.team)")
        #expect(reports.flatMap { $0["complaints"] as? [String] ?? [] } == [])
        let seen = reports.filter { $0["view"] != nil }
        #expect(seen.count == views.count)
        for view in seen {
            let text = try #require(view["text"] as? String)
            for word in Self.foreign { #expect(!text.contains(word), "\(word) in \(view["view"] ?? "")") }
            #expect(Set(view["links"] as? [String] ?? []).isSubset(of: shown), "\(view)")
            let buttons = (view["buttons"] as? [String] ?? []).filter { $0 != "More" && !$0.hasPrefix("Read the log") }
            #expect(buttons == [], "\(view["view"] ?? "")")
            #expect(!text.contains("It takes the scope"), "\(view["view"] ?? "")")
            #expect(view["violations"] as? [String] == [], "\(view["view"] ?? "")")
        }
        #expect(seen.contains { ($0["text"] as? String)?.contains("host-1:scores-0") == true })
        await gateway.stop()
    }
}

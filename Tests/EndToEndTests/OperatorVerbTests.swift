import Foundation
import Testing

/// The verbs for the operators' routes: tables for people, the gateway's JSON, and the orders.
@Suite struct OperatorVerbTests {
    private static func run(
        _ gateway: TestGateway,
        _ verb: [String],
        _ variables: [String] = []
    ) async throws -> Command.Result {
        try await Command.run("env", variables + [TestGateway.program] + verb + gateway.access())
    }

    /// A gateway with three hosts of two widgets each, one push that was decided for two of them, and its id.
    private static func started() async throws -> (gateway: TestGateway, push: String) {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        for number in 1...3 {
            _ = try await gateway.register(number, teams: [number == 3 ? "bears" : "seahawks"], bearer: bearer)
        }
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            bearer: bearer,
            headers: ["apns-priority: 10"],
            body: #"{"aps":{"content-changed":true},"freshet":{"kind":"scores","match":{"team":["seahawks"]}}}"#
        )
        let push = try #require(answer.headers["apns-id"])
        _ = try await gateway.eventually("both partitions have decided") {
            let state = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(push)").json
            return (state["outcomes"] as? [String: Int])?["issued"] == 2 ? true : nil
        }
        return (gateway, push)
    }

    @Test func `lists are tables for people and the gateway's JSON for programs`() async throws {
        let (gateway, push) = try await Self.started()
        for (verb, member, titles, row) in [
            (["pushes"], "pushes", "PUSH", push), (["pushes", "--state", "waiting"], "pushes", "OUTCOMES", "2 issued"),
            (["instances"], "instances", "INSTANCE", "\(TestGateway.app)/host-1:scores-0"),
            (["instances", "--state", "outstanding"], "instances", "LEFT", "/host-2:scores-0"),
            (["hosts"], "hosts", "REACHED  STREAMS", "host-3"), (["apps"], "apps", "TEAM", TestGateway.team),
            (["apps"], "apps", "BEHIND  LATE  OLDEST", "6     0"),
            (["kinds"], "kinds", "BEHIND  LATE  OLDEST", "3     0"),
            (["kinds"], "kinds", "POLICY", "character"), (["senders"], "senders", "CHARGED", TestGateway.team),
            (["partitions"], "partitions", "LAG", "runs"), (["log-level"], "subsystems", "CONFIGURED", "deliveries"),
        ] {
            let table = try await Self.run(gateway, verb)
            #expect(table.status == 0, "\(verb): \(table.errors)")
            let lines = table.output.split(separator: "\n")
            #expect(lines.first?.contains(titles) == true, "\(table.output)")
            #expect(lines.dropFirst().contains { $0.contains(row) }, "\(table.output)")
            #expect(!table.output.contains("\u{1B}"), "a pipe gets no colours")
            let json = try await Self.run(gateway, verb + ["--json"])
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect((object?[member] as? [Any])?.count == lines.count - 1, "\(json.output)")
        }
        let budget = try await gateway.eventually("instances were walked over") {
            let table = try await Self.run(gateway, ["budget", "--kind", "scores"])
            return table.output.contains("ALLOWANCE") ? table.output : nil
        }
        #expect(budget.split(separator: "\n").count == 2 && budget.contains("\nscores "), "\(budget)")
        for verb in [["audit"], ["orders"], ["upstreams"], ["pushes", "--state", "complete"]] {
            let none = try await Self.run(gateway, verb)
            #expect(none.status == 0 && none.output.hasSuffix(".\n"), "\(none.output)\(none.errors)")
        }
        let unknown = try await Self.run(gateway, ["pushes", "--app", "com.example.none"])
        #expect(
            unknown.status != 0 && unknown.errors.contains("there is no app \"com.example.none\""),
            "\(unknown.errors)"
        )
        // The gateway judges the list's filters.
        let wrong = try await Self.run(gateway, ["pushes", "--state", "done"])
        #expect(
            wrong.status == 2 && wrong.errors.contains("state: expected one of complete, waiting"),
            "\(wrong.errors)"
        )
        await gateway.stop()
    }

    @Test func `pages are put together up to the limit`() async throws {
        let (gateway, _) = try await Self.started()
        for (options, count, hasMore) in [
            (["--limit", "1"], 1, true), (["--limit", "2"], 2, true), (["--limit", "6"], 6, false),
            (["--all"], 6, false),
        ] {
            let json = try await Self.run(gateway, ["instances", "--json"] + options)
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect((object?["instances"] as? [Any])?.count == count, "\(json.output)")
            let table = try await Self.run(gateway, ["instances"] + options)
            #expect(table.output.split(separator: "\n").count == count + 1)
            // A page that is full may be the last: the gateway says only with the next one that there is no more.
            if hasMore { #expect(table.errors.contains("--all")) }
        }
        #expect(try await Self.run(gateway, ["instances", "--limit", "0"]).status == 64)
        await gateway.stop()
    }

    @Test func `one thing is shown with what it waits for and why`() async throws {
        let (gateway, push) = try await Self.started()
        let instance = try await Self.run(gateway, ["instances", "show", "\(TestGateway.app)/host-1:scores-0"])
        #expect(instance.output.contains("hostAway, since 20"), "\(instance.output)")
        for text in ["budget", "next for 10", "Outstanding", "Decisions", push.lowercased(), "configuration"] {
            #expect(instance.output.contains(text), "\(text): \(instance.output)\(instance.errors)")
        }
        let host = try await Self.run(gateway, ["hosts", "show", "\(TestGateway.app)/host-1"])
        #expect(host.output.contains("reloads out") && host.output.contains("WIDGET"), "\(host.output)\(host.errors)")
        let shown = try await Self.run(gateway, ["pushes", "show", push, "--decisions"])
        #expect(shown.output.contains("2 issued") && shown.output.contains("/host-2:scores-0"), "\(shown.output)")
        let json = try await Self.run(gateway, ["pushes", "show", push, "--json"])
        #expect(json.output.hasPrefix("{") && json.output.contains(#""matched":2"#), "\(json.output)")
        let followed = try Command("env", [TestGateway.program, "pushes", "show", push, "--follow"] + gateway.access())
        for await line in followed.lines where line.contains("2 issued") {
            let cancelled = try await Self.run(gateway, ["hosts", "remove", "--all-of", TestGateway.app, "--yes"])
            #expect(cancelled.output == "Removed 3 hosts.\n", "\(cancelled.errors)")
        }
        #expect(await followed.wait().status == 0)
        for verb in [
            ["instances", "show", "\(TestGateway.app)/a:b"], ["hosts", "show", "\(TestGateway.app)/a"],
            ["pushes", "show", UUID().uuidString], ["pushes", "show", UUID().uuidString, "--follow"],
        ] {
            let none = try await Self.run(gateway, verb)
            #expect(none.status == 2 && none.errors.contains("(404)"), "\(none.errors)")
        }
        for verb in [["instances", "show", "a:b"], ["hosts", "show", "a"], ["pushes", "show", "a"]] {
            #expect(try await Self.run(gateway, verb).status == 64)
        }
        await gateway.stop()
    }

    @Test func `orders say what they did, and want a yes`() async throws {
        let (gateway, push) = try await Self.started()
        let app = ["--app", TestGateway.app]
        let unasked = try await Self.run(gateway, ["pause"] + app)
        #expect(unasked.status == 64 && unasked.errors.contains("give --yes"), "\(unasked.errors)")
        #expect(try await Self.run(gateway, ["orders"]).output == "Nothing is paused.\n")
        let paused = try await Self.run(gateway, ["pause", "--for", "2h", "--yes"] + app)
        #expect(paused.output.hasPrefix("Paused \(TestGateway.app), 6 instances, until 20"), "\(paused)")
        let status = try await Self.run(gateway, ["status"])
        #expect(status.output.contains("\npaused") && status.output.contains("by operator-token"), "\(status.output)")
        let orders = try await Self.run(gateway, ["orders"])
        #expect(orders.output.contains("(in 1h)") || orders.output.contains("(in 2h)"), "\(orders.output)")
        let resumed = try await Self.run(gateway, ["resume", "--yes"] + app)
        #expect(resumed.output == "Resumed \(TestGateway.app), 6 instances.\n", "\(resumed)")
        #expect(try await Self.run(gateway, ["pause", "--kind", "scores", "--yes"] + app).status == 0)
        let stays = try await Self.run(gateway, ["resume", "--yes"] + app)
        let said =
            "Nothing is resumed: \(TestGateway.app) itself was not paused. Still paused: \(TestGateway.app) scores.\n"
        #expect(stays.output == said, "\(stays)")
        #expect(
            try await Self.run(gateway, ["resume", "--kind", "scores", "--yes"] + app).output.hasPrefix("Resumed ")
        )
        let granted = try await Self.run(gateway, ["grant", "5", "--kind", "scores", "--yes"] + app)
        #expect(granted.output == "Granted 5 more reloads to 3 instances.\n", "\(granted)")
        let reloaded = try await Self.run(gateway, ["reload-widgets", "--kind", "scores", "--yes"] + app)
        let asked = "Asked 3 instances of \(TestGateway.app) scores to reload, as soon as budgets allow.\n"
        #expect(reloaded.output == asked, "\(reloaded)")
        let cancelled = try await Self.run(gateway, ["cancel", "--push", push, "--yes", "--json"])
        #expect(cancelled.output == "{\"matched\":0}\n", "\(cancelled)")
        let audit = try await Self.run(gateway, ["audit"])
        #expect(
            audit.output.split(separator: "\n").count == 9 && audit.output.contains("/v1/orders"),
            "\(audit.output)"
        )
        let none = try await Self.run(gateway, ["pause", "--app", "com.example.none", "--yes"])
        #expect(none.status == 2 && none.errors.contains("there is no app com.example.none"), "\(none.errors)")
        for wrong in [
            ["pause"], ["pause", "--instance", "a/b:c"], ["pause", "--for", "x"] + app, ["grant", "0"] + app,
            ["grant", "5", "--sender", "T"], ["reload-widgets", "--sender", "T"], ["cancel", "--push", "x"],
        ] {
            let result = try await Self.run(gateway, wrong + ["--yes"])
            #expect(result.status == 64, "\(wrong): \(result.errors)")
        }
        await gateway.stop()
    }

    @Test func `on a terminal a change is asked about`() async throws {
        let gateway = try await TestGateway.start()
        let verb = ([TestGateway.program, "pause", "--app", TestGateway.app] + gateway.access()).joined(separator: " ")
        for (answer, status, isPaused) in [("n\n", 1, false), ("\n", 1, false), ("y\n", 0, true)] {
            let asked = try await Command.run(
                "script",
                ["-qec", "\(verb); echo status $?", "/dev/null"],
                input: answer
            )
            #expect(
                asked.output.contains("This will pause \(TestGateway.app) until it is resumed at \(gateway.opsURL)")
            )
            #expect(asked.output.contains("status \(status)"), "\(asked.output)")
            let orders = try await Self.run(gateway, ["orders"])
            #expect(orders.output.contains(TestGateway.app) == isPaused, "\(orders.output)")
        }
        // Colours are for terminals, and for those alone who want them.
        let list = ([TestGateway.program, "orders"] + gateway.access()).joined(separator: " ")
        for (variables, isColoured) in [
            ("-u NO_COLOR TERM=xterm", true), ("NO_COLOR=1 TERM=xterm", false), ("-u NO_COLOR TERM=dumb", false),
        ] {
            let shown = try await Command.run("script", ["-qec", "env \(variables) \(list)", "/dev/null"], input: "")
            #expect(shown.output.contains(TestGateway.app), "\(shown)")
            #expect(shown.output.contains("\u{1B}[1m") == isColoured, "\(variables): \(shown)")
        }
        await gateway.stop()
    }

    @Test func `a reload shows what it changes, log levels are set and taken back`() async throws {
        let gateway = try await TestGateway.start()
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try await Self.run(gateway, ["reload", "--yes"]).output == "Read again: nothing has changed.\n")
        try (text + "\ndeliveries: {maxRetry: 1m}\nproviderTokens: {maxAge: 2h}\n")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let unasked = try await Self.run(gateway, ["reload"])
        #expect(unasked.status == 64 && unasked.errors.contains("deliveries.maxRetry: 15m -> 1m"), "\(unasked.errors)")
        let done = try await Self.run(gateway, ["reload", "--yes"])
        #expect(
            done.output == "In force: deliveries.maxRetry.\nOnly after a restart: providerTokens.maxAge.\n",
            "\(done)"
        )
        try (text + "\ndeliveriess: {}\n").write(toFile: file, atomically: true, encoding: .utf8)
        for options in [[], ["--yes"], ["--yes", "--json"]] {
            let refused = try await Self.run(gateway, ["reload"] + options)
            #expect(refused.status == 78 && refused.errors.contains("did you mean deliveries?"), "\(refused)")
        }
        let set = try await Self.run(gateway, ["log-level", "http=debug", "--yes"])
        #expect(set.output.contains("http           debug  info"), "\(set.output)\(set.errors)")
        let both = try await Self.run(gateway, ["log-level", "audit=error", "--yes"])
        #expect(
            both.output.contains("http           debug  info") && both.output.contains("audit          error  info")
        )
        let reset = try await Self.run(gateway, ["log-level", "--reset", "--yes"])
        #expect(!reset.output.contains("debug") && !reset.output.contains("error"), "\(reset.output)")
        #expect(try await Self.run(gateway, ["log-level", "http"]).status == 64)
        #expect(try await Self.run(gateway, ["log-level", "http=loud", "--yes"]).status == 2)
        await gateway.stop()
    }

    @Test func `status says on one screen how it does, and any route can be asked`() async throws {
        let (gateway, _) = try await Self.started()
        let status = try await Self.run(gateway, ["status"])
        #expect(status.status == 0, "\(status.errors)")
        for text in [
            "ready      yes", "1 accepted", "2 issued", "operator-token, may read, write, admin",
            "3 hosts, 6 instances",
            "\nfreshness  6 of 6 widgets behind, 0 late, the oldest for ", ": 6 hostAway; the goal is 95% within 15m\n",
        ] {
            #expect(status.output.contains(text), "\(text): \(status.output)")
        }
        let json = try await Self.run(gateway, ["status", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect(
            Set((object ?? [:]).keys) == [
                "readiness", "version", "session", "stats", "upstreams", "providers", "orders",
            ]
        )
        let forecast = try await Self.run(gateway, ["api", "/v1/forecast"])
        #expect(forecast.status == 0 && forecast.output.hasPrefix("{"), "\(forecast.errors)")
        let metrics = try await Self.run(gateway, ["api", "GET", "/metrics"])
        #expect(metrics.output.contains("freshet_ready"), "\(metrics.errors)")
        let order = #"{"action":"pause","of":{"app":"\#(TestGateway.app)"}}"#
        #expect(try await Self.run(gateway, ["api", "POST", "/v1/orders", "--body", order]).status == 64)
        let posted = try await Self.run(gateway, ["api", "POST", "/v1/orders", "--body", order, "--yes"])
        #expect(posted.output == "{\"matched\":6}\n", "\(posted.errors)")
        #expect(try await Self.run(gateway, ["api", "/v1/events"]).status == 64)
        #expect(try await Self.run(gateway, ["api", "/v1/nothing"]).status == 2)
        await gateway.stop()
    }

    @Test func `a refusal, or a gateway that does not answer, is told what to do in words for people`() async throws {
        let reader = "a-token-that-may-only-read"
        let gateway = try await TestGateway.start(environment: ["FRESHET_OPS_TOKENS": "\(reader) read reader"])
        let read = ["FRESHET_OPERATOR_TOKEN=\(reader)"]
        let file = "\(gateway.folder)/freshet.yaml"
        let place = ["--server", gateway.opsURL, "--ca", gateway.ca]
        let orders = ["orders"] + place
        let pause = ["pause", "--app", TestGateway.app, "--yes"] + place
        let unkeyed = ["import", "--app", "a", file] + place
        let cases: [(verb: [String], variables: [String], status: Int32, words: [String])] = [
            (orders, [], 2, ["missing credential (401)", "--token-file", "FRESHET_OPERATOR_TOKEN"]),
            (orders, ["FRESHET_OPERATOR_TOKEN=x"], 2, ["invalid credential (401)", "the token is from FRESHET_"]),
            (pause, read, 2, ["forbidden (403)", "needs the scope write", "freshet status"]),
            (["orders", "--server", gateway.opsURL], read, 1, ["is not trusted", "give the CA with --ca"]),
            (["orders", "--server", "https://localhost:1"], read, 1, ["connection refused", "check that it runs"]),
            (["orders", "--server", "https://nowhere.invalid"], read, 1, ["the name has no address"]),
            (["orders", "--ca", "/none.pem"], read, 64, ["/none.pem"]),
            (["orders", "--token-file", "/none"], [], 64, ["/none cannot be read"]),
            (["import", "--app", "a", "/none"], [], 1, ["/none cannot be read"]),
            (unkeyed, [], 64, ["--token-file"]),
        ]
        for (verb, variables, status, words) in cases {
            let folder = FileManager.default.temporaryDirectory.path
            let isKeyed = verb.last == "/none" && verb.first == "import"
            let result = try await Command.run(
                "env",
                ["--chdir", folder] + variables + [TestGateway.program] + verb + (isKeyed ? gateway.sender : [])
            )
            #expect(result.status == status, "\(verb): \(result.errors)")
            for word in words { #expect(result.errors.contains(word), "\(verb): \(result.errors)") }
            for word in ["NIO", "errno", "Cocoa", "Domain=", reader] {
                #expect(!result.errors.contains(word), "\(result.errors)")
            }
        }
        await gateway.stop()
    }

    @Test func `a token is looked into without a gateway`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let signer = ["--key", "\(folder)/certs/provider-key.p8", "--kid", TestGateway.kid, "--team", TestGateway.team]
        func mint(_ more: [String]) async throws -> String {
            try await Command.run(TestGateway.program, ["token"] + more + signer).output
        }
        func inspect(_ token: String, _ more: [String] = []) async throws -> Command.Result {
            try await Command.run(TestGateway.program, ["token", "inspect"] + more, input: token)
        }
        let half = ["--key", "\(folder)/certs/provider-key.public.pem"]
        let provider = try await mint(["mint"])
        let told = try await inspect(provider, half)
        for text in [
            "is          provider token", TestGateway.team, "signature   holds", "counts now  yes", "good until",
        ] {
            #expect(told.output.contains(text), "\(text): \(told.output)")
        }
        #expect(told.status == 0 && !told.output.contains(provider.prefix(20)), "\(told.errors)")
        let old = try await inspect(try await mint(["mint", "--issued-at", "1700000000"]))
        #expect(old.status == 1 && old.output.contains("no: the token has expired"), "\(old.output)")
        let host = try await mint([
            "host", "--app", "com.example.scores", "--push-token", "0a1b2c3d", "--host", "phone",
        ])
        let other = try await Command.run("openssl", ["ecparam", "-name", "prime256v1", "-genkey", "-noout"])
        try other.output.write(toFile: "\(folder)/other.pem", atomically: true, encoding: .utf8)
        let forged = try await inspect(host, ["--key", "\(folder)/other.pem", "--json"])
        #expect(forged.status == 1 && forged.output.contains(#""isSigned":false"#), "\(forged)")
        #expect(forged.output.contains(#""is":"host credential""#) && forged.output.contains(#""host":"phone""#))
        let none = try await inspect("not-a-token")
        #expect(none.status == 1 && none.errors.contains("three parts") && !none.errors.contains("not-a-token"))
        try FileManager.default.removeItem(atPath: folder)
    }
}

import Foundation
import ScriptedServer
import Testing

/// An upstream, a webhook and a timeline provider that are down: metrics, alert, log and routes say it, and say when it is over.
@Suite struct TargetHealthTests {
    private static func folder() async throws -> String {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder, ["--topic", TestGateway.topic])
        return folder
    }

    /// A gateway whose clock can be moved, so that half a minute need not pass.
    private static func start(in folder: String, app: String, provider: String? = nil) async throws -> TestGateway {
        try await TestGateway.start(
            in: folder,
            extra: self.deliveries,
            appSettings: "    developerMode: true\n" + app,
            options: ["--in-memory", "--movable-clock"],
            timelineProvider: provider
        )
    }

    /// An answer that takes its time, where the machine is busy, is no failure.
    private static let deliveries = """
        deliveries: {connect: 1h, handshake: 1h, request: 1h, pingAnswer: 1h, allowedNetworks: [127.0.0.0/8, "::1"]}
        """

    private static func register(_ gateway: TestGateway, _ delivery: String) async throws {
        let bearer = try await gateway.providerToken()
        let answer = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer,
            body: #"{"app":"\#(TestGateway.app)","host":"phone","delivery":"\#(delivery)","instances":"#
                + #"[{"id":"a","kind":"scores","family":"systemSmall","configuration":{"team":"rams"}}]}"#
        )
        try #require(answer.status == 200, "\(answer.body)")
        let push = try await gateway.push(to: 1, bearer: bearer)
        try #require(push.status == 200, "\(push.body)")
    }

    /// The health of the first target in a list.
    private static func health(_ gateway: TestGateway, _ route: String, _ list: String) async throws -> [String: Any] {
        let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/\(route)")
        let first = (answer.json[list] as? [[String: Any]])?.first { $0["health"] != nil }
        return first?["health"] as? [String: Any] ?? [:]
    }

    private static func until(
        _ gateway: TestGateway,
        _ route: String,
        _ list: String,
        _ state: String
    ) async throws -> [String: Any] {
        // On a busy machine, a target that has begun to fail may have failed for long by the time of the question.
        let good = state == "failing" ? ["failing", "inTrouble"] : [state]
        return try await gateway.eventually("\(list) \(state)") {
            let health = try await self.health(gateway, route, list)
            return (health["state"] as? String).map(good.contains) == true ? health : nil
        }
    }

    private static func advance(_ gateway: TestGateway, seconds: Int) async throws {
        let moved = try await gateway.curl(
            "POST",
            "\(gateway.opsURL)/v1/clock",
            body: #"{"advance":\#(seconds)}"#
        )
        try #require(moved.status == 200, "\(moved.body)")
    }

    private static func value(_ gateway: TestGateway, _ metric: String) async throws -> Double? {
        let text = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        let line = text.split(separator: "\n").first { $0.hasPrefix(metric) && !$0.hasPrefix("# ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }
    }

    @Test func `an upstream that answers 503 to everything is told of, and so is the end of it`() async throws {
        let folder = try await Self.folder()
        let target = try await FakeTarget(in: folder, .answer(503, [:], #"{"reason":"ServiceUnavailable"}"#))
        let app = target.asUpstream(key: "\(folder)/certs/provider-key.p8")
        let gateway = try await Self.start(in: folder, app: app)
        #expect(try await Alerts.firing("FreshetUpstreamTrouble", gateway, afterMinutes: 5) == 0)
        #expect(try await Self.value(gateway, "freshet_upstream_last_success_timestamp_seconds") == nil)
        try await Self.register(gateway, "apns")
        _ = try await Self.until(gateway, "upstreams", "upstreams", "failing")
        try await Self.advance(gateway, seconds: 31)
        let health = try await Self.until(gateway, "upstreams", "upstreams", "inTrouble")
        let last = health["lastAnswer"] as? [String: Any]
        #expect(last?["status"] as? Int == 503 && last?["reason"] as? String == "ServiceUnavailable")
        #expect(health["waiting"] as? Int == 1)
        #expect((health["oldestWaitingSeconds"] as? Double).map { $0 >= 31 } == true)
        #expect(try await Alerts.firing("FreshetUpstreamTrouble", gateway, afterMinutes: 3) == 1)
        #expect(try await Self.value(gateway, "freshet_upstream_oldest_waiting_seconds").map { $0 >= 31 } == true)
        #expect(try await Self.value(gateway, "freshet_upstream_held") == 0)
        target.steps.set(.answer(200))
        _ = try await Self.until(gateway, "upstreams", "upstreams", "well")
        #expect(try await Alerts.firing("FreshetUpstreamTrouble", gateway, afterMinutes: 5) == 0)
        #expect(try await Self.value(gateway, "freshet_upstream_last_success_timestamp_seconds").map { $0 > 0 } == true)
        let log = await gateway.log().split(separator: "\n")
        #expect(log.filter { $0.contains("an upstream is in trouble") }.count == 1)
        #expect(log.filter { $0.contains("an upstream is well again") }.count == 1)
        await target.server.stop()
    }

    @Test func `an upstream that refuses the gateway's key is told of at once`() async throws {
        let folder = try await Self.folder()
        let target = try await FakeTarget(in: folder, .answer(403, [:], #"{"reason":"InvalidProviderToken"}"#))
        let app = target.asUpstream(key: "\(folder)/certs/provider-key.p8")
        let gateway = try await Self.start(in: folder, app: app)
        try await Self.register(gateway, "apns")
        let health = try await Self.until(gateway, "upstreams", "upstreams", "inTrouble")
        #expect(health["heldUntil"] is String)
        #expect((health["failures"] as? [String: Int])?["InvalidProviderToken"] == 1)
        #expect(try await Self.value(gateway, "freshet_upstream_held") == 1)
        #expect(try await Alerts.firing("FreshetUpstreamTrouble", gateway, afterMinutes: 3) == 1)
        await gateway.stop()
        await target.server.stop()
    }

    @Test func `freshet try-now tries what was held back, and the audit has it`() async throws {
        let folder = try await Self.folder()
        let target = try await FakeTarget(in: folder, .answer(403, [:], #"{"reason":"InvalidProviderToken"}"#))
        let app = target.asUpstream(key: "\(folder)/certs/provider-key.p8")
        let gateway = try await Self.start(in: folder, app: app)
        let verb = ["try-now", "--server", gateway.opsURL, "--ca", gateway.ca]
        let token = ["FRESHET_OPERATOR_TOKEN=\(try #require(gateway.operatorToken))", TestGateway.program]
        let before = try await Command.run("env", token + verb)
        #expect(before.output == "Nothing has failed: there is nothing to retry.\n", "\(before.errors)")
        try await Self.register(gateway, "apns")
        _ = try await Self.until(gateway, "upstreams", "upstreams", "inTrouble")
        target.steps.set(.answer(200))
        let tried = try await Command.run("env", token + verb)
        #expect(tried.output == "upstream of \(TestGateway.app): 1 tried now\n", "\(tried.errors)")
        // It would have been a quarter of an hour.
        _ = try await Self.until(gateway, "upstreams", "upstreams", "well")
        let audit = try await gateway.curl("GET", "\(gateway.opsURL)/v1/audit")
        #expect((audit.json["requests"] as? [[String: Any]])?.first?["path"] as? String == "/v1/try-now")
        let none = try await Command.run("env", token + verb + ["--app", "com.example.none"])
        #expect(none.status == 2 && none.errors.contains("com.example.none is not an app"), "\(none.errors)")
        await gateway.stop()
        await target.server.stop()
    }

    @Test(arguments: ["SIGHUP", "another key"])
    func `what was mended is tried at once`(how: String) async throws {
        let folder = try await Self.folder()
        let key = "\(folder)/upstream.p8"
        try FileManager.default.copyItem(atPath: "\(folder)/certs/provider-key.p8", toPath: key)
        let target = try await FakeTarget(in: folder, .answer(403, [:], #"{"reason":"InvalidProviderToken"}"#))
        let gateway = try await TestGateway.start(
            in: folder,
            extra: Self.deliveries,
            appSettings: "    developerMode: true\n" + target.asUpstream(key: key),
            options: ["--set", "tls.checkInterval=1s"]
        )
        try await Self.register(gateway, "apns")
        _ = try await Self.until(gateway, "upstreams", "upstreams", "inTrouble")
        target.steps.set(.answer(200))
        if how == "SIGHUP" {
            gateway.sendHangup()
        } else {
            let other = try await TestGateway.makeCertificates(named: "other", in: folder, [])
            let pem = try String(contentsOfFile: "\(other)/provider-key.p8", encoding: .utf8)
            try pem.write(toFile: key, atomically: true, encoding: .utf8)
        }
        // It would have been a quarter of an hour.
        _ = try await Self.until(gateway, "upstreams", "upstreams", "well")
        await gateway.stop()
        await target.server.stop()
    }

    @Test func `in a drill nothing is delivered, and what waits is seen`() async throws {
        let folder = try await Self.folder()
        let target = try await FakeTarget(in: folder, .answer(200))
        let gateway = try await TestGateway.start(
            in: folder,
            appSettings: "    developerMode: true\n" + target.asUpstream(key: "\(folder)/certs/provider-key.p8"),
            options: ["--no-deliveries"]
        )
        try await Self.register(gateway, "apns")
        let health = try await gateway.eventually("it waits") {
            let health = try await Self.health(gateway, "upstreams", "upstreams")
            return health["waiting"] as? Int == 1 ? health : nil
        }
        #expect(health["state"] as? String == "untried")
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        #expect((stats.json["deliveries"] as? [String: Any])?["isOff"] as? Bool == true)
        #expect(target.server.requests.isEmpty)
        #expect(await gateway.log().contains("nothing is delivered: this is a drill"))
        await target.server.stop()
    }

    @Test func `a webhook that answers 500 to everything is told of`() async throws {
        let folder = try await Self.folder()
        let target = try await FakeTarget(in: folder, .answer(500))
        try "a secret of the webhook".write(toFile: "\(folder)/secret", atomically: true, encoding: .utf8)
        let app = """
                webhook: {url: "\(target.url)/hook", secretFile: \(folder)/secret, ca: \(target.ca)}
            """
        let gateway = try await Self.start(in: folder, app: app)
        #expect(try await Alerts.firing("FreshetWebhookTrouble", gateway, afterMinutes: 3) == 0)
        try await Self.register(gateway, "webhook")
        _ = try await Self.until(gateway, "upstreams", "webhooks", "failing")
        try await Self.advance(gateway, seconds: 31)
        let health = try await Self.until(gateway, "upstreams", "webhooks", "inTrouble")
        #expect((health["lastAnswer"] as? [String: Any])?["status"] as? Int == 500)
        #expect(try await Alerts.firing("FreshetWebhookTrouble", gateway, afterMinutes: 3) == 1)
        #expect(try await Alerts.firing("FreshetUpstreamTrouble", gateway, afterMinutes: 3) == 0)
        await gateway.stop()
        await target.server.stop()
    }

    @Test func `a timeline provider that is down is told of`() async throws {
        let folder = try await Self.folder()
        // It ends, and its port refuses connections.
        let provider = try await ExampleProvider(in: folder)
        await provider.stop()
        let gateway = try await Self.start(in: folder, app: "", provider: provider.url)
        #expect(try await Alerts.firing("FreshetProviderTrouble", gateway, afterMinutes: 3) == 0)
        _ = try await gateway.register(1, teams: ["rams"], bearer: try await gateway.providerToken())
        _ = try await Self.until(gateway, "providers", "providers", "failing")
        try await Self.advance(gateway, seconds: 31)
        let health = try await Self.until(gateway, "providers", "providers", "inTrouble")
        #expect((health["lastAnswer"] as? [String: Any])?["status"] == nil)
        // Both kinds have it.
        #expect(try await Alerts.firing("FreshetProviderTrouble", gateway, afterMinutes: 3) >= 1)
        let isOpen = try await gateway.eventually("its breaker is open") { () -> Bool? in
            try await Self.value(gateway, #"freshet_provider_breaker_open{app="com.example.scores",kind="scores"}"#)
                == 1
                ? true : nil
        }
        #expect(isOpen)
        let log = await gateway.log().split(separator: "\n")
        #expect(log.contains { $0.contains("a timeline provider is in trouble") })
    }
}

import Foundation
import Testing

/// Bad input gets the documented error and changes nothing.
@Suite struct BadInputTests {
    private struct Case: Sendable {
        let name: String
        var token = TestGateway.token(1)
        var headers = ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets"]
        var body: String? = #"{"aps":{"content-changed":true}}"#
        let status: Int
        let reason: String
    }

    private static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    private static let pushes = [
        Case(name: "malformed JSON", body: #"{"aps":{"content-changed":true},}"#, status: 400, reason: "BadPayload"),
        Case(name: "no body", body: "", status: 400, reason: "PayloadEmpty"),
        Case(
            name: "a body of 4,097 bytes",
            body: #"{"aps":{"content-changed":true},"x":""# + String(repeating: "x", count: 4058) + #""}"#,
            status: 413,
            reason: "PayloadTooLarge"
        ),
        Case(
            name: "an unknown kind",
            body: #"{"aps":{"content-changed":true},"freshet":{"kind":"weather"}}"#,
            status: 400,
            reason: "BadPayload"
        ),
        Case(
            name: "a parameter that no kind has",
            body: #"{"aps":{"content-changed":true},"freshet":{"kind":"scores","match":{"tem":["rams"]}}}"#,
            status: 400,
            reason: "BadPayload"
        ),
        Case(name: "an unknown host", token: TestGateway.token(99), status: 400, reason: "BadDeviceToken"),
        Case(name: "a token that is not hex", token: "zz", status: 400, reason: "BadDeviceToken"),
        Case(name: "no topic", headers: ["apns-push-type: widgets"], status: 400, reason: "MissingTopic"),
        Case(
            name: "another app's topic",
            headers: ["apns-topic: com.example.other.push-type.widgets", "apns-push-type: widgets"],
            status: 400,
            reason: "TopicDisallowed"
        ),
        Case(
            name: "a push type that is not handled",
            headers: ["apns-topic: com.example.scores", "apns-push-type: alert"],
            status: 400,
            reason: "InvalidPushType"
        ),
        Case(
            name: "a priority of 7",
            headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets", "apns-priority: 7"],
            status: 400,
            reason: "BadPriority"
        ),
        Case(
            name: "a collapse id of 65 bytes",
            headers: [
                "apns-topic: \(TestGateway.topic)", "apns-push-type: widgets",
                "apns-collapse-id: \(String(repeating: "c", count: 65))",
            ],
            status: 400,
            reason: "BadCollapseId"
        ),
        Case(
            name: "an apns-id that is no UUID",
            headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets", "apns-id: 7"],
            status: 400,
            reason: "BadMessageId"
        ),
    ]

    @Test func `pushes that are wrong get APNs' reasons and are not logged`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let before = try await self.position(gateway)
        for item in Self.pushes {
            let answer = try await gateway.curl(
                "POST",
                "\(gateway.pushURL)/3/device/\(item.token)",
                bearer: bearer,
                headers: item.headers,
                body: item.body
            )
            #expect(answer.status == item.status, "\(item.name): \(answer.body)")
            #expect(answer.reason == item.reason, "\(item.name): \(answer.body)")
            #expect(answer.headers["apns-id"]?.count == 36, "\(item.name)")
        }
        #expect(try await self.position(gateway) == before)
        await gateway.stop()
    }

    @Test func `the edge of the body limit is 4,096 bytes`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        for (bytes, status) in [(4095, 200), (4096, 200), (4097, 413), (70_000, 413)] {
            let start = #"{"aps":{"content-changed":true},"x":""#
            let body = start + String(repeating: "x", count: bytes - start.utf8.count - 2) + #""}"#
            #expect(body.utf8.count == bytes)
            let answer = try await gateway.curl(
                "POST",
                "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
                bearer: bearer,
                headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets"],
                body: body
            )
            #expect(answer.status == status, "\(bytes) bytes: \(answer.body)")
        }
        await gateway.stop()
    }

    @Test func `credentials that are wrong are told apart`() async throws {
        let gateway = try await TestGateway.start()
        let now = Int64(Date().timeIntervalSince1970)
        let mint = { (issuedAt: Int64, team: String, kid: String) in
            try await Command.run(
                TestGateway.program,
                [
                    "token", "mint", "--key", gateway.key, "--kid", kid, "--team", team, "--issued-at", "\(issuedAt)",
                ]
            ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let good = try await mint(now, TestGateway.team, TestGateway.kid)
        let tokens: [(String?, String)] = [
            (nil, "MissingProviderToken"),
            (try await mint(now - 7200, TestGateway.team, TestGateway.kid), "ExpiredProviderToken"),
            (try await mint(now, "OTHERTEAM1", TestGateway.kid), "InvalidProviderToken"),
            (try await mint(now, TestGateway.team, "OTHERKEY01"), "InvalidProviderToken"),
            (String(good.dropLast(8)) + "AAAAAAAA", "InvalidProviderToken"),
            ("nonsense", "InvalidProviderToken"),
        ]
        for (token, reason) in tokens {
            let answer = try await gateway.curl(
                "POST",
                "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
                bearer: token,
                headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets"],
                body: #"{"aps":{"content-changed":true}}"#
            )
            #expect(answer.status == 403)
            #expect(answer.reason == reason)
        }
        await gateway.stop()
    }

    /// The header of a script whose token could not be made.
    @Test(arguments: ["bearer ", "bearer \t", "bearer"])
    func `an authorization without a token is told that it is missing`(value: String) async throws {
        let tokens = "\(try TestGateway.makeFolder())/tokens"
        try "0123456789abcdef0123".write(toFile: tokens, atomically: true, encoding: .utf8)
        let gateway = try await TestGateway.start(extra: "ops: {tokensFile: \(tokens)}")
        let headers = ["authorization: \(value)"]
        let push = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            headers: headers + ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets"],
            body: #"{"aps":{"content-changed":true}}"#
        )
        #expect(push.status == 403)
        #expect(push.reason == "MissingProviderToken")
        for url in ["\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets", "\(gateway.opsURL)/v1/stats"] {
            for version in ["--http2", "--http1.1"] {
                let answer = try await gateway.curl("GET", url, headers: headers, options: [version])
                #expect(answer.status == 401, "\(url) \(version)")
                #expect(answer.reason == "missing-credential", "\(url) \(version)")
            }
        }
        await gateway.stop()
    }

    @Test func `headers beyond 8 KiB are 431`() async throws {
        let gateway = try await TestGateway.start()
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            headers: ["apns-id: \(Self.id)", "x-long: \(String(repeating: "x", count: 9000))"],
            body: "{}"
        )
        #expect(answer.status == 431)
        #expect(answer.headers["apns-id"] == Self.id)
        let about = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/4/broadcasts/apps/\(TestGateway.app)",
            headers: ["apns-request-id: \(Self.id)", "x-long: \(String(repeating: "x", count: 9000))"],
            body: "{}"
        )
        #expect(about.status == 431)
        #expect(about.headers["apns-request-id"] == Self.id)
        await gateway.stop()
    }

    @Test func `a push without a good credential is refused before its body comes`() async throws {
        let gateway = try await TestGateway.start(extra: "timeouts: {request: 1h}")
        let options = ["--unfinished", "--id", Self.id, "--close-after", "response"]
        let events = await (try Probe(gateway, push: true, bearer: "a.b.c", options: options)).all()
        #expect(events.contains("response 403"), "\(events)")
        #expect(events.contains("body InvalidProviderToken"), "\(events)")
        #expect(events.contains("id \(Self.id)"), "\(events)")
        await gateway.stop()
    }

    @Test func `a push that does not come whole is 408, with its id and no body`() async throws {
        let gateway = try await TestGateway.start(extra: "timeouts: {request: 5s}")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let options = ["--unfinished", "--id", Self.id, "--close-after", "response"]
        let events = await (try Probe(gateway, push: true, bearer: bearer, options: options)).all()
        #expect(events.filter { $0.hasPrefix("response") || $0.hasPrefix("id") } == ["response 408", "id \(Self.id)"])
        #expect(!events.contains { $0.hasPrefix("body") })
        await gateway.stop()
    }

    @Test func `registrations that are wrong say where, and change nothing`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer, revision: 5)
        let before = try await self.position(gateway)
        let instance = { (inner: String) in #"{"app":"com.example.scores","revision":9,"instances":[\#(inner)]}"# }
        let bodies: [(body: String, code: String, path: String?)] = [
            ("{", "malformed-json", nil),
            (#"{"app":"com.example.other","instances":[]}"#, "bad-request", "app"),
            (#"{"app":"com.example.scores","instances":[],"instance":[]}"#, "bad-request", "instance"),
            (instance(#"{"id":"a","kind":"weather","family":"systemSmall"}"#), "unknown-kind", "instances[0].kind"),
            (instance(#"{"id":"a","kind":"scores","family":"huge"}"#), "bad-request", "instances[0].family"),
            (
                instance(#"{"id":"a","kind":"scores","family":"systemSmall","configuration":{"team":7}}"#),
                "bad-configuration", "instances[0].configuration.team"
            ),
            (
                instance(
                    #"{"id":"a","kind":"scores","family":"systemSmall","configuration":{"team":"x","limit":1.5}}"#
                ),
                "bad-configuration", "instances[0].configuration.limit"
            ),
            (
                instance(#"{"id":"a","kind":"scores","family":"systemSmall","when":{}}"#), "bad-configuration",
                "instances[0].configuration.team"
            ),
        ]
        for item in bodies {
            let answer = try await gateway.curl(
                "PUT",
                "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
                bearer: bearer,
                body: item.body
            )
            #expect(answer.status == 400, "\(item.body): \(answer.body)")
            #expect(answer.reason == item.code, "\(item.body): \(answer.body)")
            #expect(answer.json["path"] as? String == item.path, "\(item.body): \(answer.body)")
            #expect(answer.headers["content-type"] == "application/problem+json")
        }
        #expect(try await self.position(gateway) == before)

        let stale = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer,
            body: TestGateway.registration(1, teams: ["rams"], revision: 4)
        )
        #expect(stale.status == 409)
        #expect(stale.reason == "stale-revision")
        let instances = try await gateway.curl(
            "GET",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer
        )
        #expect(instances.body.contains("seahawks") && !instances.body.contains("rams"))
        await gateway.stop()
    }

    @Test func `a bad line of an import is refused alone`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        let lines = [
            TestGateway.registration(1, teams: ["seahawks"], token: TestGateway.token(1)),
            "nonsense",
            TestGateway.registration(2, teams: ["rams"], token: "xyz"),
            TestGateway.registration(3, teams: ["rams"], token: TestGateway.token(3)),
        ]
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/hosts",
            bearer: bearer,
            body: lines.joined(separator: "\n")
        )
        #expect(answer.status == 200)
        let statuses = answer.body.split(separator: "\n").map { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["status"] as? Int
        }
        #expect(statuses == [200, 400, 400, 200])
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        #expect((stats.json["registry"] as? [String: Any])?["hosts"] as? Int == 2)
        await gateway.stop()
    }

    @Test func `a targeted push that matches too much is 409 with the count`() async throws {
        let gateway = try await TestGateway.start(appSettings: "    maxMatched: 2")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let push = { (id: String) in
            try await gateway.curl(
                "POST",
                "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
                bearer: bearer,
                headers: ["apns-id: \(id)"],
                body: #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
            )
        }
        let accepted = "123e4567-e89b-12d3-a456-4266554400a0"
        #expect(try await push(accepted).status == 200)
        _ = try await gateway.register(2, teams: [], bearer: bearer)
        let refused = try await push("123e4567-e89b-12d3-a456-4266554400a1")
        #expect(refused.status == 409)
        #expect(refused.json["matched"] as? Int == 3)
        #expect(try await push(accepted).status == 200, "its sender has not seen the answer, and it matched two")
        await gateway.stop()
    }

    /// The newest position of the log: nothing was logged if it stays.
    private func position(_ gateway: TestGateway) async throws -> Int {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let partitions = stats.json["partitions"] as? [[String: Any]]
        return try #require(partitions?.first?["applied"] as? Int)
    }
}

import Foundation
import Testing

/// Teams, keys, apps and kinds that operators change by requests.
@Suite struct AmendmentTests {
    private static let team = "NEWTEAM001"
    private static let kid = "NEWKEY0001"
    private static let app = "com.example.news"

    /// A new key pair: the file of the private half, and the public half as a key's entry.
    private static func makeKey(in folder: String) async throws -> (file: String, entry: String) {
        let (file, publicKey) = try await TestGateway.makeKey("new", in: folder)
        return (file, try Self.entry(try String(contentsOfFile: publicKey, encoding: .utf8)))
    }

    private static func entry(_ publicKey: String) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: ["publicKey": publicKey]), as: UTF8.self)
    }

    private static func ask(
        _ gateway: TestGateway,
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        headers: [String] = []
    ) async throws -> TestGateway.Answer {
        try await gateway.curl(method, "\(gateway.opsURL)\(path)", headers: headers, body: body)
    }

    private static func amended(_ gateway: TestGateway) async throws -> [String] {
        let answer = try await Self.ask(gateway, "GET", "/v1/config/amendments")
        let rows = answer.json["amendments"] as? [[String: Any]] ?? []
        return rows.compactMap { ($0["team"] ?? $0["app"]) as? String }.sorted()
    }

    private static func register(_ gateway: TestGateway, _ bearer: String) async throws -> Int {
        let instance = #"{"id":"a","kind":"headlines","family":"systemSmall","configuration":{}}"#
        return try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(7))/widgets",
            bearer: bearer,
            body: #"{"app":"\#(Self.app)","host":"reader","revision":1,"instances":[\#(instance)]}"#
        ).status
    }

    @Test(.oneGateway("it starts again"))
    func `a team, a key and an app that requests make push at once, outlive kill -9 and a reload, and end`()
        async throws
    {
        let folder = try TestGateway.makeFolder()
        var gateway = try await TestGateway.start(in: folder, partitions: 2)
        let (key, entry) = try await Self.makeKey(in: folder)
        let bearer = try await TestGateway.providerToken(key, kid: Self.kid, team: Self.team)
        #expect(try await gateway.push(7, of: Self.app, bearer: bearer) == "InvalidProviderToken")

        #expect(try await Self.ask(gateway, "PUT", "/v1/teams/\(Self.team)", "{}").status == 200)
        #expect(try await Self.ask(gateway, "PUT", "/v1/teams/\(Self.team)/keys/\(Self.kid)", entry).status == 200)
        let app = try await Self.ask(gateway, "PUT", "/v1/apps/\(Self.app)", #"{"team":"\#(Self.team)"}"#)
        #expect(app.status == 200, "\(app.body)")
        #expect(try await Self.ask(gateway, "PUT", "/v1/apps/\(Self.app)/kinds/headlines", "{}").status == 200)
        #expect(try await Self.register(gateway, bearer) == 200)
        #expect(try await gateway.push(7, of: Self.app, bearer: bearer) == "200")

        await gateway.crash()
        gateway = try await TestGateway.start(in: folder, partitions: 2)
        #expect(try await gateway.push(7, of: Self.app, bearer: bearer) == "200")
        #expect(try await Self.amended(gateway) == [Self.team, Self.app])

        // The file changes, and says nothing of them.
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try "limits: {maxTags: 7}\n\(text)".write(toFile: file, atomically: true, encoding: .utf8)
        gateway.sendHangup()
        _ = try await gateway.eventually("the file was read") {
            let configuration = try await Self.ask(gateway, "GET", "/v1/config").json["configuration"] as? [String: Any]
            return (configuration?["limits"] as? [String: Any])?["maxTags"] as? Int == 7 ? true : nil
        }
        #expect(try await gateway.push(7, of: Self.app, bearer: bearer) == "200")
        let difference = try await gateway.runVerb(["config", "diff"])
        #expect(difference.output.contains("The app \(Self.app) stays as operator-token changed it"))

        #expect(try await Self.ask(gateway, "DELETE", "/v1/teams/\(Self.team)/keys/\(Self.kid)").status == 200)
        #expect(try await gateway.push(7, of: Self.app, bearer: bearer) == "InvalidProviderToken")
        let refused = try await Self.ask(gateway, "DELETE", "/v1/teams/\(Self.team)")
        #expect(refused.status == 409 && refused.body.contains("there is no team"))
        #expect(try await Self.ask(gateway, "DELETE", "/v1/apps/\(Self.app)").status == 200)
        #expect(try await Self.ask(gateway, "DELETE", "/v1/teams/\(Self.team)").status == 200)
        #expect(try await Self.amended(gateway) == [])
        await gateway.crash()
        gateway = try await TestGateway.start(in: folder, partitions: 2)
        #expect(try await gateway.push(7, of: Self.app, bearer: bearer) == "InvalidProviderToken")
        await gateway.stop()
    }

    @Test(.oneGateway("it starts again"))
    func `a key of the file ends by a request, also after a restart, until that is taken back`() async throws {
        let folder = try TestGateway.makeFolder()
        var gateway = try await TestGateway.start(in: folder, appSettings: "    unknownTokens: accept")
        let bearer = try await gateway.providerToken()
        #expect(try await gateway.push(1, bearer: bearer) == "200")
        let path = "/v1/teams/\(TestGateway.team)/keys/\(TestGateway.kid)"
        let key = try await Self.ask(gateway, "GET", path)
        let tag = try #require(key.headers["etag"])
        #expect(try await Self.ask(gateway, "DELETE", path, headers: ["if-match: \"other\""]).status == 412)
        #expect(try await Self.ask(gateway, "DELETE", path, headers: ["if-match: \(tag)"]).status == 200)
        #expect(try await gateway.push(1, bearer: bearer) == "InvalidProviderToken")
        await gateway.crash()
        gateway = try await TestGateway.start(in: folder, appSettings: "    unknownTokens: accept")
        #expect(try await gateway.push(1, bearer: bearer) == "InvalidProviderToken")
        let reverted = try await gateway.runVerb(["config", "revert", "--team", TestGateway.team, "--yes"])
        #expect(reverted.status == 0, "\(reverted.errors)")
        #expect(try await gateway.push(1, bearer: bearer) == "200")
        await gateway.stop()
    }

    @Test func `what is refused says why, and a private key is neither taken nor kept`() async throws {
        let gateway = try await TestGateway.start()
        let misspelt = try await Self.ask(
            gateway,
            "PUT",
            "/v1/apps/\(Self.app)",
            #"{"team":"\#(TestGateway.team)","kind":[]}"#
        )
        #expect(misspelt.status == 422 && misspelt.body.contains("did you mean kinds?"), "\(misspelt.body)")
        let lonely = try await Self.ask(gateway, "PUT", "/v1/apps/\(Self.app)", #"{"team":"NOSUCHTEAM"}"#)
        #expect(lonely.status == 409 && lonely.body.contains("there is no team"), "\(lonely.body)")
        let (key, _) = try await Self.makeKey(in: gateway.folder)
        let entry = try Self.entry(try String(contentsOfFile: key, encoding: .utf8))
        let path = "/v1/teams/\(TestGateway.team)/keys/\(Self.kid)"
        let refused = try await Self.ask(gateway, "PUT", path, entry)
        #expect(refused.status == 400 && refused.body.contains("private key"))
        let trial = try await Self.ask(gateway, "DELETE", "/v1/apps/\(TestGateway.app)?dryRun=true")
        #expect(trial.status == 200 && trial.json["dryRun"] as? Bool == true)
        #expect(try await Self.ask(gateway, "GET", "/v1/apps/\(TestGateway.app)").status == 200)
        #expect(try await Self.ask(gateway, "GET", "/v1/apps/\(Self.app)").status == 404)
        for url in gateway.opsURLs {
            let audit = try await gateway.curl("GET", "\(url)/v1/audit")
            #expect(!audit.body.contains("PRIVATE KEY"))
            let statuses = (audit.json["requests"] as? [[String: Any]] ?? []).compactMap { $0["status"] as? Int }
            // A dry run is no change.
            #expect(statuses.sorted() == [409, 422])
        }
        await gateway.stop()
    }

    @Test func `the verbs show, put and end what the file's form says`() async throws {
        let gateway = try await TestGateway.start()
        let (key, _) = try await Self.makeKey(in: gateway.folder)
        let put = ["config", "put", "--team", TestGateway.team, "--key", Self.kid, "--public-key", key]
        let trial = try await gateway.runVerb(put + ["--dry-run"])
        #expect(trial.status == 0 && trial.output.contains(Self.kid), "\(trial.output) \(trial.errors)")
        #expect(try await gateway.runVerb(put).status == 64, "there is no terminal to ask on")
        let done = try await gateway.runVerb(put + ["--yes"])
        #expect(done.status == 0, "\(done.errors)")
        try await gateway.expectEverywhere("the key is listed") {
            try await gateway.runVerb(["teams"]).output.contains("\(TestGateway.kid), \(Self.kid)")
        }

        let shown = try await gateway.runVerb(["config", "get", "--app", TestGateway.app])
        #expect(shown.status == 0 && shown.output.contains("bundleID: \(TestGateway.app)"))
        let file = "\(gateway.folder)/app.yaml"
        try shown.output.replacing("developerMode: false", with: "developerMode: true")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let changed = try await gateway.runVerb(["config", "put", "--app", TestGateway.app, "--file", file, "--yes"])
        #expect(changed.status == 0, "\(changed.errors)")
        try await gateway.expectEverywhere("the app is as the file says") {
            let apps = try await Self.ask(gateway, "GET", "/v1/apps").json["apps"] as? [[String: Any]]
            return apps?.first?["developerMode"] as? Bool == true
        }
        let amendments = try await gateway.runVerb(["config", "amendments"])
        #expect(amendments.output.contains("changed") && amendments.output.contains(TestGateway.team))
        try "team: [".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            try await gateway.runVerb(["config", "put", "--app", TestGateway.app, "--file", file, "--yes"]).status == 78
        )
        #expect(try await gateway.runVerb(["config", "end", "--app", "no.such.app", "--yes"]).status == 2)
        let end = ["config", "end", "--team", TestGateway.team, "--key", Self.kid, "--yes"]
        #expect(try await gateway.runVerb(end).status == 0)
        await gateway.stop()
    }
}

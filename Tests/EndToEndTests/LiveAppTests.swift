import Foundation
import Testing

/// Apps, kinds and operators that change while the gateway runs.
@Suite struct LiveAppTests {
    private static let news = "com.example.news"

    private static func change(_ gateway: TestGateway, _ change: (String) -> String) async throws -> [String: Any] {
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try change(text).write(toFile: file, atomically: true, encoding: .utf8)
        var json: [String: Any] = [:]
        for url in gateway.opsURLs {
            let answer = try await gateway.curl("POST", "\(url)/v1/config/reload")
            try #require(answer.status == 200, "\(answer.body)")
            json = answer.json
        }
        return json
    }

    private static func register(_ gateway: TestGateway, _ bearer: String, kind: String, revision: Int) async throws
        -> Int
    {
        let instance = #"{"id":"a","kind":"\#(kind)","family":"systemSmall","configuration":{}}"#
        return try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(7))/widgets",
            bearer: bearer,
            body: #"{"app":"\#(Self.news)","host":"reader","revision":\#(revision),"instances":[\#(instance)]}"#
        ).status
    }

    @Test func `an app that comes is served, one that goes is not, and one that comes again has its hosts`()
        async throws
    {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        #expect(try await Self.register(gateway, bearer, kind: "headlines", revision: 1) >= 400)
        let refused = try await gateway.push(7, of: Self.news, bearer: bearer)
        #expect(refused != "200")

        let app = """
              - bundleID: \(Self.news)
                team: \(TestGateway.team)
                kinds: [{kind: headlines}]

            """
        let added = try await Self.change(gateway) { $0.replacing("apps:\n", with: "apps:\n\(app)") }
        #expect(added["restartNeeded"] as? [String] == [])
        #expect(try await Self.register(gateway, bearer, kind: "headlines", revision: 2) == 200)
        #expect(try await gateway.push(7, of: Self.news, bearer: bearer) == "200")
        // The app that was there before is where it was, though it is the second now.
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)

        let kind = try await Self.change(gateway) {
            $0.replacing("kinds: [{kind: headlines}]", with: "kinds: [{kind: headlines}, {kind: weather}]")
        }
        #expect(kind["restartNeeded"] as? [String] == [])
        #expect(try await Self.register(gateway, bearer, kind: "weather", revision: 3) == 200)

        let removed = try await Self.change(gateway) { text in
            var rest = text
            let start = rest.range(of: "  - bundleID: \(Self.news)")
            let end = rest.range(of: "  - bundleID: \(TestGateway.app)")
            if let start, let end { rest.removeSubrange(start.lowerBound..<end.lowerBound) }
            return rest
        }
        #expect(removed["restartNeeded"] as? [String] == [])
        #expect(try await gateway.push(7, of: Self.news, bearer: bearer) == refused)
        #expect(try await Self.register(gateway, bearer, kind: "weather", revision: 4) >= 400)

        _ = try await Self.change(gateway) { $0.replacing("apps:\n", with: "apps:\n\(app)") }
        #expect(try await gateway.push(7, of: Self.news, bearer: bearer) == "200")
        var audited: Set<String> = []
        for url in gateway.opsURLs {
            let audit = try await gateway.curl("GET", "\(url)/v1/audit").json
            audited.formUnion((audit["requests"] as? [[String: Any]] ?? []).compactMap { $0["request"] as? String })
        }
        #expect(audited.count == 4 * gateway.opsURLs.count)
        await gateway.stop()
    }

    @Test(.oneGateway("it starts again"))
    func `operators' tokens are read again, and who changed what outlives the process`() async throws {
        let folder = try TestGateway.makeFolder()
        let first = try await TestGateway.start(in: folder)
        let tokens = "\(folder)/tokens"
        try "reader-reader-reader read desk\nadmin-admin-admin-1 admin night\n"
            .write(toFile: tokens, atomically: true, encoding: .utf8)
        _ = try await Self.change(first) { "ops: {tokensFile: \(tokens)}\n\($0)" }
        func status(_ gateway: TestGateway, _ bearer: String?) async throws -> Int {
            try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats", bearer: bearer).status
        }
        #expect(try await status(first, nil) == 401)
        #expect(try await status(first, "reader-reader-reader") == 200)
        try "admin-admin-admin-1 admin night\n".write(toFile: tokens, atomically: true, encoding: .utf8)
        let reload = try await first.curl("POST", "\(first.opsURL)/v1/config/reload", bearer: "admin-admin-admin-1")
        #expect(reload.status == 200)
        #expect(try await status(first, "reader-reader-reader") == 401)
        await first.crash()

        let second = try await TestGateway.start(in: folder, extra: "ops: {tokensFile: \(tokens)}")
        let audit = try await second.curl("GET", "\(second.opsURL)/v1/audit", bearer: "admin-admin-admin-1")
        let callers = (audit.json["requests"] as? [[String: Any]])?.compactMap { $0["caller"] as? String }
        #expect(callers == ["night", "operator-token"])
        await second.stop()
    }
}

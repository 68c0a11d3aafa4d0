import Foundation
import Testing

/// The token that a gateway makes for its operators, and the gate that keeps web pages away, on the wire.
@Suite struct OperatorTokenTests {
    /// A verb's output, and how it ended; with variables, in a folder.
    private static func run(
        _ arguments: [String],
        in folder: String,
        _ variables: [String] = []
    ) async throws -> (status: Int32, output: String, errors: String) {
        let result = try await Command.run("env", ["--chdir", folder] + variables + [TestGateway.program] + arguments)
        return (result.status, result.output, result.errors)
    }

    @Test func `the first start makes a token, later ones find it, and no request passes without it`() async throws {
        let folder = try TestGateway.makeFolder()
        let first = try await TestGateway.start(in: folder)
        let file = "\(folder)/data/operator-token"
        let token = try #require(first.operatorToken)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(token)\n")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for (route, status) in [
            ("/livez", 200), ("/readyz", 200), ("/version", 200), ("/", 200), ("/metrics", 401), ("/v1/stats", 401),
            ("/v1/openapi.yaml", 401),
        ] {
            #expect(try await first.curl("GET", first.opsURL + route, isOperator: false).status == status, "\(route)")
            #expect(try await first.curl("GET", first.opsURL + route).status == 200, "\(route)")
        }
        let session = try await first.curl("GET", "\(first.opsURL)/v1/session").json
        #expect(session["name"] as? String == "operator-token")
        #expect(session["scopes"] as? [String] == ["read", "write", "admin"])
        await first.crash()

        let second = try await TestGateway.start(in: folder)
        #expect(second.operatorToken == token)
        // Taken away, it is made anew when the configuration is read again.
        try FileManager.default.removeItem(atPath: file)
        #expect(try await second.curl("POST", "\(second.opsURL)/v1/config/reload").status == 200)
        #expect(try await second.curl("GET", "\(second.opsURL)/v1/stats").status == 401)
        let next = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(next != token)
        #expect(try await second.curl("GET", "\(second.opsURL)/v1/stats", bearer: next).status == 200)
        await second.stop()
    }

    @Test func `verbs find the token beside the gateway, and say where they looked`() async throws {
        let gateway = try await TestGateway.start()
        let token = try #require(gateway.operatorToken)
        let file = "\(gateway.folder)/mine"
        try "# mine\n\(token) admin me\n".write(toFile: file, atomically: true, encoding: .utf8)
        let elsewhere = FileManager.default.temporaryDirectory.path
        let ask = ["config", "diff", "--server", gateway.opsURL, "--ca", gateway.ca]
        for (more, folder, variables) in [
            ([], gateway.folder, []), (["--data", "\(gateway.folder)/data"], elsewhere, []),
            ([], elsewhere, ["FRESHET_DATA_DIRECTORY=\(gateway.folder)/data"]),
            ([], elsewhere, ["FRESHET_OPERATOR_TOKEN=\(token)"]), (["--token-file", file], elsewhere, []),
        ] {
            let found = try await Self.run(ask + more, in: folder, variables)
            #expect(found.status == 0, "\(more) \(variables): \(found.errors)")
        }
        for verb in [
            ask, ["hosts", "remove", "a/x", "--yes"] + ask.dropFirst(2), ["why", "a/b:c"] + ask.dropFirst(2),
        ] {
            let lost = try await Self.run(verb, in: elsewhere)
            #expect(lost.status == 2)
            #expect(
                lost.errors.contains("data/operator-token") && lost.errors.contains("--token-file"),
                "\(lost.errors)"
            )
        }
        let wrong = try await Self.run(ask, in: gateway.folder, ["FRESHET_OPERATOR_TOKEN=of-another-gateway"])
        #expect(wrong.status == 2 && wrong.errors.contains("FRESHET_OPERATOR_TOKEN"), "\(wrong.errors)")
        #expect(!wrong.errors.contains("of-another-gateway") && !wrong.output.contains(token))
        await gateway.stop()
    }

    @Test func `the dashboard's address carries the token of the gateway beside it, and of no other`() async throws {
        let folder = try TestGateway.makeFolder()
        try FileManager.default.createDirectory(atPath: "\(folder)/data", withIntermediateDirectories: true)
        let token = "0123456789abcdef/+&#"
        try "\(token)\n".write(toFile: "\(folder)/data/operator-token", atomically: true, encoding: .utf8)
        let escaped = "0123456789abcdef%2F%2B%26%23"
        for (server, address) in [
            (nil, "https://127.0.0.1:9443/#token=\(escaped)"),
            ("https://localhost:1234", "https://localhost:1234/#token=\(escaped)"),
            ("https://[::1]:1234", "https://[::1]:1234/#token=\(escaped)"),
            ("https://gateway.example.com", "https://gateway.example.com:9443/"),
            ("https://127.evil.example:9443", "https://127.evil.example:9443/"),
        ] as [(String?, String)] {
            let told = try await Self.run(["dashboard"] + (server.map { ["--server", $0] } ?? []), in: folder)
            #expect(told.status == 0 && told.output == "\(address)\n", "\(told)")
            #expect(told.errors.contains("no token was found") == !address.contains("#"))
        }
        let told = try await Self.run(
            ["dashboard", "--server", "https://gateway.example.com"],
            in: folder,
            ["FRESHET_OPERATOR_TOKEN=abc"]
        )
        #expect(told.output == "https://gateway.example.com:9443/#token=abc\n")
        #expect(try await Self.run(["dashboard", "--server", "http://localhost:1"], in: folder).status == 64)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a gateway in memory has its token where nothing stays, and none in a data directory`() async throws {
        let folder = try TestGateway.makeFolder()
        let gateway = try await TestGateway.start(
            in: folder,
            environment: ["XDG_RUNTIME_DIR": folder],
            options: ["--in-memory"]
        )
        let token = try #require(gateway.operatorToken)
        let own = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("freshet-") }
        #expect(own.count == 1)
        let runtime = "\(folder)/\(try #require(own.first))"
        #expect(try FileManager.default.contentsOfDirectory(atPath: runtime) == ["operator-token"])
        let mode = try FileManager.default.attributesOfItem(atPath: runtime)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/data"))
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats", isOperator: false).status == 401)
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats", bearer: token).status == 200)
        #expect(await gateway.drain() == 0)
        #expect(!FileManager.default.fileExists(atPath: runtime))
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Whatever credential a browser brings along, and where none is wanted at all.
    @Test func `a web page gives no order, with a certificate or where everybody may`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let client = try await TestGateway.makeCertificates(named: "boss", in: folder, ["--user-id", "boss"])
        let certificate = ["--cert", "\(client)/client.pem", "--key", "\(client)/client.key"]
        for (settings, identity) in [
            ("ops: {certificates: [{userID: boss, scope: admin}]}", certificate), ("ops: {open: true}", []),
        ] {
            let gateway = try await TestGateway.start(in: folder, extra: settings)
            func order(_ headers: [String], _ authority: String = "localhost") async throws -> TestGateway.Answer {
                let place = "\(authority):\(gateway.opsPort)"
                return try await gateway.curl(
                    "POST",
                    "https://\(place)/v1/orders",
                    headers: headers,
                    body: #"{"action":"pause","of":{"app":"\#(TestGateway.app)"}}"#,
                    options: ["--http1.1", "--insecure", "--resolve", "\(place):127.0.0.1"] + identity,
                    isOperator: false
                )
            }
            let json = "content-type: application/json"
            #expect(try await order([json]).status == 200)
            #expect(try await order([json, "origin: \(gateway.opsURL)", "sec-fetch-site: same-origin"]).status == 200)
            for (headers, status) in [
                (["content-type: text/plain"], 415),
                (["content-type: text/plain", "origin: https://evil.example"], 403),
                ([json, "origin: null"], 403), ([json, "sec-fetch-site: cross-site"], 403),
                ([json, "sec-fetch-site: same-site"], 403), ([json, "host: evil.example"], 421),
            ] {
                #expect(try await order(headers).status == status, "\(headers)")
            }
            #expect(try await order([json], "evil.example").status == 421, "a name that was made to lead here")
            let identified = ["--http2"] + identity
            let audit = try await gateway.curl(
                "GET",
                "\(gateway.opsURL)/v1/audit",
                options: identified,
                isOperator: false
            )
            #expect((audit.json["requests"] as? [[String: Any]])?.count == 2, "\(audit.body)")
            _ = await gateway.drain()
            try FileManager.default.removeItem(atPath: "\(folder)/data")
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Clients whose connection or stream is reset right behind the body: some orders never come, some are carried out.
    @Test func `what was ordered by clients that hang up is in the audit, before and after kill -9`() async throws {
        let folder = try TestGateway.makeFolder()
        let first = try await TestGateway.start(in: folder, partitions: 2)
        _ = try await first.register(1, teams: ["seahawks"], bearer: try await first.providerToken())
        func hangUp(_ range: Range<Int>) async throws {
            let order = #"{"action":"grant","count":1,"of":{"instance":"\#(TestGateway.app)/host-1:scores-0"}}"#
            let result = try await Command.run(
                TestGateway.python,
                [
                    "\(TestGateway.root)/Tests/EndToEndTests/Clients/hanging_up.py", "\(first.opsPort)", first.ca,
                    "--bearer", try #require(first.operatorToken), "--body", order,
                    "--first", "\(range.lowerBound)", "--count", "\(range.count)",
                ]
            )
            try #require(result.status == 0, "\(result.errors)")
        }
        func granted(_ gateway: TestGateway) async throws -> Int {
            let answer = try await gateway.curl(
                "GET",
                "\(gateway.opsURL)/v1/instances/\(TestGateway.app)/host-1:scores-0"
            ).json
            return try #require((answer["budget"] as? [String: Any])?["allowance"] as? Int)
        }
        func audited(_ gateway: TestGateway) async throws -> [String] {
            let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/audit").json
            let requests = try #require(answer["requests"] as? [[String: Any]])
            #expect(requests.allSatisfy { $0["caller"] as? String == "operator-token" && $0["status"] as? Int == 200 })
            #expect(requests.allSatisfy { ($0["remoteAddress"] as? String)?.hasPrefix("127.0.0.1") == true })
            return requests.compactMap { $0["request"] as? String }
        }
        let before = try await granted(first)
        try await hangUp(0..<100)
        _ = try await first.eventually("as many are in the audit as were carried out") {
            let (names, count) = (try await audited(first), try await granted(first) - before)
            return names.count == count ? true : nil
        }
        try await hangUp(100..<200)
        // Whatever is under way.
        await first.crash()

        let second = try await TestGateway.start(in: folder, partitions: 2)
        let names = try await audited(second)
        #expect(try await granted(second) - before == names.count)
        #expect(names.count > 0 && Set(names).count == names.count, "each is there once: \(names.count)")
        #expect(names.allSatisfy { $0.hasPrefix("hung-up-") })
        // The audit's file beside the log is no more than an index of it.
        #expect(await second.drain() == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/data")
        where name.hasPrefix("audit.sqlite") {
            try FileManager.default.removeItem(atPath: "\(folder)/data/\(name)")
        }
        let third = try await TestGateway.start(in: folder, partitions: 2)
        #expect(try await audited(third) == names)
        #expect(try await granted(third) - before == names.count)
        await third.stop()
    }

    @Test func `orders are told live to administrators alone`() async throws {
        let tokens = "reader-reader-reader read,admin-admin-admin admin"
        let gateway = try await TestGateway.start(environment: ["FRESHET_OPS_TOKENS": tokens])
        func follow(_ bearer: String) throws -> Command {
            let arguments = ["--silent", "--no-buffer", "--http2", "--cacert", gateway.ca, "--header"]
            let events = ["authorization: bearer \(bearer)", "\(gateway.opsURL)/v1/events"]
            return try Command("curl", arguments + events)
        }
        let (boss, reader) = (try follow("admin-admin-admin"), try follow("reader-reader-reader"))
        /// The number of the first event of a type, from here on; of types that are left out, the numbers pass.
        func number(_ type: String, _ stream: Command) async throws -> Int {
            var number = 0
            for await line in stream.lines {
                if line.hasPrefix("id: ") { number = Int(line.split(separator: "-").last ?? "") ?? 0 }
                if line == "event: \(type)" { return number }
            }
            throw TestGateway.Failure("the stream ended")
        }
        // Both follow.
        _ = try await number("sample", boss)
        let seen = try await number("sample", reader)
        let order = try await gateway.curl(
            "POST",
            "\(gateway.opsURL)/v1/orders",
            bearer: "admin-admin-admin",
            body: #"{"action":"pause","of":{"app":"\#(TestGateway.app)"}}"#
        )
        #expect(order.status == 200)
        let told = try await number("order", boss)
        #expect(told > seen)
        var last = seen
        for await line in reader.lines {
            #expect(line != "event: order" && !line.contains("remoteAddress"), "\(line)")
            if line.hasPrefix("id: ") { last = Int(line.split(separator: "-").last ?? "") ?? 0 }
            if last > told { break }
        }
        #expect(last > told)
        await gateway.stop()
    }
}

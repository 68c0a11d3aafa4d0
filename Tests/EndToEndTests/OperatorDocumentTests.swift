import Foundation
import Testing

/// The documents for operators' programs: the OpenAPI document, metrics, alert rules. Other projects' programs judge
/// them.
@Suite struct OperatorDocumentTests {
    private static var document: String { "\(TestGateway.root)/docs/openapi.yaml" }

    private static func tool(_ name: String) -> String { "\(TestGateway.root)/.venv/bin/\(name)" }

    @Test func `the document is valid OpenAPI 3.1`() async throws {
        let result = try await Command.run(Self.tool("openapi-spec-validator"), [Self.document])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    /// Thousands of requests, right ones and wrong ones, alone and in rows that one answer leads to the next. No answer may be a 5xx or
    /// differ from the document, and none may accept what the document forbids.
    @Test(arguments: [
        (part: "operators", tags: "operators,health", streams: ["events", "pushEvents"]),
        (part: "hosts", tags: "hosts", streams: ["hostEvents", "appEvents"]),
    ])
    func `the routes answer as the document says`(part: String, tags: String, streams: [String]) async throws {
        let gateway = try await TestGateway.start(options: ["--in-memory"])
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let folder = "\(TestGateway.root)/Tests/Schemathesis"
        let environment = ProcessInfo.processInfo.environment
        let examples = environment["FRESHET_TEST_EXAMPLES"] ?? "15"
        let seed = environment["FRESHET_TEST_SEED"] ?? "1"
        let variables = [
            "FRESHET_OPERATOR_TOKEN=\(try #require(gateway.operatorToken))", "FRESHET_PROVIDER_TOKEN=\(bearer)",
            "FRESHET_HOST=\(TestGateway.token(1))", "FRESHET_APP=\(TestGateway.app)", "FRESHET_TAGS=\(tags)",
            "SCHEMATHESIS_HOOKS=\(folder)/hooks.py",
        ]
        let result = try await Command.run(
            "env",
            variables + [
                Self.tool("schemathesis"), "--config-file", "\(folder)/\(part).toml",
                "run", Self.document, "--url", part == "hosts" ? gateway.hostURL : gateway.opsURL,
                "--tls-verify", gateway.ca,
                // However slow the machine is.
                "--request-timeout", "3600",
                "--phases", "coverage,fuzzing,stateful", "--max-examples", examples, "--seed", seed,
                // Streams do not end.
            ] + streams.flatMap { ["--exclude-operation-id", $0] }
        )
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains("passed"))
        await gateway.stop()
    }

    @Test(arguments: ["--http2", "--http1.1"])
    func `curl reads what is compressed, and what is only a head`(version: String) async throws {
        let gateway = try await TestGateway.start()
        let url = "\(gateway.opsURL)/v1/openapi.yaml"
        let plain = try await gateway.curl("GET", url, options: [version])
        let coded = try await gateway.curl("GET", url, options: [version, "--compressed"])
        #expect(coded.body == plain.body && coded.body.hasPrefix("openapi: 3.1"))
        #expect(coded.headers["content-encoding"] == "gzip" && plain.headers["content-encoding"] == nil)
        let length = try #require(coded.headers["content-length"].flatMap { Int($0) })
        #expect(length < plain.body.utf8.count / 3)
        let head = try await gateway.curl("HEAD", url, options: [version, "--compressed", "--head"])
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(head.headers["content-length"] == "\(length)")
        let known = try await gateway.curl(
            "GET",
            url,
            headers: ["if-none-match: \(try #require(plain.headers["etag"]))"],
            options: [version]
        )
        #expect(known.status == 304 && known.body.isEmpty)
        await gateway.stop()
    }

    @Test func `metrics are what Prometheus reads, and well named`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics")
        #expect(metrics.status == 200)
        #expect(metrics.body.contains("\nprocess_resident_memory_bytes "))
        let judged = try await Command.run("promtool", ["check", "metrics"], input: metrics.body)
        #expect(judged.status == 0, "\(judged.output)\(judged.errors)")
        #expect(judged.output.isEmpty && judged.errors.isEmpty, "\(judged.output)\(judged.errors)")
        await gateway.stop()
    }

    @Test func `alert rules and the scrape configuration are good`() async throws {
        let folder = "\(TestGateway.root)/deploy/prometheus"
        for arguments in [
            ["check", "rules", "\(folder)/alerts.yml"], ["test", "rules", "\(folder)/alerts.test.yml"],
            ["check", "config", "--syntax-only", "\(folder)/prometheus.yml"],
        ] {
            let result = try await Command.run("promtool", arguments)
            #expect(result.status == 0, "\(arguments): \(result.output)\(result.errors)")
        }
    }

    @Test func `Grafana's panels are of the chosen instances, apps and kinds, and ask what Prometheus understands`()
        async throws
    {
        let file = "\(TestGateway.root)/deploy/grafana/dashboard.json"
        let board = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any]
        let variables = (board?["templating"] as? [String: Any])?["list"] as? [[String: Any]]
        #expect(variables?.map { $0["name"] as? String } == ["datasource", "instance", "app", "kind"])
        let panels = try #require(board?["panels"] as? [[String: Any]])
        #expect(Set(panels.map { $0["id"] as? Int }).count == panels.count)
        let questions = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
        #expect(questions.count > 40)
        var rules = "groups:\n  - name: panels\n    rules:\n"
        for (number, question) in questions.enumerated() {
            let selectors = question.matches(of: /(?:freshet|process)_[a-z_]+(\{[^}]*\})?/)
            for selector in selectors {
                #expect(selector.output.1?.contains(#"instance=~"$instance""#) == true, "\(question)")
            }
            rules += "      - {record: 'panel:\(number)', expr: '\(question)'}\n"
        }
        let folder = try TestGateway.makeFolder()
        try rules.write(toFile: "\(folder)/panels.yml", atomically: true, encoding: .utf8)
        let result = try await Command.run("promtool", ["check", "rules", "\(folder)/panels.yml"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `rules and dashboard ask for metrics that there are`() async throws {
        let gateway = try await TestGateway.start()
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        // For the metrics that a gateway without widgets, upstreams, webhooks and timeline providers does not have.
        let source = try ["Metrics", "Health", "Behind", "Storage", "Memory", "Shares", "Cluster"].map { name in
            let file = "\(TestGateway.root)/Sources/OperatorAPI/Routes/OperatorRoutes+\(name).swift"
            return try String(contentsOfFile: file, encoding: .utf8)
        }.joined()
        for file in ["prometheus/alerts.yml", "grafana/dashboard.json"] {
            let text = try String(contentsOfFile: "\(TestGateway.root)/deploy/\(file)", encoding: .utf8)
            let names = Set(text.matches(of: /(freshet|process)_[a-z_]+/).map { String($0.output.0) })
            #expect(!names.isEmpty)
            for name in names {
                let plain = name.hasSuffix("_bucket") ? String(name.dropLast(7)) : name
                #expect(metrics.contains("# TYPE \(plain) ") || source.contains("\"\(plain)\""), "\(file): \(name)")
            }
        }
        await gateway.stop()
    }
}

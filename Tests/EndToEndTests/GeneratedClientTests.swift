import Foundation
import Testing

/// Clients that are generated from docs/openapi.yaml by programs of others: back ends in every language start with them.
@Suite struct GeneratedClientTests {
    private struct Outcome: Decodable {
        let driven: Int
        let missing: [String]
        let wrong: [String]
    }

    /// A second app, whose kind has a timeline provider that is away, and a sample.
    private static let provided = "com.example.panels"
    private static let apps = """
          - bundleID: \(provided)
            team: \(TestGateway.team)
            kinds:
              - kind: panel
                sample: {text: nothing yet}
                timelineProvider: {url: "http://127.0.0.1:9/"}
        """

    @Test func `a client from openapi-python-client drives every operation`() async throws {
        let gateway = try await TestGateway.start(partitions: 2, extra: Self.apps)
        // Lines of JSON are bytes to it, and YAML is text.
        try #"""
        {"content_type_overrides": {"application/x-ndjson": "application/octet-stream", "application/yaml": "text/plain"},
         "literal_enums": true, "post_hooks": []}
        """#.write(toFile: "\(gateway.folder)/generator.json", atomically: true, encoding: .utf8)
        let generated = try await Command.run(
            "\(TestGateway.root)/.venv/bin/openapi-python-client",
            [
                "generate", "--path", "\(TestGateway.root)/docs/openapi.yaml", "--meta", "none", "--fail-on-warning",
                "--config", "\(gateway.folder)/generator.json", "--output-path", "\(gateway.folder)/freshet_client",
            ]
        )
        try #require(generated.status == 0, "\(generated.output)\(generated.errors)")
        let result = try await Command.run(
            TestGateway.python,
            [
                "\(TestGateway.root)/Tests/EndToEndTests/Clients/generated_client.py", "--generated", gateway.folder,
                "--push", gateway.pushURL, "--host", gateway.hostURL, "--ops", gateway.opsURL, "--ca", gateway.ca,
                "--bearer", try await gateway.providerToken(),
                "--operator", try #require(gateway.operatorToken), "--app", TestGateway.app,
                "--topic", TestGateway.topic, "--provided", Self.provided,
            ]
        )
        try #require(result.status == 0, "\(result.output)\(result.errors)")
        let outcome = try JSONDecoder().decode(Outcome.self, from: Data(result.output.utf8))
        #expect(outcome.wrong == [])
        #expect(outcome.missing == [])
        // So that an empty document is not taken for one of which everything is driven.
        #expect(outcome.driven > 60)
        await gateway.stop()
    }
}

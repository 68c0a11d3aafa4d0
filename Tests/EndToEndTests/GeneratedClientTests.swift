import Foundation
import Testing

/// Clients that are generated from docs/openapi.yaml by programs of others: back ends in every language start with them.
@Suite struct GeneratedClientTests {
    private struct Outcome: Decodable {
        let driven: Int
        let missing: [String]
        let wrong: [String]
    }

    enum Generator: String, CaseIterable {
        case openapiPythonClient = "generated_client.py"
        case openapiGenerator = "openapi_generator_client.py"

        /// The program that makes the client, and what it is told.
        func command(_ folder: String) throws -> (program: String, arguments: [String]) {
            let document = "\(TestGateway.root)/docs/openapi.yaml"
            let programs = "\(TestGateway.root)/.venv/bin"
            guard self == .openapiPythonClient else {
                return (
                    "\(programs)/openapi-generator-cli",
                    [
                        "generate", "--generator-name", "python", "--library", "httpx", "--input-spec", document,
                        "--output", folder, "--package-name", "freshet_generated",
                    ]
                )
            }
            // Lines of JSON are bytes to it, and YAML is text.
            let types = #"{"application/x-ndjson": "application/octet-stream", "application/yaml": "text/plain"}"#
            try #"{"content_type_overrides": \#(types), "literal_enums": true, "post_hooks": []}"#
                .write(toFile: "\(folder)/generator.json", atomically: true, encoding: .utf8)
            return (
                "\(programs)/openapi-python-client",
                [
                    "generate", "--path", document, "--meta", "none", "--fail-on-warning",
                    "--config", "\(folder)/generator.json", "--output-path", "\(folder)/freshet_client",
                ]
            )
        }
    }

    @Test(arguments: Generator.allCases)
    func `a generated client drives every operation`(generator: Generator) async throws {
        let gateway = try await TestGateway.start(partitions: 2, extra: TestGateway.providedApps)
        let folder = "\(gateway.folder)/generated"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let command = try generator.command(folder)
        let generated = try await Command.run(command.program, command.arguments)
        try #require(generated.status == 0, "\(generated.output)\(generated.errors)")
        let result = try await Command.run(
            TestGateway.python,
            [
                "\(TestGateway.root)/Tests/EndToEndTests/Clients/\(generator.rawValue)", "--generated", folder,
                "--push", gateway.pushURL, "--host", gateway.hostURL, "--ops", gateway.opsURL, "--ca", gateway.ca,
                "--bearer", try await gateway.providerToken(),
                "--operator", try #require(gateway.operatorToken), "--app", TestGateway.app,
                "--topic", TestGateway.topic, "--provided", TestGateway.providedApp,
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

import Foundation
import Testing
import Yams

/// The client library, as a program of others has it: over Foundation's URLSession, with what the system trusts.
@Suite struct FreshetClientTests {
    private struct Report: Decodable {
        let requests: [String]
        let wrong: [String]
    }

    /// The same requests in APNSwift's shapes, which this client has in Apple's.
    private static let others: Set<String> = ["channelByPath", "deleteChannelByPath"]

    /// The operations of senders and hosts in the document: their ids by method and path.
    private static func operations() throws -> [String: (method: String, path: [Substring])] {
        let text = try String(contentsOfFile: "\(TestGateway.root)/docs/openapi.yaml", encoding: .utf8)
        let paths = try #require(try Yams.compose(yaml: text)?["paths"]?.mapping)
        var operations: [String: (method: String, path: [Substring])] = [:]
        for (path, methods) in paths {
            for (method, operation) in try #require(methods.mapping) {
                let tags = operation["tags"]?.array(of: String.self) ?? []
                guard !Set(tags).isDisjoint(with: ["hosts", "senders"]) else { continue }
                let id = try #require(operation["operationId"]?.string)
                operations[id] = (try #require(method.string).uppercased(), (path.string ?? "").split(separator: "/"))
            }
        }
        return operations
    }

    /// Whether a request is that operation.
    private static func isRequest(_ request: String, of operation: (method: String, path: [Substring])) -> Bool {
        let words = request.split(separator: " ", maxSplits: 1)
        let path = words[1].split(separator: "/")
        return words[0] == operation.method && path.count == operation.path.count
            && zip(path, operation.path).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }

    @Test(.enabled { try await PageTests.isTried() })
    func `the client drives every operation of senders and hosts`() async throws {
        let gateway = try await TestGateway.start(partitions: 2, extra: TestGateway.providedApps)
        let driver = URL(filePath: TestGateway.program).deletingLastPathComponent().appending(path: "ClientDriver").path
        let token = TestGateway.token(1)
        let result = try await Command.run(
            "unshare",
            PageTests.rootOptions + ["--mount", "sh", "-c"] + [
                #"mount --bind "$1" /etc/ssl/certs/ca-certificates.crt && shift && exec "$@""#, "sh", gateway.ca,
                driver,
                "--push", gateway.pushURL, "--host", gateway.hostURL, "--app", TestGateway.app,
                "--provider-token", try await gateway.providerToken(),
                "--push-token", token, "--credential", try await gateway.hostCredential(token),
                "--provided", TestGateway.providedApp,
            ]
        )
        try #require(result.status == 0, "\(result.output)\(result.errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.wrong == [])
        let operations = try Self.operations()
        // So that an empty document is not taken for one of which everything is driven.
        #expect(operations.count > 30)
        let missing = operations.filter { _, operation in
            !report.requests.contains { Self.isRequest($0, of: operation) }
        }
        #expect(Set(missing.keys) == Self.others)
        await gateway.stop()
    }
}

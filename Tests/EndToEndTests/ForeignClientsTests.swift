import Foundation
import Testing

/// Clients that we did not write send widget pushes and get APNs' answers.
@Suite struct ForeignClientsTests {
    @Test func `curl sends Apple's documented recipe`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)

        let id = UUID().uuidString.lowercased()
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            bearer: bearer,
            headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets", "apns-id: \(id)"],
            body: #"{"aps":{"content-changed":true}}"#
        )
        #expect(answer.status == 200)
        #expect(answer.headers["apns-id"] == id)
        #expect(answer.body.isEmpty)

        let push = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(id)")
        #expect(push.json["matched"] as? Int == 2)
        await gateway.stop()
    }

    @Test func `nghttp gets a 200 with an apns-id and END_STREAM on HEADERS`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let body = "\(gateway.folder)/body.json"
        try #"{"aps":{"content-changed":true}}"#.write(toFile: body, atomically: true, encoding: .utf8)

        let result = try await Command.run(
            "nghttp",
            [
                "--verbose", "--no-dep", "--header=:method: POST", "--header=authorization: bearer \(bearer)",
                "--header=apns-topic: \(TestGateway.topic)", "--header=apns-push-type: widgets", "--data=\(body)",
                "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            ]
        )
        let text = result.output
        #expect(text.contains(":status: 200"), "\(text)")
        #expect(text.contains("apns-id: "))
        // The answer is one HEADERS frame that ends the stream; no DATA frame follows it.
        let received = text.components(separatedBy: "recv HEADERS frame").dropFirst().joined()
        #expect(received.contains("END_STREAM"))
        #expect(!text.contains("recv DATA frame"))
        await gateway.stop()
    }

    @Test func `h2load has no failed request`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        let hosts = 50
        let lines = (0..<hosts).map {
            TestGateway.registration($0, teams: ["seahawks", "rams"], token: TestGateway.token($0))
        }
        let registered = try await gateway.curl(
            "POST",
            "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/hosts",
            bearer: bearer,
            body: lines.joined(separator: "\n")
        )
        try #require(registered.status == 200, "\(registered.body)")
        let uris = "\(gateway.folder)/uris"
        try (0..<hosts).map { "\(gateway.pushURL)/3/device/\(TestGateway.token($0))" }.joined(separator: "\n")
            .write(toFile: uris, atomically: true, encoding: .utf8)
        let body = "\(gateway.folder)/body.json"
        try #"{"aps":{"content-changed":true}}"#.write(toFile: body, atomically: true, encoding: .utf8)

        let result = try await Command.run(
            "h2load",
            [
                "--requests=4000", "--clients=8", "--max-concurrent-streams=100", "--input-file=\(uris)",
                "--data=\(body)", "--header=authorization: bearer \(bearer)",
                "--header=apns-topic: \(TestGateway.topic)", "--header=apns-push-type: widgets",
            ]
        )
        #expect(result.output.contains("4000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(result.output)")
        #expect(result.output.contains("status codes: 4000 2xx, 0 3xx, 0 4xx, 0 5xx"), "\(result.output)")

        let stats = try await gateway.eventually("4000 pushes are applied") {
            let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
            let pushes = stats.json["pushes"] as? [String: Any]
            return pushes?["accepted"] as? Int == 4000 ? pushes : nil
        }
        #expect(stats["matched"] as? Int == 12_000)
        #expect(stats["balanced"] as? Bool == true)
        await gateway.stop()
    }

    @Test func `httpx sends many pushes over one HTTP/2 connection`() async throws {
        let gateway = try await TestGateway.start(appSettings: "    unknownTokens: accept")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let tokens = (1...40).map { TestGateway.token($0) }

        let result = try await Command.run(
            TestGateway.python,
            [
                "\(TestGateway.root)/Tests/EndToEndTests/Clients/httpx_client.py", "--port=\(gateway.pushPort)",
                "--ca=\(gateway.ca)", "--topic=\(TestGateway.topic)", "--bearer=\(bearer)",
            ] + tokens
        )
        #expect(result.status == 0, "\(result.errors)")
        let accepted = #"{"echoed": true, "reason": null, "status": 200, "timestamp": null}"#
        #expect(result.output.split(separator: "\n").map(String.init) == Array(repeating: accepted, count: 40))
        await gateway.stop()
    }

    @Test func `a client certificate speaks for its sender`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let fingerprint = try await Command.run(
            "openssl",
            ["x509", "-in", "\(folder)/certs/client.pem", "-noout", "-fingerprint", "-sha256"]
        )
        let hex = try #require(fingerprint.output.split(separator: "=").last).filter(\.isHexDigit)
        let gateway = try await TestGateway.start(
            in: folder,
            appSettings: "    allowedClientCertificates:\n      - {fingerprint: \"\(hex)\"}"
        )
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let push = { (options: [String]) in
            try await gateway.curl(
                "POST",
                "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
                headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets"],
                body: #"{"aps":{"content-changed":true}}"#,
                options: ["--http2"] + options
            )
        }
        let known = try await push(["--cert", "\(folder)/certs/client.pem", "--key", "\(folder)/certs/client.key"])
        #expect(known.status == 200, "\(known.body)")
        let without = try await push([])
        #expect(without.status == 403)
        #expect(without.reason == "MissingProviderToken")
        await gateway.stop()
    }
}

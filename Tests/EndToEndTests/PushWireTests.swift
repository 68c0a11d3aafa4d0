import Foundation
import Testing

/// Answers on the wire, and the memory of a connection.
@Suite struct PushWireTests {
    private static let plain = #"{"aps":{"content-changed":true}}"#
    private static let id = "123E4567-E89B-12d3-A456-4266554400A0"

    private func push(_ gateway: TestGateway, _ token: String, bearer: String, method: String = "POST") async throws
        -> TestGateway.Answer
    {
        try await gateway.curl(
            method,
            "\(gateway.pushURL)/3/device/\(token)",
            bearer: bearer,
            headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets", "apns-id: \(Self.id)"],
            body: Self.plain
        )
    }

    @Test(arguments: TestLog.present)
    func `answers carry what Apple documents and nothing more`(log: TestLog) async throws {
        let development = "    environment: development"
        let gateway = try await TestGateway.start(on: log, partitions: 4, appSettings: development)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)

        let accepted = try await self.push(gateway, TestGateway.token(1), bearer: bearer)
        #expect(accepted.status == 200)
        #expect(accepted.headers == ["apns-id": Self.id, "apns-unique-id": Self.id.lowercased()])
        #expect(accepted.body.isEmpty)
        let asked = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(Self.id.lowercased())")
        #expect(asked.status == 200)

        let rejected = try await self.push(gateway, TestGateway.token(99), bearer: bearer)
        #expect(rejected.status == 400)
        #expect(rejected.headers == ["apns-id": Self.id, "content-type": "application/json"])
        let detail = "no host is registered with this push token"
        #expect(rejected.body == #"{"reason":"BadDeviceToken","detail":"\#(detail)"}"#)

        let method = try await self.push(gateway, TestGateway.token(1), bearer: bearer, method: "PUT")
        #expect(method.status == 405)
        #expect(method.headers["allow"] == "POST")
        #expect(method.body == #"{"reason":"MethodNotAllowed","detail":"send a push with POST"}"#)

        let before = Int64(Date().timeIntervalSince1970 * 1000)
        _ = try await gateway.curl(
            "DELETE",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer
        )
        let gone = try await self.push(gateway, TestGateway.token(1), bearer: bearer)
        #expect(gone.status == 410)
        #expect(gone.reason == "Unregistered")
        // The log's clock is slewed to the wall's, so that it may be a little behind.
        let timestamp = try #require(gone.json["timestamp"] as? Int64)
        let after = Int64(Date().timeIntervalSince1970 * 1000)
        #expect(timestamp > before - 60_000 && timestamp < after + 60_000)
        await gateway.stop()
    }

    @Test func `a token whose lease ran out has expired`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        let registered = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer,
            body: #"{"app":"\#(TestGateway.app)","lease":1,"instances":[]}"#
        )
        #expect(registered.status == 200, "\(registered.body)")
        let gone = try await gateway.eventually("the lease has run out") {
            let answer = try await self.push(gateway, TestGateway.token(1), bearer: bearer)
            return answer.status == 410 ? answer : nil
        }
        #expect(gone.reason == "ExpiredToken")
        #expect(gone.json["timestamp"] is Int64)
        let asked = try await gateway.curl(
            "GET",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer
        )
        #expect(asked.status == 410)
        #expect((asked.json["detail"] as? String)?.hasPrefix("the lease ended at ") == true)
        await gateway.stop()
    }

    @Test func `an app in production has no unique id`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        #expect(try await self.push(gateway, TestGateway.token(1), bearer: bearer).headers == ["apns-id": Self.id])
        await gateway.stop()
    }

    @Test func `an error is one DATA frame that ends the stream`() async throws {
        let gateway = try await TestGateway.start()
        let body = "\(gateway.folder)/body.json"
        try Self.plain.write(toFile: body, atomically: true, encoding: .utf8)
        let result = try await Command.run(
            "nghttp",
            [
                "--verbose", "--no-dep", "--header=:method: POST", "--header=apns-topic: \(TestGateway.topic)",
                "--data=\(body)", "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            ]
        )
        let frames = result.output.components(separatedBy: "recv DATA frame")
        #expect(frames.count == 2, "\(result.output)")
        #expect(frames.last?.contains("; END_STREAM") == true)
        #expect(result.output.contains("MissingProviderToken"))
        await gateway.stop()
    }

    @Test func `a connection takes one renewal in 20 minutes, another connection starts anew`() async throws {
        let gateway = try await TestGateway.start()
        let now = Int64(Date().timeIntervalSince1970)
        var tokens: [String] = []
        for age in [Int64(0), 5] {
            let minted = try await Command.run(
                TestGateway.program,
                [
                    "token", "mint", "--key", gateway.key, "--kid", TestGateway.kid, "--team", TestGateway.team,
                    "--issued-at", "\(now - age)",
                ]
            )
            tokens.append(minted.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        let url = gateway.pushURL
        let request = { (token: String) in
            [
                "--silent", "--cacert", gateway.ca, "--http2", "--output", "/dev/null", "--write-out", "%{http_code} ",
                "--header", "authorization: bearer \(token)", "--header", "apns-topic: \(TestGateway.topic)",
                "--data", Self.plain, "\(url)/3/device/\(TestGateway.token(1))",
            ]
        }
        // The token is not registered, so a push that gets past the credentials is answered 400.
        let one = try await Command.run(
            "curl",
            request(tokens[0]) + ["--next"] + request(tokens[1]) + ["--next"] + request(tokens[0])
        )
        #expect(one.output == "400 429 400 ")
        #expect(try await Command.run("curl", request(tokens[1])).output == "400 ")
        await gateway.stop()
    }
}

import Foundation
import Testing

/// Rates of senders over real sockets: what curl is answered, and what operators see of it.
@Suite(.oneGateway("of a rate each has its part")) struct RateLimitTests {
    private static let body = #"{"aps":{"content-changed":true}}"#

    private static func push(
        _ gateway: TestGateway,
        _ bearer: String,
        _ token: String
    ) async throws -> TestGateway.Answer {
        try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(token)",
            bearer: bearer,
            headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets"],
            body: Self.body
        )
    }

    @Test func `a token that is pushed to too fast is answered 429 with a time, and others are not`() async throws {
        let gateway = try await TestGateway.start(
            extra: "rateLimits:\n  perToken: {rate: 1/h, burst: 2}",
            appSettings: "    unknownTokens: accept"
        )
        let bearer = try await gateway.providerToken()
        let token = String(repeating: "ab", count: 32)
        for _ in 0..<2 { #expect(try await Self.push(gateway, bearer, token).status == 200) }
        let refused = try await Self.push(gateway, bearer, token.uppercased())
        #expect(refused.status == 429)
        #expect(refused.reason == "TooManyRequests")
        let wait = try #require(refused.headers["retry-after"].flatMap { Int($0) })
        #expect((1...3600).contains(wait))
        #expect(refused.headers["apns-id"]?.count == 36)
        #expect(try await Self.push(gateway, bearer, TestGateway.token(1)).status == 200)

        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let http = try #require(stats.json["http"] as? [String: Any])
        #expect(http["rateLimited"] as? [String: Int] == ["app": 0, "key": 0, "token": 1, "forgotten": 0])
        #expect(http["rejected"] as? [String: Int] == ["TooManyRequests": 1])
        #expect(http["inFlight"] as? Int == 0)
        await gateway.stop()
    }

    @Test func `an app's own limit counts targeted pushes and dry runs, too`() async throws {
        let gateway = try await TestGateway.start(
            extra: "rateLimits:\n  perApp: {rate: 1000/s}\n  perKey: {rate: 1000/s}",
            appSettings: "    rateLimit: {rate: 2/h, burst: 3}\n    unknownTokens: accept"
        )
        let bearer = try await gateway.providerToken()
        let targeted = "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes"
        let all = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
        let statuses = [
            try await Self.push(gateway, bearer, TestGateway.token(1)).status,
            try await gateway.curl("POST", targeted, bearer: bearer, body: all).status,
            try await gateway.curl("POST", "\(targeted)?dry-run=true", bearer: bearer, body: all).status,
            try await gateway.curl("POST", targeted, bearer: bearer, body: all).status,
            try await Self.push(gateway, bearer, TestGateway.token(1)).status,
        ]
        #expect(statuses == [200, 200, 200, 429, 429])
        // A push's own fault is told before its rate.
        let malformed = try await gateway.curl("POST", targeted, bearer: bearer, body: "{}")
        #expect(malformed.reason == "BadPayload")
        await gateway.stop()
    }
}

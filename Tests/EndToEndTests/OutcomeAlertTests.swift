import Testing

/// Widgets that are not behind, since nothing waits for them any more, and still do not show what was pushed.
@Suite(.timeLimit(.minutes(60))) struct OutcomeAlertTests {
    @Test func `pushes that keep expiring are an alert`() async throws {
        let gateway = try await TestGateway.start()
        let prometheus = try await Prometheus.start(watching: gateway)
        let bearer = try await gateway.providerToken()
        // Its first reload stays outstanding, so a push that may not wait expires.
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        try await prometheus.waitUntilFiring(["FreshetMatchesUnshown"]) {
            let answer = try await gateway.push(to: 1, headers: ["apns-expiration: 0"], bearer: bearer)
            #expect(answer.status == 200, "\(answer.body)")
        }
        let headline = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json["freshness"] as? [String: Any]
        #expect(headline?["isMet"] as? Bool == true)
        await gateway.stop()
    }
}

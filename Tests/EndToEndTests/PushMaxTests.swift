import Foundation
import FreshetClient
import Testing

/// Pushes that are more work than one may be, over real sockets.
@Suite struct PushMaxTests {
    @Test(
        .oneGateway("a gateway knows the work of its own partitions"),
        arguments: [#""all":true"#, #""match":{"team":["seahawks"]}"#]
    )
    func `a push to an app that is too much work is refused with its units, and one to a device is not`(
        members: String
    ) async throws {
        let gateway = try await TestGateway.start(partitions: 2, extra: "fairness: {pushMax: 0s}")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let refused = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            bearer: bearer,
            body: #"{"aps":{"content-changed":true},"freshet":{\#(members)}}"#
        )
        #expect(refused.status == 409, "\(refused.body)")
        #expect(refused.reason == "too-much-work")
        #expect(refused.json["unitsMax"] as? Int == 0)
        #expect(refused.json["units"] as? Int == 6)
        try await gateway.sender(bearer).push(toDevice: TestGateway.token(1))
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let fairness = try #require(stats.json["fairness"] as? [String: Any])
        #expect(fairness["tooMuchWork"] as? Int == 1)
        let teams = try #require(fairness["teams"] as? [[String: Any]])
        #expect(teams.first?["team"] as? String == TestGateway.team)
        await gateway.stop()
    }
}

import Foundation
import Testing

/// Dry runs and `maxMatched` over real sockets, at the edge of what they decide.
@Suite struct DryRunTests {
    /// Three instances on two hosts.
    private static func started(decidedMax: Int) async throws -> (gateway: TestGateway, bearer: String) {
        let gateway = try await TestGateway.start(partitions: 2, extra: "dryRun: {decidedMax: \(decidedMax)}")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        _ = try await gateway.register(2, teams: [], bearer: bearer)
        return (gateway, bearer)
    }

    @Test(arguments: [2, 3, 4])
    func `senders' and operators' dry runs decide as many as dryRun.decidedMax says`(max: Int) async throws {
        let (gateway, bearer) = try await Self.started(decidedMax: max)
        let answers = [
            try await gateway.curl(
                "POST",
                "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes?dry-run=true",
                bearer: bearer,
                body: #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
            ),
            try await gateway.curl(
                "POST",
                "\(gateway.opsURL)/v1/apps/\(TestGateway.app)/dry-runs",
                body: #"{"freshet":{}}"#
            ),
        ]
        for answer in answers {
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.json["matched"] as? Int == 3)
            #expect(answer.json["sampled"] as? Bool == (max < 3))
            #expect(answer.json["decided"] as? Int == min(3, max))
            #expect((answer.json["asOf"] as? String)?.hasSuffix("Z") == true)
        }
        #expect(answers[0].headers["apns-id"]?.count == 36)
        let sent = try await Command.run(
            TestGateway.program,
            ["send", "--app", TestGateway.app, "--all", "--dry-run"] + gateway.access(gateway.pushURL) + gateway.sender
        )
        #expect(sent.status == 0, "\(sent.errors)")
        let start = #"{"dryRun":true,"matched":3,"sampled":\#(max < 3),"decided":\#(min(3, max))"#
        #expect(sent.output.hasPrefix(start), "\(sent.output)")
        await gateway.stop()
    }

    @Test(arguments: [2, 3, 4])
    func `maxMatched holds whatever a dry run may decide`(max: Int) async throws {
        let (gateway, bearer) = try await Self.started(decidedMax: 1)
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            bearer: bearer,
            body: #"{"aps":{"content-changed":true},"freshet":{"all":true,"maxMatched":\#(max)}}"#
        )
        #expect(answer.status == (max < 3 ? 409 : 200), "\(answer.body)")
        #expect(answer.json["matched"] as? Int == (max < 3 ? 3 : nil))
        #expect(answer.json["matchedMax"] as? Int == (max < 3 ? 2 : nil))
        await gateway.stop()
    }
}

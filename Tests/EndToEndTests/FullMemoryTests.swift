import Foundation
import Testing

/// A process that takes as much memory as it may registers nothing new, says so, and goes on once it may take more.
@Suite struct FullMemoryTests {
    private static func memory(_ gateway: TestGateway) async throws -> [String: Any] {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        return try #require(stats.json["memory"] as? [String: Any])
    }

    private static func register(_ gateway: TestGateway, _ number: Int, _ teams: [String], _ bearer: String)
        async throws -> TestGateway.Answer
    {
        try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(number))/widgets",
            bearer: bearer,
            body: TestGateway.registration(number, teams: teams)
        )
    }

    /// Puts another bound in force while the gateway runs, and waits for a level.
    private static func use(_ bound: String, _ gateway: TestGateway, until level: String) async throws {
        let file = "\(gateway.folder)/freshet.yaml"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let text = lines.map { $0.hasPrefix("storage:") ? "storage: {memoryMax: \(bound)}" : String($0) }
        try text.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let answer = try await gateway.curl("POST", "\(gateway.opsURL)/v1/config/reload", body: "{}")
        try #require(answer.status == 200, "\(answer.body)")
        _ = try await gateway.eventually("the memory is \(level)") {
            try await Self.memory(gateway)["level"] as? String == level ? true : nil
        }
    }

    @Test func `at the bound what adds is refused, and everything else goes on`() async throws {
        let gateway = try await TestGateway.start(extra: "storage: {memoryMax: 100%}")
        let bearer = try await gateway.providerToken()
        #expect(try await Self.register(gateway, 1, ["seahawks"], bearer).status == 200)
        #expect(try await Self.memory(gateway)["level"] as? String == "ample")
        #expect(try await Alerts.firing("FreshetMemoryFull", gateway, afterMinutes: 5) == 0)
        // Less than any process takes.
        try await Self.use("16MiB", gateway, until: "full")
        #expect(try await Alerts.firing("FreshetMemoryFull", gateway, afterMinutes: 5) == 1)
        let refused = try await Self.register(gateway, 2, ["rams"], bearer)
        #expect(refused.status == 507)
        #expect(refused.body.contains("memory-full") && refused.body.contains("storage.memoryMax"))
        #expect(refused.headers["retry-after"] == "30")
        #expect(try await Self.register(gateway, 1, ["seahawks"], bearer).status == 200)
        let pushed = try await gateway.push(to: 1, bearer: bearer)
        #expect(pushed.status == 200, "\(pushed.body)")
        let memory = try await Self.memory(gateway)
        #expect((memory["refused"] as? [String: Any])?["memory"] as? Int == 1)
        let teams = try #require(memory["teams"] as? [[String: Any]])
        #expect(teams.first?["team"] as? String == TestGateway.team)
        #expect(teams.first?["hosts"] as? Int == 1)
        try await Self.use("100%", gateway, until: "ample")
        #expect(try await Self.register(gateway, 2, ["rams"], bearer).status == 200)
        await gateway.stop()
    }
}

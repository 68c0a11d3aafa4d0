import Foundation
import Testing

/// Decisions in a data directory, over the ends of processes.
@Suite struct DecisionFileTests {
    private static let instance = "com.example.scores/host-1:scores-0"

    private static func told(_ gateway: TestGateway, _ query: String = "") async throws -> [String: Any] {
        let route = "\(gateway.opsURL)/v1/instances/\(Self.instance)?decisions=1000\(query)"
        return try await gateway.curl("GET", route).json
    }

    private static func decisions(_ answer: [String: Any]) -> [String] {
        (answer["decisions"] as? [[String: Any]] ?? []).map {
            "\($0["position"] ?? "") \($0["outcome"] ?? "") \($0["reason"] ?? "")"
        }
    }

    private static func written(_ gateway: TestGateway) async throws -> Int {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
        return (stats["decisionStore"] as? [String: Any])?["decisions"] as? Int ?? 0
    }

    @Test func `they survive kill -9, and are made again where their file is lost`() async throws {
        // Far fewer in memory than there are.
        let extra = "limits: {maxDecisionsRetained: 10}"
        let gateway = try await TestGateway.start(extra: extra)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        for round in 1...3 {
            for _ in 0..<8 {
                let answer = try await gateway.curl(
                    "POST",
                    "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/reload",
                    bearer: bearer,
                    body: #"{"kind":"scores"}"#
                )
                #expect(answer.status == 200, "\(answer.body)")
            }
            // Before memory has forgotten them.
            _ = try await gateway.eventually("decisions are written") {
                try await Self.written(gateway) >= round * 8 ? true : nil
            }
        }
        let before = try await Self.told(gateway)
        #expect(Self.decisions(before).count >= 24)
        #expect((before["ledger"] as? [String: Any])?["isWhole"] as? Bool == true)
        await gateway.crash()
        let second = try await TestGateway.start(in: gateway.folder, extra: extra)
        _ = try await second.eventually("what was written is found") {
            try await Self.written(second) >= 24 ? true : nil
        }
        #expect(Self.decisions(try await Self.told(second)) == Self.decisions(before))
        await second.crash()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: "\(gateway.folder)/data/decisions.sqlite\(suffix)")
        }
        let third = try await TestGateway.start(in: gateway.folder, extra: extra)
        let again = try await third.eventually("it is made again") { () -> [String]? in
            let found = Self.decisions(try await Self.told(third))
            return found.count >= Self.decisions(before).count ? found : nil
        }
        #expect(again == Self.decisions(before))
        #expect(try await Self.told(third, "&replay=true")["replay"] != nil)
        await third.stop()
    }
}

import Foundation
import Testing

/// A gateway that cannot write its snapshots says so, and goes on.
@Suite(.timeLimit(.minutes(60))) struct SnapshotAlertTests {
    @Test func `snapshots that fail for three intervals are an alert, until one is written`() async throws {
        let gateway = try await TestGateway.start(extra: "snapshots: {interval: 1s}")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        #expect(try await Alerts.firing("FreshetSnapshotsOverdue", gateway, afterMinutes: 3) == 0)
        let folder = "\(gateway.folder)/data/snapshots"
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
        try #require(FileManager.default.createFile(atPath: folder, contents: nil))
        #expect(try await gateway.push(to: 1, bearer: bearer).status == 200)
        _ = try await gateway.eventually("a partition is overdue") {
            try await Self.overdue(gateway) == 1 ? true : nil
        }
        #expect(try await Alerts.firing("FreshetSnapshotsOverdue", gateway, afterMinutes: 3) == 1)

        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
        _ = try await gateway.eventually("no partition is overdue") {
            try await Self.overdue(gateway) == 0 ? true : nil
        }
        await gateway.stop()
    }

    private static func overdue(_ gateway: TestGateway) async throws -> Int {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
        let snapshots = try #require(stats["snapshots"] as? [String: Any])
        return try #require(snapshots["overdue"] as? [Any]).count
    }
}

import Foundation
import Testing

/// A disk that fills up while senders push and hosts register: it is made room on, nothing accepted is lost, and it goes on by itself.
@Suite(
    .enabled("this system lets no test mount a disk") { try await SmallDisk.isTried() },
    .timeLimit(.minutes(60))
)
struct FullDiskTests {
    private static let mebibyte = 1_048_576

    /// The gateway's figures of the disk.
    private static func storage(_ gateway: TestGateway) async throws -> [String: Any] {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        return try #require(stats.json["storage"] as? [String: Any])
    }

    private static func number(_ storage: [String: Any], _ name: String) throws -> Int {
        try #require(storage[name] as? Int, "\(name)")
    }

    private static func level(_ gateway: TestGateway) async throws -> String {
        try #require(try await Self.storage(gateway)["level"] as? String)
    }

    /// Registers four large hosts, about a MiB of log: the same each time, so that the log grows and the state does not.
    private static func registerLarge(
        _ gateway: TestGateway,
        _ revision: Int,
        _ bearer: String
    ) async throws -> TestGateway.Answer {
        let text = String(repeating: "x", count: 1000)
        let instances = (0..<256).map {
            #"{"id":"i\#($0)","kind":"scores","family":"systemSmall","configuration":{"team":"\#($0)\#(text)"}}"#
        }.joined(separator: ",")
        let lines = (0..<4).map { number in
            #"{"token":"\#(TestGateway.token(10 + number))","app":"\#(TestGateway.app)","host":"large-\#(number)","#
                + #""revision":\#(revision),"instances":[\#(instances)]}"#
        }
        return try await gateway.curl(
            "POST",
            "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/hosts",
            bearer: bearer,
            body: lines.joined(separator: "\n")
        )
    }

    /// Registers a host.
    private static func register(_ gateway: TestGateway, _ bearer: String) async throws -> TestGateway.Answer {
        try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(2))/widgets",
            bearer: bearer,
            body: TestGateway.registration(2, teams: ["rams"])
        )
    }

    @Test func `with traffic on, several times what there is room for is logged, and nothing accepted is lost`()
        async throws
    {
        // Some 14 MiB for pushes and registrations, beside the reserve.
        let disk = try SmallDisk(mebibytes: 84)
        // No snapshot comes by itself, and no history goes.
        let gateway = try await TestGateway.start(extra: "snapshots: {interval: 1d, maxLogBytes: 1TiB}", disk: disk)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        var accepted: [String] = []
        // How often the disk is found full meanwhile depends on how fast the machine writes snapshots.
        var (registered, revision) = (0, 0)
        while registered < 42 {
            revision += 1
            let answer = try await Self.registerLarge(gateway, revision, bearer)
            try #require(answer.status == 200 || answer.status == 507, "\(answer.body)")
            if answer.status == 200 {
                #expect(!answer.body.contains("problem"))
                registered += 1
            }
            let pushed = try await gateway.push(to: 1, bearer: bearer)
            try #require(pushed.status == 200 || pushed.status == 503, "\(pushed.body)")
            if pushed.status == 200 { accepted.append(try #require(pushed.headers["apns-id"])) }
            let storage = try await Self.storage(gateway)
            #expect(try Self.number(storage, "freeBytes") > 0)
        }
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let snapshots = try #require(stats.json["snapshots"] as? [String: Any])
        #expect(try Self.number(snapshots, "shortened") > 0)
        #expect(try Self.number(snapshots, "failed") == 0)
        // Without a hand it comes back to taking everything.
        _ = try await gateway.eventually("registrations are taken") {
            try await Self.registerLarge(gateway, revision + 1, bearer).status == 200 ? true : nil
        }
        _ = try await gateway.eventually("pushes are taken") {
            try await gateway.push(to: 1, bearer: bearer).status == 200 ? true : nil
        }
        for id in accepted {
            #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(id)").status == 200)
        }
        await gateway.stop()
    }

    @Test func `in the reserve reports go on and nothing new is taken, until another program makes room`() async throws
    {
        let disk = try SmallDisk(mebibytes: 256)
        let gateway = try await TestGateway.start(disk: disk)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        #expect(try await gateway.push(to: 1, bearer: bearer).status == 200)
        let reload = try await gateway.eventually("a reload is out") {
            try await gateway.outstanding(1, bearer: bearer).first
        }
        #expect(try await Alerts.firing("FreshetStorageFull", gateway, afterMinutes: 5) == 0)
        // Half of what reports may take is left.
        let before = try await Self.storage(gateway)
        let kept = try Self.number(before, "fileSystemBytes") / 20
        let left = 32 * Self.mebibyte + 2 * (try Self.number(before, "largestSnapshotBytes"))
        try await disk.fill(try Self.number(before, "freeBytes") - kept - left, of: gateway)
        _ = try await gateway.eventually("the disk is full") { try await Self.level(gateway) == "full" ? true : nil }

        #expect(try await Alerts.firing("FreshetStorageFull", gateway, afterMinutes: 5) == 1)
        let pushed = try await gateway.push(to: 1, bearer: bearer)
        #expect(pushed.status == 503)
        #expect(pushed.reason == "ServiceUnavailable")
        #expect(pushed.headers["retry-after"] == "30")
        let refused = try await Self.register(gateway, bearer)
        #expect(refused.status == 507)
        #expect(refused.reason == "storage-full")
        #expect(refused.headers["retry-after"] == "30")
        // Dry runs, acknowledgements, orders and removals are accepted: they are no new traffic.
        let targeted = "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes"
        let body = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
        #expect(try await gateway.curl("POST", targeted, bearer: bearer, body: body).status == 503)
        #expect(try await gateway.curl("POST", "\(targeted)?dry-run=true", bearer: bearer, body: body).status == 200)
        try await gateway.acknowledge([reload], bearer: bearer)
        let order = #"{"action":"pause","of":{"app":"\#(TestGateway.app)"}}"#
        #expect(try await gateway.curl("POST", "\(gateway.opsURL)/v1/orders", body: order).status == 200)
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/readyz").status == 200)
        let host = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets"
        #expect(try await gateway.curl("DELETE", host, bearer: bearer).status == 204)

        try disk.free(of: gateway)
        _ = try await gateway.eventually("there is room") {
            try await Self.register(gateway, bearer).status == 200 ? true : nil
        }
        let after = try await Self.storage(gateway)
        let counts = try #require(after["refused"] as? [String: Int])
        #expect(try #require(counts["pushes"]) == 2)
        #expect(try #require(counts["requests"]) >= 1)
        await gateway.stop()
    }

    @Test func `a disk without a byte left ends nothing, and all goes on when there is room`() async throws {
        let disk = try SmallDisk(mebibytes: 256)
        let gateway = try await TestGateway.start(disk: disk)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let before = try await gateway.push(to: 1, bearer: bearer)
        #expect(before.status == 200)
        try await disk.fill(of: gateway)
        _ = try await gateway.eventually("the disk is full") {
            try await Self.level(gateway) == "exhausted" ? true : nil
        }
        // Orders go on out of the reserve, for as long as the write-ahead log has room; then the disk itself refuses them.
        let order = #"{"action":"resume","of":{"app":"\#(TestGateway.app)"}}"#
        let denied = try await gateway.eventually("the disk takes no order") {
            #expect(try await Self.register(gateway, bearer).status == 507)
            #expect(try await gateway.push(to: 1, bearer: bearer).status == 503)
            let ordered = try await gateway.curl("POST", "\(gateway.opsURL)/v1/orders", body: order)
            try #require([200, 503].contains(ordered.status), "\(ordered.body)")
            let ready = try await gateway.curl("GET", "\(gateway.opsURL)/readyz")
            return ordered.status == 503 && ready.status == 503 ? ordered : nil
        }
        #expect(denied.reason == "unavailable")
        try disk.free(of: gateway)
        _ = try await gateway.eventually("there is room") {
            try await Self.register(gateway, bearer).status == 200 ? true : nil
        }
        _ = try await gateway.eventually("it is ready") {
            try await gateway.curl("GET", "\(gateway.opsURL)/readyz").status == 200 ? true : nil
        }
        #expect(try await gateway.push(to: 1, bearer: bearer).status == 200)
        let id = try #require(before.headers["apns-id"])
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(id)").status == 200)
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let partitions = try #require(stats.json["partitions"] as? [[String: Any]])
        #expect(partitions.allSatisfy { $0["failed"] as? Bool == false })
        await gateway.stop()
    }
}

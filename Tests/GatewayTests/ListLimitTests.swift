import Engine
import HTTPTransport
import Journaling
import OperatorAPI
import Testing
import WidgetModel

/// How much one answer to operators holds, at the edge.
@Suite struct ListLimitTests {
    @Test(arguments: ["instances", "hosts", "pushes"])
    func `a list is asked for 1 to 1,000 rows`(list: String) async throws {
        let scene = try await OperatorScene()
        for (limit, status) in [(0, 400), (1, 200), (1000, 200), (1001, 400)] {
            #expect(try await scene.send("GET", "/v1/\(list)?limit=\(limit)").status == status, "\(limit)")
        }
    }

    @Test func `an instance is asked for 1 to 1,000 decisions`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        for (count, status) in [(0, 400), (1, 200), (1000, 200), (1001, 400)] {
            let target = "/v1/instances/com.example.scores/host-1:a0?decisions=\(count)"
            #expect(try await scene.send("GET", target).status == status, "\(count)")
        }
    }

    private static func order(_ number: Int) -> AuditedRecord? {
        let source = OperatorSource(caller: "me", address: "127.0.0.1", request: "\(number)")
        return AuditedRecord(.order(OperatorOrder(.resume, .app(Sports.app), by: source)), recordIndex: 0)
    }

    @Test(arguments: [999, 1000, 1001])
    func `the last 1,000 requests are remembered, after a restart, too`(count: Int) throws {
        let archive = MemoryArchive()
        var trail = AuditTrail()
        for number in 1...count {
            let position = LogPosition(UInt64(number))
            _ = trail.add(try #require(Self.order(number)), PartitionID(0), position, at: Sports.start)
            let changes = trail.takeChanges()
            try archive.write(changes.records, removing: changes.removed)
        }
        let names = trail.entries.map(\.source.request)
        #expect(names == (max(1, count - 999)...count).reversed().map(String.init))
        var restored = AuditTrail()
        try archive.readAll { restored.restore($0) }
        #expect(restored.entries == trail.entries)
        // A request that is older than all of them is not taken for news.
        #expect(restored.add(try #require(Self.order(1)), PartitionID(0), LogPosition(1), at: Sports.start) == nil)
        #expect(restored.entries == trail.entries)
    }

    @Test(arguments: [1023, 1024, 1025])
    func `of a request's body 1,024 bytes are remembered`(bytes: Int) {
        let source = OperatorSource(caller: "me", address: "127.0.0.1", request: "1")
        let body = Array(repeating: UInt8(ascii: "x"), count: bytes)
        let asked = AuditedRequest(number: 1, source: source, method: "PUT", path: "/v1/log-levels", body: body)
        #expect(asked.body.utf8.count == min(bytes, 1024))
    }
}

import Gateway
import HTTPTransport
import Journaling
import Logging
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

    private static func audit(_ archive: MemoryArchive = MemoryArchive()) -> OperatorAudit {
        OperatorAudit(
            clock: FakeTime().makeClock(),
            feed: OperatorFeed(epoch: 1),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            archive: archive
        )
    }

    @Test(arguments: [999, 1000, 1001])
    func `the last 1,000 requests are remembered, after a restart, too`(count: Int) async {
        let archive = MemoryArchive()
        let audit = Self.audit(archive)
        let request = HTTPRequest(method: "POST", target: "/v1/orders")
        for number in 1...count { await audit.note(request, id: "\(number)", caller: "me", status: 200) }
        let last = audit.last
        #expect(last.count == min(count, 1000))
        #expect(last.first?.request == "\(count)")
        #expect(last.last?.request == "\(max(1, count - 999))")
        #expect(Self.audit(archive).last == last)
    }

    @Test(arguments: [1023, 1024, 1025])
    func `of a request's body 1,024 bytes are remembered`(bytes: Int) async {
        let audit = Self.audit()
        let body = Array(repeating: UInt8(ascii: "x"), count: bytes)
        await audit.note(
            HTTPRequest(method: "POST", target: "/v1/orders", body: body),
            id: "1",
            caller: "me",
            status: 200
        )
        #expect(audit.last.map(\.body.utf8.count) == [min(bytes, 1024)])
    }
}

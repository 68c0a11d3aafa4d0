import HTTP2
import Testing

/// Requests whose heads come before their bodies: they may be judged, and answered, by the head alone.
@Suite struct HTTP2HeadTests {
    private func heads(_ peer: ServerPeer) -> [TextRequest] {
        var batch = RequestBatch()
        peer.session.takeHeads(into: &batch)
        return batch.requests.map { TextRequest($0, in: batch) }
    }

    private func limit(_ peer: ServerPeer, _ stream: Int32, _ bytes: Int) {
        peer.session.limitBody(of: stream, to: bytes, into: &peer.batch)
    }

    @Test func `a head is shown once, without what has come of the body, and the request comes whole`() throws {
        let peer = try ServerPeer()
        let fields = Wire.requestFields + [("apns-topic", "a.b")]
        try peer.receive(
            Wire.request(1, fields, isLast: false) + Wire.data(1, [0x61], isLast: false)
                + Wire.request(3, fields, isLast: false)
        )
        #expect(peer.session.hasHeads)
        #expect(
            self.heads(peer) == [1, 3].map { TextRequest(stream: $0, fields: ["apns-topic: a.b"]) }
        )
        #expect(!peer.session.hasHeads)
        #expect(self.heads(peer) == [])
        try peer.receive(Wire.data(1, [0x62], isLast: true))
        #expect(peer.requests() == [TextRequest(stream: 1, fields: ["apns-topic: a.b"], body: "ab")])
    }

    @Test func `a request that is whole, too large in its head or gone has no head to show`() throws {
        let peer = try ServerPeer()
        try peer.receive(
            Wire.request(1, isLast: false) + Wire.data(1, [0x61], isLast: true) + Wire.request(3)
                + Wire.request(5, Wire.requestFields + [("x", String(repeating: "v", count: 9000))], isLast: false)
                + Wire.request(7, isLast: false) + Wire.reset(7)
        )
        #expect(!peer.session.hasHeads)
        #expect(self.heads(peer) == [])
        #expect(peer.requests().map(\.stream) == [1, 3, 5])
    }

    @Test func `a request that is answered by its head holds nothing of its body`() throws {
        let peer = try ServerPeer()
        try peer.receive(
            Wire.request(1, isLast: false) + Wire.data(1, [UInt8](repeating: 0, count: 9000), isLast: false)
        )
        #expect(peer.session.heldBytes > 9000)
        #expect(self.heads(peer).count == 1)
        #expect(peer.respond(1, 401, body: "{}"))
        #expect(try peer.sent().map(\.kind) == [Wire.Kind.headers, Wire.Kind.data])
        #expect(peer.session.heldBytes == 0)
        // The client may go on: it gets its credit back.
        var credit = 0
        for _ in 0..<20 {
            try peer.receive(Wire.data(1, [UInt8](repeating: 0, count: 16_000), isLast: false))
            credit += try peer.sent().filter { $0.kind == Wire.Kind.windowUpdate && $0.stream == 1 }
                .reduce(0) { $0 + Int($1.number(at: 0)) }
            #expect(peer.session.heldBytes == 0)
        }
        #expect(credit >= 20 * 16_000 - 65_535)
        try peer.receive(Wire.data(1, [], isLast: true))
        #expect(peer.requests() == [])
        #expect(peer.session.streamCount == 0)
    }

    @Test(arguments: [(9, false), (10, false), (11, true)])
    func `the owner takes so many bytes of a body`(bytes: Int, isCut: Bool) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, isLast: false))
        #expect(self.heads(peer).count == 1)
        self.limit(peer, 1, 10)
        try peer.receive(Wire.data(1, [0x61], isLast: false))
        try peer.receive(Wire.data(1, [UInt8](repeating: 0x61, count: bytes - 1), isLast: true))
        #expect(peer.requests().map(\.flags) == [isCut ? .bodyTooLarge : []])
        #expect(peer.events().contains(.limitPassed(.maxBodyBytes)) == isCut)
    }

    @Test(arguments: [(9, false), (10, false), (11, true)])
    func `what has come before the owner says how much it takes counts`(bytes: Int, isCut: Bool) throws {
        let peer = try ServerPeer()
        try peer.receive(
            Wire.request(1, isLast: false) + Wire.data(1, [UInt8](repeating: 0x61, count: bytes), isLast: false)
        )
        #expect(self.heads(peer).count == 1)
        self.limit(peer, 1, 10)
        #expect(peer.requests().map(\.flags) == (isCut ? [.bodyTooLarge] : []))
        #expect(peer.events().contains(.limitPassed(.maxBodyBytes)) == isCut)
        try peer.receive(Wire.data(1, [], isLast: true))
        #expect(peer.requests().map(\.flags) == (isCut ? [] : [[]]))
    }

    @Test func `the owner cannot take more than the session`() throws {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = 10
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1, isLast: false))
        #expect(self.heads(peer).count == 1)
        self.limit(peer, 1, 100)
        try peer.receive(Wire.data(1, [UInt8](repeating: 0x61, count: 11), isLast: true))
        #expect(peer.requests().map(\.flags) == [.bodyTooLarge])
    }

    @Test func `a client's session has no heads`() throws {
        let pair = try SessionPair()
        let stream = try #require(pair.request("/"))
        try pair.run()
        #expect(pair.server.beginStreaming(stream, status: 200, fields: ResponseFields()))
        try pair.run()
        #expect(!pair.client.hasHeads)
    }
}

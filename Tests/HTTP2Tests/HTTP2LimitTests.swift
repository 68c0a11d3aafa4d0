import HTTP2
import Testing

@Suite struct HTTP2LimitTests {
    /// A request whose header list has exactly so many bytes, by the count of RFC 9113, 6.5.2.
    private static func fields(ofBytes count: Int) -> [(String, String)] {
        let used = Wire.requestFields.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
        let value = String(repeating: "v", count: count - used - 32 - "x-fill".utf8.count)
        return Wire.requestFields + [("x-fill", value)]
    }

    @Test(arguments: [(8191, false), (8192, false), (8193, true)])
    func `a header list may have 8192 bytes`(bytes: Int, isTooLarge: Bool) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Self.fields(ofBytes: bytes)))
        #expect(peer.batch.requests.map(\.flags) == [isTooLarge ? .headersTooLarge : []])
        #expect(peer.respond(1, isTooLarge ? 431 : 200))
    }

    @Test func `an oversized header list is answered before its body`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Self.fields(ofBytes: 9000), isLast: false))
        #expect(peer.batch.requests.map(\.flags) == [.headersTooLarge])
        #expect(peer.respond(1, 431))
        #expect(try peer.sent().map(\.kind) == [Wire.Kind.headers])
        // What was on its way is thrown away.
        try peer.receive(Wire.data(1, [1, 2, 3], isLast: true))
        #expect(peer.batch.requests.count == 1)
    }

    @Test(arguments: [(99, false), (100, false), (101, true)])
    func `a request may have 100 fields`(count: Int, isTooLarge: Bool) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Wire.requestFields + (0..<count).map { ("x-\($0)", "") }))
        #expect(peer.batch.requests.map(\.flags) == [isTooLarge ? .headersTooLarge : []])
        #expect(peer.batch.requests[0].fields.count == min(count, 100))
    }

    @Test(arguments: [(4095, false), (4096, false), (4097, true)])
    func `a body may be as long as its limit`(bytes: Int, isTooLarge: Bool) throws {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = 4096
        let peer = try ServerPeer(limits)
        let body = [UInt8](repeating: 0x61, count: bytes)
        try peer.receive(
            Wire.request(1, isLast: false) + Wire.data(1, Array(body[..<4000]), isLast: false)
                + Wire.data(1, Array(body[4000...]), isLast: true)
        )
        #expect(peer.batch.requests.map(\.flags) == [isTooLarge ? .bodyTooLarge : []])
        #expect(peer.batch.requests.map(\.body.length) == [isTooLarge ? 4000 : UInt32(bytes)])
    }

    @Test func `what follows an oversized body is thrown away, and its credit given back`() throws {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = 10
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1, isLast: false))
        var credit = 0
        for _ in 0..<20 {
            try peer.receive(Wire.data(1, [UInt8](repeating: 0, count: 16_000), isLast: false))
            credit += try peer.sent().filter { $0.kind == Wire.Kind.windowUpdate && $0.stream == 1 }
                .reduce(0) { $0 + Int($1.number(at: 0)) }
        }
        #expect(credit >= 20 * 16_000 - 65_535)
        try peer.receive(Wire.data(1, [], isLast: true))
        #expect(peer.requests().map(\.flags) == [.bodyTooLarge])
        #expect(peer.respond(1, 413))
    }

    @Test(arguments: [(8, true), (9, false)])
    func `a header block may have 8 CONTINUATION frames`(count: Int, isTaken: Bool) throws {
        let peer = try ServerPeer()
        let block = Wire.block(Wire.requestFields)
        var bytes = Wire.frame(Wire.Kind.headers, flags: Wire.endStream, stream: 1, Array(block.prefix(1)))
        for index in 1...count {
            let isLast = index == count
            bytes += Wire.frame(
                Wire.Kind.continuation,
                flags: isLast ? Wire.endHeaders : 0,
                stream: 1,
                isLast ? Array(block[index...]) : [block[index]]
            )
        }
        guard isTaken else {
            let error = #expect(throws: HTTP2Error.self) { try peer.receive(bytes) }
            #expect(error?.code == .limit)
            return
        }
        try peer.receive(bytes)
        #expect(peer.requests() == [TextRequest(stream: 1)])
    }

    @Test(arguments: [(100, true), (101, false)])
    func `a stream may have 100 empty DATA frames`(count: Int, isTaken: Bool) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, isLast: false))
        let bytes = (0..<count).flatMap { _ in Wire.data(1, [], isLast: false) }
        if isTaken {
            try peer.receive(bytes + Wire.data(1, [], isLast: true))
            #expect(peer.requests() == [TextRequest(stream: 1)])
        } else {
            #expect(throws: HTTP2Error.self) { try peer.receive(bytes) }
        }
    }

    @Test(arguments: [(99, true), (100, false)])
    func `PING may burst, then comes at its rate`(burst: Int, isTaken: Bool) throws {
        // The client's SETTINGS have taken one of the hundred.
        let peer = try ServerPeer()
        let bytes = (0..<burst).flatMap { _ in Wire.ping() }
        guard isTaken else {
            #expect(throws: HTTP2Error.self) { try peer.receive(bytes) }
            return
        }
        try peer.receive(bytes)
        _ = try peer.sent()
        peer.second += 1
        try peer.receive((0..<10).flatMap { _ in Wire.ping() })
        _ = try peer.sent()
        #expect(throws: HTTP2Error.self) { try peer.receive(Wire.ping()) }
    }
}

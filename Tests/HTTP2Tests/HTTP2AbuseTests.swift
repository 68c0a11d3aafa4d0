import HTTP2
import Testing

/// Attacks of hostile peers, and their end: the session closes, and nothing has grown.
@Suite struct HTTP2AbuseTests {
    /// Feeds pieces until the session is over; fails the test if it never is.
    private func feed(
        _ peer: ServerPeer,
        pieces: Int,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ piece: (Int) -> [UInt8]
    ) throws -> SentFrame? {
        var goAway: SentFrame?
        for index in 0..<pieces {
            do {
                try peer.receive(piece(index))
                goAway = try peer.sent().last { $0.kind == Wire.Kind.goAway } ?? goAway
            } catch is HTTP2Error {
                goAway = try peer.sent().last { $0.kind == Wire.Kind.goAway }
            }
            peer.batch.removeAll()
            if peer.session.isFinished {
                return goAway
            }
        }
        Issue.record("the session survived \(pieces) pieces", sourceLocation: sourceLocation)
        return goAway
    }

    private func stream(_ index: Int) -> UInt32 { UInt32(index) * 2 + 1 }

    @Test func `rapid reset ends the connection after the burst`() throws {
        let peer = try ServerPeer()
        for index in 0..<100 {
            try peer.receive(Wire.request(self.stream(index)) + Wire.reset(self.stream(index)))
        }
        #expect(!peer.session.isFinished)
        #expect(peer.session.streamCount == 0)
        let goAway = try self.feed(peer, pieces: 1) { index in
            Wire.request(self.stream(index + 100)) + Wire.reset(self.stream(index + 100))
        }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        #expect(goAway?.debug == "more than 100 RST_STREAM frames at once, or 33 a second")
    }

    @Test func `a request that was reset within the wakeup is told as closed`() throws {
        let peer = try ServerPeer()
        _ = peer.events()
        try peer.receive(Wire.request(1) + Wire.reset(1))
        #expect(peer.events() == [.streamClosed(1, .cancel)])
    }

    @Test func `provoking resets ends the connection after the burst`() throws {
        // CVE-2025-8671: a window that overflows is a stream error that this side answers.
        let peer = try ServerPeer()
        let goAway = try self.feed(peer, pieces: 102) { index in
            Wire.request(self.stream(index), isLast: false)
                + Wire.frame(Wire.Kind.windowUpdate, stream: self.stream(index), Wire.bytes(0x7FFF_FFFF))
        }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        #expect(goAway?.debug == "more than 100 stream errors at once, or 33 a second")
    }

    @Test func `the GOAWAY goes out behind all resets that were provoked at once`() throws {
        let peer = try ServerPeer()
        for index in 0..<300 {
            try peer.receive(
                Wire.request(self.stream(index), isLast: false)
                    + Wire.frame(Wire.Kind.windowUpdate, stream: self.stream(index), Wire.bytes(0x7FFF_FFFF))
            )
        }
        #expect(throws: HTTP2Error.self) { try peer.sent() }
        let goAway = try peer.sent().last { $0.kind == Wire.Kind.goAway }
        #expect(goAway?.debug == "more than 100 stream errors at once, or 33 a second")
        #expect(peer.session.isFinished)
    }

    @Test func `a CONTINUATION flood ends the connection`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.frame(Wire.Kind.headers, stream: 1, Wire.block(Wire.requestFields)))
        let fill = Wire.block([("x-fill", String(repeating: "v", count: 1000))])
        let goAway = try self.feed(peer, pieces: 9) { _ in Wire.frame(Wire.Kind.continuation, stream: 1, fill) }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        #expect(goAway?.debug == "more than 8 CONTINUATION frames")
    }

    @Test func `a header bomb is reset, and a few of them end the connection`() throws {
        let peer = try ServerPeer()
        // One entry of 3.9 KB in the dynamic table, then thousands of one-byte references to it.
        let bomb =
            Wire.indexedLiteral("x-bomb", String(repeating: "b", count: 3900))
            + [UInt8](repeating: 0x80 | 62, count: 8000)
        let block = Wire.block(Wire.requestFields) + bomb
        let goAway = try self.feed(peer, pieces: 4) { index in
            Wire.frame(
                Wire.Kind.headers,
                flags: Wire.endHeaders | Wire.endStream,
                stream: self.stream(index),
                block
            )
        }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        #expect(goAway?.debug == "4 header lists of more than 65536 bytes")
    }

    @Test func `one header bomb costs its stream only`() throws {
        let peer = try ServerPeer()
        let fields = Wire.requestFields + (0..<5).map { ("x-\($0)", String(repeating: "v", count: 15_000)) }
        let block = Wire.block(fields)
        var bytes = Wire.frame(Wire.Kind.headers, flags: Wire.endStream, stream: 1, Array(block.prefix(16_000)))
        var rest = block.dropFirst(16_000)
        while !rest.isEmpty {
            let piece = Array(rest.prefix(16_000))
            rest = rest.dropFirst(16_000)
            bytes += Wire.frame(
                Wire.Kind.continuation,
                flags: rest.isEmpty ? Wire.endHeaders : 0,
                stream: 1,
                piece
            )
        }
        try peer.receive(bytes + Wire.request(3))
        #expect(peer.requests() == [TextRequest(stream: 3)])
        #expect(try peer.sent().filter { $0.kind == Wire.Kind.resetStream }.map(\.stream) == [1])
    }

    @Test func `empty DATA frames end the connection`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, isLast: false))
        let goAway = try self.feed(peer, pieces: 101) { _ in Wire.data(1, [], isLast: false) }
        #expect(goAway?.debug == "more than 100 empty DATA frames on one stream")
    }

    @Test func `DATA frames of padding alone count as empty`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, isLast: false))
        let padding = Wire.frame(
            Wire.Kind.data,
            flags: Wire.padded,
            stream: 1,
            [200] + [UInt8](repeating: 0, count: 200)
        )
        _ = try self.feed(peer, pieces: 101) { _ in padding }
    }

    @Test func `a SETTINGS flood ends the connection`() throws {
        let peer = try ServerPeer()
        let goAway = try self.feed(peer, pieces: 100) { _ in Wire.settings() }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        #expect(goAway?.debug == "more than 100 PING, SETTINGS or GOAWAY frames at once, or 10 a second")
    }

    @Test func `a PING flood ends the connection`() throws {
        let peer = try ServerPeer()
        let goAway = try self.feed(peer, pieces: 101) { _ in Wire.ping() }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
    }

    @Test func `a peer that reads no acknowledgements is cut off`() throws {
        var limits = HTTP2Limits()
        limits.controlFrameBurst = 100_000
        let peer = try ServerPeer(limits)
        let error = #expect(throws: HTTP2Error.self) {
            for _ in 0..<1000 {
                try peer.receive(Wire.ping())
            }
        }
        #expect(error?.message == "more than 100 acknowledgements wait to be read")
    }

    @Test func `a SETTINGS frame of many entries ends the connection`() throws {
        let peer = try ServerPeer()
        let goAway = try self.feed(peer, pieces: 1) { _ in Wire.settings((0..<17).map { _ in (id: 4, value: 65_535) }) }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
    }

    @Test(arguments: [(9, 0), (10, 0), (11, 1), (12, 2)])
    func `ten streams may be open at once, and those above are refused`(count: Int, refused: Int) throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 10
        let peer = try ServerPeer(limits)
        try peer.receive((0..<count).flatMap { Wire.request(self.stream($0)) })
        #expect(peer.batch.requests.count == count - refused)
        #expect(try peer.sent().map(\.kind) == (0..<refused).map { _ in Wire.Kind.resetStream })
        let passed = peer.events().filter { $0 == .limitPassed(.maxConcurrentStreams) }
        #expect(passed.count == refused)
    }

    @Test(arguments: [(100, true), (101, false)])
    func `a client that goes on above the limit that it knows is cut off`(count: Int, isServed: Bool) throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 10
        let peer = try ServerPeer(limits)
        let bytes = (0..<10 + count).flatMap { Wire.request(self.stream($0)) }
        let error = Result { try peer.receive(bytes) }.failure as? HTTP2Error
        #expect(error?.message == (isServed ? nil : "more than 100 stream errors at once, or 33 a second"))
    }

    @Test(arguments: [(10_000, true), (10_001, false)])
    func `a client that never learns the limit is cut off, too`(count: Int, isServed: Bool) throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 10
        let peer = try ServerPeer(limits, greeted: false)
        try peer.receive(Wire.preface + Wire.settings())
        let bytes = (0..<10 + count).flatMap { Wire.request(self.stream($0)) }
        let error = Result { try peer.receive(bytes) }.failure as? HTTP2Error
        let sentence = "more than 10000 frames on streams that were reset at once, or 1000 a second"
        #expect(error?.message == (isServed ? nil : sentence))
    }

    @Test func `more than a thousand streams before the limit is acknowledged are refused`() throws {
        let peer = try ServerPeer(greeted: false)
        try peer.receive(Wire.preface + Wire.settings())
        for index in 0..<1100 {
            try peer.receive(Wire.request(self.stream(index)))
        }
        #expect(peer.batch.requests.count == 1000)
        let refused = try peer.sent().filter {
            $0.kind == Wire.Kind.resetStream && $0.number(at: 0) == HTTP2ErrorCode.refusedStream.rawValue
        }
        #expect(refused.count == 100)
        #expect(!peer.session.isFinished)
    }

    @Test func `bytes after the end are not read`() throws {
        let peer = try ServerPeer()
        #expect(throws: HTTP2Error.self) {
            for _ in 0..<200 {
                try peer.receive(Wire.ping())
            }
        }
        let error = #expect(throws: HTTP2Error.self) { try peer.receive(Wire.request(1)) }
        #expect(error?.code == .ended)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }
}

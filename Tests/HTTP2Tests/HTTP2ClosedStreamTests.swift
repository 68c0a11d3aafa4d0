import HTTP2
import Testing

/// Frames on a stream that is not open (RFC 9113, 5.1 and 5.1.1), and faults that nghttp2 would let pass.
@Suite struct HTTP2ClosedStreamTests {
    /// The code of the GOAWAY that `bytes` bring about, nil if the session goes on.
    private func goAway(_ peer: ServerPeer, _ bytes: [UInt8]) throws -> HTTP2ErrorCode? {
        do {
            try peer.receive(bytes)
        } catch let error as HTTP2Error {
            #expect(error.code == .protocolViolation)
        }
        let goAway = try peer.sent().last { $0.kind == Wire.Kind.goAway }
        return goAway.map { HTTP2ErrorCode(rawValue: $0.number(at: 4)) }
    }

    /// A peer whose stream 1 has ended on both sides.
    private func peerWithClosedStream() throws -> ServerPeer {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        #expect(peer.respond(1, 200))
        _ = try peer.sent()
        peer.batch.removeAll()
        return peer
    }

    private static let header = Wire.block([("x-trailer", "late")])

    @Test func `a stream below one that was opened before is none`() throws {
        let peer = try ServerPeer()
        #expect(try self.goAway(peer, Wire.request(5) + Wire.request(3)) == .protocolError)
        // The frames before the fault were read.
        #expect(peer.requests().map(\.stream) == [5])
    }

    @Test func `DATA on a stream that was left out is on a closed one`() throws {
        let peer = try ServerPeer()
        #expect(try self.goAway(peer, Wire.request(5) + Wire.data(3, [1], isLast: true)) == .streamClosed)
    }

    @Test func `a stream that was left out long ago is told as closed`() throws {
        let peer = try ServerPeer()
        for index in 0..<70 {
            try peer.receive(Wire.request(UInt32(5 + index * 4)))
        }
        #expect(try self.goAway(peer, Wire.request(3)) == .streamClosed)
    }

    @Test func `DATA after both sides have ended`() throws {
        #expect(try self.goAway(self.peerWithClosedStream(), Wire.data(1, [1], isLast: true)) == .streamClosed)
    }

    @Test func `HEADERS after both sides have ended`() throws {
        let headers = Wire.frame(
            Wire.Kind.headers,
            flags: Wire.endHeaders | Wire.endStream,
            stream: 1,
            Self.header
        )
        #expect(try self.goAway(self.peerWithClosedStream(), headers) == .streamClosed)
    }

    @Test func `DATA after the end of a request that is not answered yet`() throws {
        #expect(try self.goAway(ServerPeer(), Wire.request(1) + Wire.data(1, [1], isLast: true)) == .streamClosed)
    }

    @Test func `DATA and HEADERS after the client's own reset`() throws {
        let reset = Wire.request(1, isLast: false) + Wire.reset(1)
        #expect(try self.goAway(ServerPeer(), reset + Wire.data(1, [1], isLast: true)) == .streamClosed)
        #expect(try self.goAway(ServerPeer(), reset + Wire.request(1)) == .streamClosed)
    }

    @Test func `what was on its way when the gateway reset the stream is thrown away`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, isLast: false) + Wire.request(3, isLast: false))
        peer.session.reset(1, .cancel)
        _ = try peer.sent()
        let trailers = Wire.frame(
            Wire.Kind.headers,
            flags: Wire.endHeaders | Wire.endStream,
            stream: 1,
            Self.header
        )
        let late = Wire.data(1, [1, 2], isLast: false) + trailers
        #expect(try self.goAway(peer, late + Wire.data(3, [3], isLast: true)) == nil)
        #expect(peer.requests() == [TextRequest(stream: 3, body: "\u{3}")])
    }

    @Test func `a body of a refused stream is thrown away, before and after the refusal is sent`() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 1
        let peer = try ServerPeer(limits, greeted: false)
        let refused = Wire.request(3, isLast: false) + Wire.request(5, isLast: false)
        #expect(
            try self.goAway(
                peer,
                Wire.preface + Wire.settings() + Wire.request(1, isLast: false) + refused
                    + Wire.data(3, [1], isLast: true) + Wire.data(5, [1], isLast: false)
            ) == nil
        )
        #expect(try self.goAway(peer, Wire.data(5, [1], isLast: true) + Wire.data(1, [0x61], isLast: true)) == nil)
        #expect(peer.requests() == [TextRequest(stream: 1, body: "a")])
    }

    @Test func `a thousand refused streams are all remembered`() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 1
        let peer = try ServerPeer(limits, greeted: false)
        try peer.receive(Wire.preface + Wire.settings() + Wire.request(1, isLast: false))
        let streams = (1...1000).map { UInt32($0) * 2 + 1 }
        let bytes = streams.flatMap { Wire.request($0, isLast: false) }
        #expect(try self.goAway(peer, bytes) == nil)
        #expect(try self.goAway(peer, streams.flatMap { Wire.data($0, [1], isLast: true) }) == nil)
        #expect(!peer.session.isFinished)
    }

    @Test func `streams above a GOAWAY are ignored with all that follows`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        peer.session.goAway()
        _ = try peer.sent()
        let bytes = Wire.request(3, isLast: false) + Wire.request(5, isLast: false) + Wire.data(3, [1], isLast: true)
        #expect(try self.goAway(peer, bytes) == nil)
        #expect(peer.requests().map(\.stream) == [1])
    }

    @Test func `an early answer leaves the stream open for the rest of its request`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, isLast: false) + Wire.data(1, [UInt8](repeating: 0, count: 9), isLast: false))
        #expect(peer.respond(1, 403))
        _ = try peer.sent()
        #expect(try self.goAway(peer, Wire.data(1, [], isLast: true)) == nil)
        #expect(try self.goAway(peer, Wire.request(3)) == nil)
    }

    @Test func `a stream may not depend on itself`() throws {
        let priority = Wire.frame(Wire.Kind.priority, stream: 7, Wire.bytes(7) + [16])
        #expect(try self.goAway(ServerPeer(), priority) == .protocolError)
        let other = Wire.frame(Wire.Kind.priority, stream: 7, Wire.bytes(5) + [16])
        #expect(try self.goAway(ServerPeer(), other) == nil)
    }

    @Test func `the connection has no priority`() throws {
        #expect(
            try self.goAway(ServerPeer(), Wire.frame(Wire.Kind.priority, [0, 0, 0, 1, 16])) == .protocolError
        )
    }

    @Test func `a fault is the same however the bytes are cut`() throws {
        let scripts = [
            Wire.request(5) + Wire.request(3),
            Wire.frame(Wire.Kind.priority, stream: 7, Wire.bytes(7) + [16]),
            Wire.frame(Wire.Kind.priority, stream: 7, Wire.bytes(5) + [16]) + Wire.request(1)
                + Wire.data(1, [1], isLast: false),
        ]
        for script in scripts {
            let whole = try self.goAway(ServerPeer(), script)
            #expect(whole != nil)
            for cut in 1..<script.count {
                let peer = try ServerPeer()
                let first = try self.goAway(peer, Array(script[..<cut]))
                // Some faults are plain before their frame's last byte.
                let second = first == nil ? try self.goAway(peer, Array(script[cut...])) : first
                #expect(second == whole, "cut at \(cut)")
            }
            let peer = try ServerPeer()
            let last = try script.compactMap { byte in
                peer.session.isFinished ? nil : try self.goAway(peer, [byte])
            }
            #expect(last == [whole], "single bytes")
        }
    }

    @Test(arguments: ["a\0b", "a\rb", "a\nb", " a", "a ", "\ta", "a\u{7F}b"])
    func `a field with an invalid value resets its stream`(value: String) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Wire.requestFields + [("apns-topic", value)]) + Wire.request(3))
        #expect(peer.requests() == [TextRequest(stream: 3)])
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map(\.stream) == [1])
        #expect(resets.map { $0.number(at: 0) } == [HTTP2ErrorCode.protocolError.rawValue])
    }

    /// A shell makes these of `authorization: bearer $(…)` where the command failed.
    @Test(arguments: ["bearer ", "Bearer \t ", " ", "", "bearer"])
    func `an authorization without a credential reaches the owner`(value: String) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Wire.requestFields + [("authorization", value)]))
        #expect(peer.requests() == [TextRequest(stream: 1, fields: ["authorization: \(value)"])])
        #expect(try peer.sent() == [])
    }

    @Test(arguments: [" bearer", " bearer ", "bearer token ", "bearer \0", "bearer\r ", "bearer \u{7F} "])
    func `any other authorization is held to the rules of field values`(value: String) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Wire.requestFields + [("authorization", value)]) + Wire.request(3))
        #expect(peer.requests() == [TextRequest(stream: 3)])
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map(\.stream) == [1])
        #expect(resets.map { $0.number(at: 0) } == [HTTP2ErrorCode.protocolError.rawValue])
    }

    @Test(arguments: [(" ", false), ("x ", false), (" x", false), ("x", true)])
    func `trailers are held to the rules of field values, too`(value: String, isTaken: Bool) throws {
        let peer = try ServerPeer()
        let flags = Wire.endHeaders | Wire.endStream
        let trailers = Wire.frame(Wire.Kind.headers, flags: flags, stream: 1, Wire.block([("x-trailer", value)]))
        try peer.receive(Wire.request(1, isLast: false) + trailers)
        #expect(peer.requests() == (isTaken ? [TextRequest(stream: 1)] : []))
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map { $0.number(at: 0) } == (isTaken ? [] : [HTTP2ErrorCode.protocolError.rawValue]))
    }

    @Test(arguments: ["Apns-Topic", "apns topic", "", "apns:topic", "connection", "te"])
    func `a field with an invalid name resets its stream`(name: String) throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Wire.requestFields + [(name, "gzip")]) + Wire.request(3))
        #expect(peer.requests() == [TextRequest(stream: 3)])
        #expect(try peer.sent().filter { $0.kind == Wire.Kind.resetStream }.map(\.stream) == [1])
    }
}

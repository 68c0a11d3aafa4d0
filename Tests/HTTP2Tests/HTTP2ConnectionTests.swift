import HTTP2
import Testing

@Suite struct HTTP2ConnectionTests {
    @Test func `a PING comes back with its payload`() throws {
        let pair = try SessionPair()
        _ = pair.clientEvents()
        pair.client.ping(0x0102_0304_0506_0708)
        try pair.run()
        #expect(pair.clientEvents() == [.pingAcknowledged(0x0102_0304_0506_0708)])
    }

    @Test func `GOAWAY carries its reason, and streams below it still finish`() throws {
        let pair = try SessionPair()
        let stream = try #require(pair.request("/"))
        try pair.run()
        _ = pair.clientEvents()
        pair.server.goAway(.noError, debug: Array("{\"reason\":\"BadCertificateEnvironment\"}".utf8).span)
        try pair.run()
        #expect(
            pair.clientEvents() == [
                .goAway(lastStreamID: 1, .noError, debug: Array("{\"reason\":\"BadCertificateEnvironment\"}".utf8))
            ]
        )
        #expect(!pair.server.isFinished)
        #expect(pair.respond(stream, 200))
        try pair.run()
        #expect(pair.responses() == [TextResponse(stream: 1, status: 200)])
        #expect(pair.server.isFinished)
        #expect(pair.client.isFinished)
    }

    @Test func `a drain says GOAWAY twice, with a round trip between`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        peer.session.beginDrain(debug: Array("{\"reason\":\"Shutdown\"}".utf8))
        let first = try peer.sent()
        let ping = try #require(first.first { $0.kind == Wire.Kind.ping })
        let notice = try #require(first.first { $0.kind == Wire.Kind.goAway })
        #expect(notice.number(at: 0) == 0x7FFF_FFFF)
        #expect(notice.debug == "")

        // This one was on its way when the notice was sent: it is still served.
        try peer.receive(Wire.request(3))
        try peer.receive(Wire.frame(Wire.Kind.ping, flags: Wire.acknowledgement, ping.payload))
        let second = try peer.sent()
        #expect(second.map(\.kind) == [Wire.Kind.goAway])
        #expect(second[0].number(at: 0) == 3)
        #expect(second[0].debug == "{\"reason\":\"Shutdown\"}")

        try peer.receive(Wire.request(5))
        #expect(peer.requests().map(\.stream) == [1, 3])
        #expect(peer.respond(1, 200))
        #expect(peer.respond(3, 200))
        // Neither asking again nor giving up on the acknowledgement says anything more.
        peer.session.beginDrain()
        peer.session.completeDrain()
        #expect(try peer.sent().allSatisfy { $0.kind == Wire.Kind.headers })
        #expect(peer.session.isFinished)
    }

    @Test func `a drain can go on without the acknowledgement of its PING`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        peer.session.beginDrain(debug: Array("bye".utf8))
        let ping = try #require(try peer.sent().first { $0.kind == Wire.Kind.ping })
        peer.session.completeDrain()
        let second = try peer.sent()
        #expect(second.map(\.kind) == [Wire.Kind.goAway])
        #expect(second[0].number(at: 0) == 1)
        #expect(second[0].debug == "bye")
        // The acknowledgement comes late and changes nothing.
        try peer.receive(Wire.frame(Wire.Kind.ping, flags: Wire.acknowledgement, ping.payload))
        #expect(try peer.sent().isEmpty)
        #expect(peer.respond(1, 200))
        _ = try peer.sent()
        #expect(peer.session.isFinished)
    }

    @Test func `streams above the announced limit are refused`() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 2
        // The client has not acknowledged the limit yet, so it is refused, not cut off.
        let peer = try ServerPeer(limits, greeted: false)
        try peer.receive(Wire.preface + Wire.settings() + Wire.request(1) + Wire.request(3) + Wire.request(5))
        #expect(peer.requests().map(\.stream) == [1, 3])
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map(\.stream) == [5])
        #expect(resets.map { $0.number(at: 0) } == [HTTP2ErrorCode.refusedStream.rawValue])
    }

    @Test func `a refused stream's fields are decoded, so that those of the next are understood`() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 1
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1))
        let block = Wire.block(Wire.requestFields) + Wire.indexedLiteral("x-a", "b")
        let flags = Wire.endHeaders | Wire.endStream
        try peer.receive(Wire.frame(Wire.Kind.headers, flags: flags, stream: 3, block))
        #expect(peer.respond(1, 200))
        #expect(try peer.sent().map(\.kind) == [Wire.Kind.resetStream, Wire.Kind.headers])
        // 62 is the newest entry of the dynamic table (RFC 7541, 2.3.3).
        try peer.receive(
            Wire.frame(Wire.Kind.headers, flags: flags, stream: 5, Wire.block(Wire.requestFields) + [0x80 | 62])
        )
        #expect(peer.requests() == [TextRequest(stream: 1), TextRequest(stream: 5, fields: ["x-a: b"])])
    }

    @Test func `the announced limit is what SETTINGS say, first and later`() throws {
        let peer = try ServerPeer(greeted: false)
        let streams = [UInt8(0), 3]
        func announced() throws -> [UInt32] {
            try peer.sent().filter { $0.kind == Wire.Kind.settings && $0.flags == 0 }.flatMap { frame in
                stride(from: 0, to: frame.payload.count, by: 6).filter { Array(frame.payload[$0..<$0 + 2]) == streams }
                    .map { frame.number(at: $0 + 2) }
            }
        }
        #expect(try announced() == [1000])
        try peer.receive(Wire.preface + Wire.settings() + Wire.settingsAcknowledgement)
        peer.session.setMaxConcurrentStreams(1)
        peer.session.setMaxConcurrentStreams(77)
        #expect(try announced() == [1, 77])
        #expect(peer.session.unacknowledgedSettings == 2)
        try peer.receive(Wire.settingsAcknowledgement)
        #expect(peer.session.unacknowledgedSettings == 1)
    }

    @Test func `a limit that is lowered counts at once, and leaves open streams alone`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1) + Wire.request(3))
        peer.session.setMaxConcurrentStreams(1)
        try peer.receive(Wire.request(5))
        #expect(peer.requests().map(\.stream) == [1, 3])
        #expect(try peer.sent().filter { $0.kind == Wire.Kind.resetStream }.map(\.stream) == [5])
        #expect(peer.respond(1, 200) && peer.respond(3, 200))
        _ = try peer.sent()
        try peer.receive(Wire.request(7) + Wire.request(9))
        #expect(peer.requests().map(\.stream) == [7])
    }

    @Test func `a client keeps to the limit and sends the rest when there is room`() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = 1
        let pair = try SessionPair(server: limits)
        for path in ["/a", "/b", "/c"] {
            _ = try #require(pair.request(path))
        }
        try pair.run()
        #expect(pair.requests.requests.map(\.streamID) == [1])
        pair.server.setMaxConcurrentStreams(2)
        try pair.run()
        #expect(pair.requests.requests.map(\.streamID) == [1, 3])
        #expect(pair.respond(1, 200))
        try pair.run()
        #expect(pair.requests.requests.map(\.streamID) == [1, 3, 5])
        #expect(pair.clientEvents() == [.settings(maxConcurrentStreams: 1), .settings(maxConcurrentStreams: 2)])
    }

    @Test func `a streamed answer comes piece by piece`() throws {
        let pair = try SessionPair()
        let stream = try #require(pair.request("/events"))
        try pair.run()
        #expect(pair.server.beginStreaming(stream, status: 200, fields: ResponseFields()))
        try pair.run()
        #expect(pair.server.write(stream, Array("one ".utf8).span) == .accepted)
        try pair.run()
        #expect(pair.server.write(stream, Array("two".utf8).span) == .accepted)
        #expect(pair.responses() == [])
        pair.server.finish(stream)
        try pair.run()
        #expect(pair.responses() == [TextResponse(stream: 1, status: 200, body: "one two")])
        #expect(pair.server.write(stream, Array("three".utf8).span) == .closed)
    }

    @Test func `a stream whose reader gives no credit is full, then writable again`() throws {
        var limits = HTTP2Limits()
        limits.streamOutputBytesMax = 1000
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1))
        _ = peer.events()
        #expect(peer.session.beginStreaming(1, status: 200, fields: ResponseFields()))
        let piece = [UInt8](repeating: 0x61, count: 1001)
        var sent = 0
        // The protocol's own window is 65,535 bytes: 65 pieces fit, and a rest of the 66th waits.
        for _ in 0..<66 {
            #expect(peer.session.write(1, piece.span) == .full)
            sent += try peer.sent().filter { $0.kind == Wire.Kind.data }.reduce(0) { $0 + $1.payload.count }
        }
        #expect(sent == 65_535)
        #expect(peer.events() == Array(repeating: .streamWritable(1), count: 65))
        let credit = Wire.bytes(1_000_000)
        try peer.receive(
            Wire.frame(Wire.Kind.windowUpdate, stream: 1, credit) + Wire.frame(Wire.Kind.windowUpdate, credit)
        )
        sent += try peer.sent().filter { $0.kind == Wire.Kind.data }.reduce(0) { $0 + $1.payload.count }
        #expect(sent == 66 * 1001)
        #expect(peer.events() == [.streamWritable(1)])
    }

    @Test func `a stream without a reader is reset, a request that does not end is handed out as late`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1) + Wire.request(3, isLast: false) + Wire.request(5))
        peer.batch.removeAll()
        _ = peer.events()
        #expect(peer.session.beginStreaming(1, status: 200, fields: ResponseFields()))
        _ = peer.session.write(1, [UInt8](repeating: 0, count: 70_000).span)
        _ = try peer.sent()
        #expect(
            peer.session.expire(at: 1029, requestSeconds: 30, stallSeconds: 30, into: &peer.batch)
                == ExpiredStreams(requests: 0, stalls: 0)
        )
        #expect(
            peer.session.expire(at: 1030, requestSeconds: 30, stallSeconds: 30, into: &peer.batch)
                == ExpiredStreams(requests: 1, stalls: 1)
        )
        #expect(peer.requests() == [TextRequest(stream: 3, flags: .timedOut)])
        peer.second = 1030
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map(\.stream) == [1])
        #expect(peer.events() == [.streamClosed(1, .cancel)])
        // Stream 5 only waits for its answer, which may take as long as it likes.
        #expect(peer.respond(5, 200))
    }

    @Test func `credit for a body comes back with its answer`() throws {
        var limits = HTTP2Limits()
        limits.connectionWindowBytes = 65_535
        let peer = try ServerPeer(limits)
        let body = [UInt8](repeating: 0, count: 16_000)
        for stream: UInt32 in [1, 3, 5, 7] {
            try peer.receive(Wire.request(stream, isLast: false) + Wire.data(stream, body, isLast: true))
        }
        #expect(try peer.sent().filter { $0.kind == Wire.Kind.windowUpdate } == [])
        for stream: Int32 in [1, 3, 5] {
            #expect(peer.respond(stream, 200))
        }
        let updates = try peer.sent().filter { $0.kind == Wire.Kind.windowUpdate }
        #expect(updates.map(\.stream) == [0])
        #expect(updates[0].number(at: 0) >= 32_000)
    }
}

import HTTP2
import Testing

@Suite struct HTTP2SessionTests {
    @Test func `a request arrives as ranges of one batch, and its answer as a response`() throws {
        let pair = try SessionPair()
        let stream = try #require(
            pair.request("/3/device/ab", body: Array("{\"aps\":{}}".utf8), fields: [("apns-topic", "a.b")])
        )
        try pair.run()
        let requests = pair.requests.requests.map { TextRequest($0, in: pair.requests) }
        #expect(
            requests == [
                TextRequest(stream: 1, path: "/3/device/ab", fields: ["apns-topic: a.b"], body: "{\"aps\":{}}")
            ]
        )

        var fields = ResponseFields()
        fields.append(name: "apns-id", value: "1-2-3", indexed: false)
        #expect(pair.server.respond(stream, status: 200, fields: fields))
        try pair.run()
        #expect(pair.responses() == [TextResponse(stream: 1, status: 200, fields: ["apns-id: 1-2-3"])])
        #expect(pair.serverEvents() == [.settings(maxConcurrentStreams: 0xFFFF_FFFF)])
        #expect(pair.server.streamCount == 0)
        #expect(pair.client.streamCount == 0)
    }

    @Test func `the requests of one wakeup leave in one batch, in the order of their ends`() throws {
        let peer = try ServerPeer()
        try peer.receive(
            Wire.request(1, isLast: false) + Wire.request(3) + Wire.request(5, isLast: false)
                + Wire.data(5, [0x35], isLast: false) + Wire.data(1, [0x31], isLast: false)
                + Wire.data(5, [0x36], isLast: true) + Wire.data(1, [0x32], isLast: true)
        )
        #expect(
            peer.requests() == [
                TextRequest(stream: 3), TextRequest(stream: 5, body: "56"), TextRequest(stream: 1, body: "12"),
            ]
        )
    }

    @Test func `an answer without a body ends with its HEADERS frame`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        #expect(peer.respond(1, 200))
        let frames = try peer.sent()
        #expect(frames.map(\.kind) == [Wire.Kind.headers])
        #expect(frames[0].flags == Wire.endHeaders | Wire.endStream)
    }

    @Test func `an answer to HEAD has no body, whichever handler answers`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, [(":method", "HEAD")] + Wire.requestFields.dropFirst()))
        #expect(peer.respond(1, 405, body: "{\"reason\":\"MethodNotAllowed\"}"))
        let frames = try peer.sent()
        #expect(frames.map(\.kind) == [Wire.Kind.headers])
        #expect(frames[0].flags == Wire.endHeaders | Wire.endStream)
        #expect(peer.session.heldBytes == 0)
    }

    @Test func `the body of an error is exactly one DATA frame, which ends the stream`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        #expect(peer.respond(1, 400, body: "{\"reason\":\"BadDeviceToken\"}"))
        let frames = try peer.sent()
        #expect(frames.map(\.kind) == [Wire.Kind.headers, Wire.Kind.data])
        #expect(frames[1].flags == Wire.endStream)
        #expect(String(decoding: frames[1].payload, as: UTF8.self) == "{\"reason\":\"BadDeviceToken\"}")
    }

    @Test func `a field that never comes again stays out of the dynamic table`() throws {
        let peer = try ServerPeer()
        var sizes: [Int] = []
        for stream: UInt32 in [1, 3] {
            try peer.receive(Wire.request(stream))
            #expect(peer.respond(Int32(stream), 200))
            sizes.append(try peer.sent()[0].payload.count)
        }
        // An indexed value would make the second block two bytes long.
        #expect(sizes[0] == sizes[1])
    }

    @Test func `a stream is answered once`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        #expect(peer.respond(1, 200))
        #expect(!peer.respond(1, 500))
        _ = try peer.sent()
        #expect(!peer.respond(1, 500))
        #expect(!peer.respond(77, 500))
    }

    @Test func `a stream that the peer resets is told to the owner, and its answer dropped`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1))
        _ = peer.events()
        try peer.receive(Wire.reset(1))
        #expect(peer.events() == [.streamClosed(1, .cancel)])
        #expect(!peer.respond(1, 200))
        #expect(try peer.sent() == [])
    }

    @Test func `a client that goes on after an early answer is asked to stop`() throws {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = 4
        limits.discardedBytesMax = 10
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1, isLast: false) + Wire.data(1, [1, 2, 3, 4, 5], isLast: false))
        #expect(peer.requests().map(\.flags) == [.bodyTooLarge])
        #expect(peer.respond(1, 413, body: "{}"))
        #expect(try peer.sent().map(\.kind) == [Wire.Kind.headers, Wire.Kind.data])
        try peer.receive(Wire.data(1, [UInt8](repeating: 0, count: 10), isLast: false))
        #expect(try peer.sent() == [])
        try peer.receive(Wire.data(1, [0], isLast: false))
        let frames = try peer.sent()
        #expect(frames.map(\.kind) == [Wire.Kind.resetStream])
        #expect(frames[0].number(at: 0) == HTTP2ErrorCode.noError.rawValue)
        #expect(peer.session.streamCount == 0)
    }

    @Test func `a request that never ends after its answer is reset in time`() throws {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = 4
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1, isLast: false) + Wire.data(1, [1, 2, 3, 4, 5], isLast: false))
        #expect(peer.respond(1, 413))
        _ = try peer.sent()
        #expect(
            peer.session.expire(at: 1029, requestSeconds: 30, stallSeconds: 30, into: &peer.batch)
                == ExpiredStreams(requests: 0, stalls: 0)
        )
        #expect(
            peer.session.expire(at: 1030, requestSeconds: 30, stallSeconds: 30, into: &peer.batch)
                == ExpiredStreams(requests: 1, stalls: 0)
        )
        #expect(try peer.sent().map(\.kind) == [Wire.Kind.resetStream])
        #expect(peer.events().filter { $0 == .streamClosed(1, .noError) } == [])
    }

    @Test func `what a client may do is tolerated`() throws {
        let peer = try ServerPeer()
        let block = Wire.block(
            Wire.requestFields.filter { $0.0 != ":authority" } + [("host", "push.example"), ("te", "trailers")]
        )
        let padded = Wire.frame(Wire.Kind.data, flags: Wire.padded, stream: 1, [3, 0x61, 0x62, 0, 0, 0])
        try peer.receive(
            Wire.frame(Wire.Kind.headers, stream: 1, Array(block.prefix(10)))
                + Wire.frame(Wire.Kind.continuation, stream: 1, Array(block[10..<20]))
                + Wire.frame(Wire.Kind.continuation, flags: Wire.endHeaders, stream: 1, Array(block[20...]))
                + padded
                + Wire.frame(Wire.Kind.priority, stream: 1, [0, 0, 0, 0, 16])
                + Wire.data(1, [], isLast: false)
                + Wire.data(1, [0x63], isLast: false)
                + Wire.frame(
                    Wire.Kind.headers,
                    flags: Wire.endHeaders | Wire.endStream,
                    stream: 1,
                    Wire.block([("x-trailer", "read and forgotten")])
                )
                + Wire.request(3, isLast: false)
                + Wire.data(3, [0x64], isLast: false)
                + Wire.data(3, [], isLast: true)
        )
        #expect(
            peer.requests() == [
                TextRequest(
                    stream: 1,
                    authority: "push.example",
                    fields: ["host: push.example", "te: trailers"],
                    body: "abc"
                ),
                TextRequest(stream: 3, body: "d"),
            ]
        )
    }

    @Test func `a repeated field stands in the batch twice`() throws {
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, Wire.requestFields + [("apns-priority", "5"), ("apns-priority", "10")]))
        #expect(peer.requests() == [TextRequest(stream: 1, fields: ["apns-priority: 5", "apns-priority: 10"])])
    }

    @Test func `an HTTP/1 client is told in words that it is one`() throws {
        let peer = try ServerPeer(greeted: false)
        let request = Array("POST /3/device/aabb HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)
        let error = #expect(throws: HTTP2Error.self) { try peer.receive(request) }
        #expect(error?.code == .http1Request)
        let goAway = try #require(try peer.sent().last)
        #expect(goAway.kind == Wire.Kind.goAway)
        #expect(goAway.number(at: 4) == HTTP2ErrorCode.protocolError.rawValue)
        #expect(goAway.debug == "Unexpected HTTP/1.x request: POST /3/device/aabb")
        #expect(peer.session.isFinished)
        #expect(throws: HTTP2Error.self) { try peer.receive(Wire.preface) }
    }

    /// A client that has asked on stream 1, and that an answer is written to by hand.
    private static func asked() throws -> HTTP2Session {
        let client = HTTP2Session(.client)
        var fields = ResponseFields()
        fields.append(name: ":scheme", value: "https" as StaticString)
        fields.append(name: ":authority", value: "localhost")
        fields.append(name: ":path", value: "/")
        #expect(client.request(method: "GET", fields: fields) == 1)
        var output: [UInt8] = []
        try client.drain(into: &output, upTo: 1 << 20, at: 0)
        return client
    }

    @Test(arguments: ["000", "001", "099", "100", "199", "599", "600", "999"], [true, false])
    func `a status is 100 to 599`(status: String, hasBody: Bool) throws {
        let client = try Self.asked()
        var batch = RequestBatch()
        let flags = hasBody ? Wire.endHeaders : Wire.endHeaders | Wire.endStream
        let head = Wire.frame(Wire.Kind.headers, flags: flags, stream: 1, Wire.block([(":status", status)]))
        let body = hasBody ? Wire.data(1, [0x6F, 0x6B], isLast: true) : []
        try client.receive((Wire.settings() + head + body).span, at: 0, into: &batch)
        var responses = ResponseBatch()
        client.takeResponses(into: &responses)
        #expect(responses.responses.map(\.status) == (("200"..."599").contains(status) ? [Int(status)] : []))
    }

    @Test func `an informational response is not the response`() throws {
        let client = try Self.asked()
        var batch = RequestBatch()
        let head = Wire.frame(
            Wire.Kind.headers,
            flags: Wire.endHeaders,
            stream: 1,
            Wire.block([(":status", "103"), ("link", "x")])
        )
        let final = Wire.frame(Wire.Kind.headers, flags: Wire.endHeaders, stream: 1, Wire.block([(":status", "200")]))
        try client.receive(
            (Wire.settings() + head + final + Wire.data(1, [0x6F, 0x6B], isLast: true)).span,
            at: 0,
            into: &batch
        )
        var responses = ResponseBatch()
        client.takeResponses(into: &responses)
        #expect(
            responses.responses.map { TextResponse($0, in: responses) } == [
                TextResponse(stream: 1, status: 200, body: "ok")
            ]
        )
    }

    @Test func `a quiet session gives memory back, and its open streams go on`() throws {
        let pair = try SessionPair()
        let streams = try (0..<40).map { try #require(pair.request("/\($0)")) }
        try pair.run()
        for stream in streams {
            #expect(pair.server.beginStreaming(stream, status: 200, fields: ResponseFields()))
        }
        var sent: [Int32: String] = [:]
        for round in 0..<3 {
            // Every third stream has bytes that have not gone when memory is given back.
            for stream in streams where (Int(stream) + round).isMultiple(of: 3) {
                let piece = "\(stream), \(round);"
                #expect(pair.server.write(stream, Array(piece.utf8).span) == .accepted)
                sent[stream, default: ""] += piece
            }
            pair.server.freeSpares()
            try pair.run()
            pair.server.freeSpares()
        }
        for stream in streams { pair.server.finish(stream) }
        try pair.run()
        let bodies = Dictionary(uniqueKeysWithValues: pair.responses().map { ($0.stream, $0.body) })
        #expect(bodies == Dictionary(uniqueKeysWithValues: streams.map { ($0, sent[$0] ?? "") }))
        #expect(pair.server.streamCount == 0)
        #expect(pair.server.heldBytes == 0)
    }
}

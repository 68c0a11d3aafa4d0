import HTTP2
import Testing

/// Responses that are read as they come, and requests that differ in little.
@Suite struct StreamedResponseTests {
    private static func fields(_ path: String) -> ResponseFields {
        var fields = ResponseFields()
        fields.append(name: ":scheme", value: "https" as StaticString)
        fields.append(name: ":authority", value: "localhost")
        fields.append(name: ":path", value: path, indexed: false)
        return fields
    }

    private static func taken(_ pair: SessionPair) -> (pieces: [String], responses: [TextResponse]) {
        var batch = ResponseBatch()
        pair.client.takeResponses(into: &batch)
        let pieces = batch.pieces.map { "\($0.streamID) \(batch.string($0.bytes))" }
        return (pieces, batch.responses.map { TextResponse($0, in: batch) })
    }

    @Test func `a streamed response comes piece by piece, and itself at its end`() throws {
        let pair = try SessionPair()
        let stream = try #require(pair.client.request(method: "GET", fields: Self.fields("/events"), isStreamed: true))
        try pair.run()
        #expect(pair.server.beginStreaming(stream, status: 200, fields: ResponseFields()))
        var taken = Self.taken(pair)
        for text in ["one", "two"] {
            _ = pair.server.write(stream, Array(text.utf8).span)
            try pair.run()
            taken = Self.taken(pair)
            #expect(taken.pieces == ["1 \(text)"])
            #expect(taken.responses == [])
        }
        pair.server.finish(stream)
        try pair.run()
        taken = Self.taken(pair)
        #expect(taken.pieces == [])
        #expect(taken.responses == [TextResponse(stream: 1, status: 200)])
        #expect(pair.client.heldBytes == 0)
    }

    @Test func `a stream has no limit of bytes, and gets its credit back`() throws {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = 100
        let pair = try SessionPair(client: limits)
        let stream = try #require(pair.client.request(method: "GET", fields: Self.fields("/events"), isStreamed: true))
        try pair.run()
        #expect(pair.server.beginStreaming(stream, status: 200, fields: ResponseFields()))
        var total = 0
        // Four times what the windows let through at first.
        for _ in 0..<128 {
            _ = pair.server.write(stream, Array(repeating: UInt8(ascii: "x"), count: 2048).span)
            try pair.run()
            total += Self.taken(pair).pieces.reduce(0) { $0 + $1.utf8.count - 2 }
        }
        #expect(total == 128 * 2048)
    }

    @Test func `looking at streams ahead changes nothing, whether they are there or not`() throws {
        let pair = try SessionPair()
        for path in ["/a", "/b"] { _ = pair.client.request(method: "POST", fields: Self.fields(path)) }
        try pair.run()
        let streams: [Int32] = [1, 3, 5, 0, -1, .max]
        pair.server.prefetch(streams.span)
        for stream in streams.prefix(2) {
            #expect(pair.server.respond(stream, status: 200, fields: ResponseFields()))
        }
        try pair.run()
        pair.server.prefetch(streams.span)
        #expect(
            Self.taken(pair).responses == [TextResponse(stream: 1, status: 200), TextResponse(stream: 3, status: 200)]
        )
    }

    @Test func `a value is replaced in its place`() throws {
        let pair = try SessionPair()
        var fields = Self.fields("/3/device/00")
        fields.append(name: "apns-topic", value: "a.b")
        for path in ["/3/device/01", "/3/device/02"] {
            fields.replaceValue(at: 2, Array(path.utf8).span)
            _ = pair.client.request(method: "POST", fields: fields)
        }
        try pair.run()
        #expect(
            pair.requests.requests.map { TextRequest($0, in: pair.requests) } == [
                TextRequest(stream: 1, path: "/3/device/01", fields: ["apns-topic: a.b"]),
                TextRequest(stream: 3, path: "/3/device/02", fields: ["apns-topic: a.b"]),
            ]
        )
    }
}

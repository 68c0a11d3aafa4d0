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
        // Frames that were on their way are thrown away.
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

    @Test(arguments: [(9, false), (10, false), (11, true)])
    func `so much of a body is thrown away after its answer, then it is reset`(bytes: Int, isReset: Bool) throws {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = 4
        limits.discardedBytesMax = 10
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1, isLast: false) + Wire.data(1, [1, 2, 3, 4, 5], isLast: false))
        #expect(peer.respond(1, 413))
        _ = try peer.sent()
        _ = peer.events()
        for _ in 0..<bytes { try peer.receive(Wire.data(1, [0], isLast: false)) }
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map { $0.number(at: 0) } == (isReset ? [HTTP2ErrorCode.noError.rawValue] : []))
        #expect(peer.events() == (isReset ? [.limitPassed(.maxDiscardedBytes)] : []))
        // One that ends in time needs no reset.
        guard !isReset else { return }
        try peer.receive(Wire.data(1, [], isLast: true))
        #expect(try peer.sent() == [])
        #expect(peer.session.streamCount == 0)
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

    @Test(arguments: [(8191, false), (8192, false), (8193, true)])
    func `trailers may have 8192 bytes`(bytes: Int, isReset: Bool) throws {
        let peer = try ServerPeer()
        let value = String(repeating: "v", count: bytes - 32 - "x-fill".utf8.count)
        let trailers = Wire.frame(
            Wire.Kind.headers,
            flags: Wire.endHeaders | Wire.endStream,
            stream: 1,
            Wire.block([("x-fill", value)])
        )
        try peer.receive(Wire.request(1, isLast: false) + trailers)
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map(\.stream) == (isReset ? [1] : []))
        #expect(peer.requests() == (isReset ? [] : [TextRequest(stream: 1)]))
        #expect(peer.events().contains(.limitPassed(.maxHeaderBytes)) == isReset)
    }

    /// A request of several frames with header fields of exactly so many bytes.
    private static func largeRequest(_ stream: UInt32, ofBytes bytes: Int) -> [UInt8] {
        let used = Wire.requestFields.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
        var left = bytes - used
        var fields = Wire.requestFields
        while left > 0 {
            let size = left > 20_000 ? 10_000 : left
            fields.append(("x-fill", String(repeating: "v", count: size - 38)))
            left -= size
        }
        let pieces = Wire.pieces(Wire.block(fields))
        return pieces.enumerated().flatMap { index, piece in
            Wire.frame(
                index == 0 ? Wire.Kind.headers : Wire.Kind.continuation,
                flags: (index == 0 ? Wire.endStream : 0) | (index == pieces.count - 1 ? Wire.endHeaders : 0),
                stream: stream,
                piece
            )
        }
    }

    @Test(arguments: [(65_535, false), (65_536, false), (65_537, true)])
    func `a header list of more than 65,536 bytes is reset instead of answered`(bytes: Int, isReset: Bool) throws {
        let peer = try ServerPeer()
        try peer.receive(Self.largeRequest(1, ofBytes: bytes))
        #expect(peer.requests().map(\.flags) == (isReset ? [] : [.headersTooLarge]))
        let resets = try peer.sent().filter { $0.kind == Wire.Kind.resetStream }
        #expect(resets.map(\.stream) == (isReset ? [1] : []))
        let passed: [HTTP2Event] =
            [.limitPassed(.maxHeaderBytes)] + (isReset ? [.limitPassed(.maxHeaderBytesReset)] : [])
        #expect(peer.events().filter { !$0.isSettings } == passed)
    }

    @Test(arguments: [(2, true), (3, true), (4, false)])
    func `three oversized header lists cost their streams, the fourth the connection`(count: Int, isTaken: Bool) throws
    {
        let peer = try ServerPeer()
        let bytes = (0..<count).flatMap { Self.largeRequest(UInt32($0) * 2 + 1, ofBytes: 70_000) }
        if isTaken {
            try peer.receive(bytes + Wire.request(99))
            #expect(peer.requests() == [TextRequest(stream: 99)])
        } else {
            let error = #expect(throws: HTTP2Error.self) { try peer.receive(bytes) }
            #expect(error?.limit == .maxOversizedHeaders)
        }
    }

    @Test(arguments: [(65_535, true), (65_536, true), (65_537, false)])
    func `a stream may have 65,536 bytes of padding`(bytes: Int, isTaken: Bool) throws {
        let peer = try ServerPeer()
        // nghttp2 counts the byte that says how much padding there is.
        let frames = (0..<bytes / 256).map { _ in 255 } + (bytes % 256 > 0 ? [bytes % 256 - 1] : [])
        let send = {
            try peer.receive(Wire.request(1, isLast: false))
            for padding in frames {
                let payload = [UInt8(padding), 0x61] + [UInt8](repeating: 0, count: padding)
                try peer.receive(Wire.frame(Wire.Kind.data, flags: Wire.padded, stream: 1, payload))
                _ = try peer.sent()
            }
            try peer.receive(Wire.data(1, [], isLast: true))
        }
        if isTaken {
            try send()
            #expect(peer.requests() == [TextRequest(stream: 1, body: String(repeating: "a", count: frames.count))])
        } else {
            let error = #expect(throws: HTTP2Error.self) { try send() }
            #expect(error?.limit == .maxPaddingBytes)
        }
    }

    @Test(arguments: [(15, true), (16, true), (17, false)])
    func `a SETTINGS frame may have 16 entries`(count: Int, isTaken: Bool) throws {
        let peer = try ServerPeer()
        let bytes = Wire.settings((0..<count).map { _ in (id: 4, value: 65_535) })
        if isTaken {
            try peer.receive(bytes)
        } else {
            let error = #expect(throws: HTTP2Error.self) { try peer.receive(bytes) }
            #expect(error?.limit == .maxSettingsEntries)
        }
    }

    @Test(arguments: [(999, true), (1000, true), (1001, false)])
    func `requests that are not whole may hold so many bytes`(bytes: Int, isTaken: Bool) throws {
        var limits = HTTP2Limits()
        limits.heldBytesMax = 1000 + 2 * ":POST/3/device/aabblocalhost".utf8.count - 2
        let peer = try ServerPeer(limits)
        // A whole request counts no more: the batch has it.
        try peer.receive(
            Wire.request(1, isLast: false) + Wire.data(1, [UInt8](repeating: 0x61, count: 900), isLast: true)
        )
        try peer.receive(Wire.request(3, isLast: false) + Wire.request(5, isLast: false))
        let half = [UInt8](repeating: 0x61, count: 500)
        let rest = [UInt8](repeating: 0x61, count: bytes - 500)
        let bytes = Wire.data(3, half, isLast: false) + Wire.data(5, rest, isLast: false)
        if isTaken {
            try peer.receive(bytes)
            // A stream that goes takes what it held with it.
            try peer.receive(Wire.reset(5))
            try peer.receive(Wire.data(3, rest, isLast: true))
            #expect(peer.requests().map(\.stream) == [1, 3])
        } else {
            let error = #expect(throws: HTTP2Error.self) { try peer.receive(bytes) }
            #expect(error?.limit == .maxConnectionBytes)
        }
    }

    @Test(arguments: [(999, true), (1000, true), (1001, false)])
    func `answers that are not read may hold so many bytes`(bytes: Int, isTaken: Bool) throws {
        var limits = HTTP2Limits()
        limits.heldBytesMax = 1000
        let peer = try ServerPeer(limits)
        // A client without room for any body.
        try peer.receive(Wire.settings([(id: 4, value: 0)]) + Wire.request(1) + Wire.request(3))
        #expect(peer.respond(1, 200, body: String(repeating: "a", count: 500)))
        #expect(peer.respond(3, 200, body: String(repeating: "a", count: bytes - 500)))
        if isTaken {
            _ = try peer.sent()
            let credit = Wire.frame(Wire.Kind.windowUpdate, stream: 1, Wire.bytes(500))
            try peer.receive(credit + Wire.request(5))
            #expect(try peer.sent().filter { $0.kind == Wire.Kind.data }.map(\.payload.count) == [500])
            #expect(peer.respond(5, 200, body: String(repeating: "a", count: 500)))
            _ = try peer.sent()
        } else {
            let error = #expect(throws: HTTP2Error.self) { try peer.sent() }
            #expect(error?.limit == .maxConnectionBytes)
        }
    }

    @Test func `one answer may be larger than what all of them may hold`() throws {
        var limits = HTTP2Limits()
        limits.heldBytesMax = 1000
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1))
        #expect(peer.respond(1, 200, body: String(repeating: "a", count: 5000)))
        #expect(try peer.sent().filter { $0.kind == Wire.Kind.data }.map(\.payload.count) == [5000])
    }

    @Test(arguments: [9, 10])
    func `a header block has its time`(seconds: UInt32) throws {
        let block = Wire.block(Wire.requestFields)
        let beginnings = [
            Wire.frame(Wire.Kind.headers, flags: Wire.endStream, stream: 1, Array(block.prefix(7))),
            Array(Wire.request(1).prefix(20)),
            Array(Wire.request(1).prefix(9)),
        ]
        for beginning in beginnings {
            let peer = try ServerPeer()
            try peer.receive(beginning)
            let expire = { try peer.session.expireHeaders(at: peer.second + seconds, seconds: 10) }
            if seconds < 10 {
                try expire()
            } else {
                let error = #expect(throws: HTTP2Error.self) { try expire() }
                #expect(error?.code == .late)
                let goAway = try #require(try peer.sent().last)
                #expect(goAway.debug == "a header block took more than 10 s")
                #expect(peer.session.isFinished)
            }
        }
        let peer = try ServerPeer()
        try peer.receive(Wire.request(1, isLast: false))
        try peer.session.expireHeaders(at: peer.second + seconds, seconds: 10)
    }

    @Test(arguments: [(99, true), (100, true), (101, false)])
    func `so many acknowledgements may wait to be read`(count: Int, isTaken: Bool) throws {
        var limits = HTTP2Limits()
        limits.controlFrameBurst = 1000
        let peer = try ServerPeer(limits)
        let bytes = (0..<count).flatMap { _ in Wire.ping() }
        if isTaken {
            try peer.receive(bytes)
            #expect(try peer.sent().count == count)
        } else {
            let error = #expect(throws: HTTP2Error.self) { try peer.receive(bytes) }
            #expect(error?.limit == .maxUnreadAcknowledgements)
        }
    }
}

extension HTTP2Event {
    fileprivate var isSettings: Bool {
        if case .settings = self { true } else { false }
    }
}

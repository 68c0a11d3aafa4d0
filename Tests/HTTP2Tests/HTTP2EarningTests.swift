import HTTP2
import Testing

/// The frames that requests pay for, so that the limits of rates meet only frames that no request explains.
@Suite struct HTTP2EarningTests {
    /// A kind of frame that is counted: its limit, and how many of it requests earn.
    struct Share: Sendable, CustomTestStringConvertible {
        var limit: HTTP2Limit
        /// How many a stream pays for when it is opened.
        var opened = 0
        /// How many it pays for when its answer begins.
        var answered = 0
        /// Sets the burst; no second brings more.
        var setBurst: @Sendable (inout HTTP2Limits, Int) -> Void
        /// How many of the burst the greeting has taken.
        var taken = 0
        /// The first frames, on stream 1.
        var prelude: [UInt8] = []
        /// Number `n` of the frame.
        var frame: @Sendable (Int) -> [UInt8]

        var testDescription: String { self.limit.rawValue }
    }

    private static func stream(_ index: Int) -> UInt32 { UInt32(index) * 2 + 1 }

    static let shares = [
        Share(
            limit: .maxResets,
            answered: 1,
            setBurst: {
                $0.streamResetBurst = $1
                $0.streamResetsPerSecond = 0
            },
            frame: { Wire.request(Self.stream(10_000 + $0)) + Wire.reset(Self.stream(10_000 + $0)) }
        ),
        Share(
            limit: .maxStreamErrors,
            answered: 1,
            setBurst: {
                $0.streamErrorBurst = $1
                $0.streamErrorsPerSecond = 0
            },
            // A field that only HTTP/1.1 has.
            frame: { Wire.request(Self.stream(10_000 + $0), Wire.requestFields + [("connection", "close")]) }
        ),
        Share(
            limit: .maxControlFrames,
            answered: 1,
            setBurst: {
                $0.controlFrameBurst = $1
                $0.controlFramesPerSecond = 0
            },
            taken: 1,
            frame: { $0 % 2 == 0 ? Wire.ping() : Wire.settings() }
        ),
        Share(
            limit: .maxWindowUpdates,
            opened: 2,
            setBurst: {
                $0.windowUpdateBurst = $1
                $0.windowUpdatesPerSecond = 0
            },
            frame: { _ in Wire.frame(Wire.Kind.windowUpdate, Wire.bytes(1)) }
        ),
        Share(
            limit: .maxPriorityFrames,
            opened: 1,
            setBurst: {
                $0.priorityFrameBurst = $1
                $0.priorityFramesPerSecond = 0
            },
            frame: { Wire.frame(Wire.Kind.priority, stream: Self.stream($0), [0, 0, 0, 0, 16]) }
        ),
        Share(
            limit: .maxLateFrames,
            answered: 2,
            setBurst: {
                $0.lateFrameBurst = $1
                $0.lateFramesPerSecond = 0
            },
            prelude: Wire.request(1, Wire.requestFields + [("te", "gzip")], isLast: false),
            frame: { _ in Wire.data(1, [1], isLast: false) }
        ),
    ]

    private static let burst = 20
    private static let streams = 10

    /// A peer that may open ten streams at once.
    private func peer(_ share: Share) throws -> ServerPeer {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = UInt32(Self.streams)
        share.setBurst(&limits, Self.burst)
        let peer = try ServerPeer(limits)
        try peer.receive(share.prelude)
        _ = try peer.sent()
        return peer
    }

    /// Requests with bodies that are answered one after the other.
    private func request(_ numbers: Range<Int>, of peer: ServerPeer, isAnswered: Bool = true) throws {
        for number in numbers {
            let stream = Self.stream(number)
            try peer.receive(Wire.request(stream, isLast: false) + Wire.data(stream, [0x61], isLast: true))
            if isAnswered { #expect(peer.respond(Int32(stream), 200)) }
            _ = try peer.sent()
        }
        peer.batch.removeAll()
    }

    /// Sends that many frames; the limit that they pass.
    private func send(_ count: Int, of share: Share, to peer: ServerPeer) throws -> HTTP2Limit? {
        do throws(HTTP2Error) {
            for number in 0..<count {
                try peer.session.receive(share.frame(number).span, at: peer.second, into: &peer.batch)
                var output: [UInt8] = []
                try peer.session.drain(into: &output, upTo: 1 << 20, at: peer.second)
            }
            return nil
        } catch {
            return error.limit
        }
    }

    @Test(arguments: Self.shares, [-1, 0, 1])
    func `answered requests pay for their share of each kind of frame`(share: Share, beyond: Int) throws {
        let peer = try self.peer(share)
        try self.request(1..<6, of: peer)
        let paid = Self.burst - share.taken + 5 * (share.opened + share.answered)
        #expect(try self.send(paid + beyond, of: share, to: peer) == (beyond > 0 ? share.limit : nil))
    }

    @Test(arguments: Self.shares, [-1, 0, 1])
    func `what was paid and did not come is kept for as many streams as may be open`(share: Share, beyond: Int) throws {
        let peer = try self.peer(share)
        try self.request(1..<100, of: peer)
        let paid = Self.burst + Self.streams * (share.opened + share.answered)
        #expect(try self.send(paid + beyond, of: share, to: peer) == (beyond > 0 ? share.limit : nil))
    }

    @Test(arguments: Self.shares, [-1, 0, 1])
    func `requests without an answer pay for what comes with a stream alone`(share: Share, beyond: Int) throws {
        let peer = try self.peer(share)
        try self.request(1..<6, of: peer, isAnswered: false)
        let paid = Self.burst - share.taken + 5 * share.opened
        #expect(try self.send(paid + beyond, of: share, to: peer) == (beyond > 0 ? share.limit : nil))
    }

    @Test func `streams that are opened and reset at once pay for no reset`() throws {
        let peer = try ServerPeer()
        for number in 0..<100 { try peer.receive(Wire.request(Self.stream(number)) + Wire.reset(Self.stream(number))) }
        #expect(throws: HTTP2Error.self) { try peer.receive(Wire.request(201) + Wire.reset(201)) }
    }

    @Test func `requests that are answered before they are whole may be reset, each`() throws {
        // Go's client does this when a push is refused before its body is out.
        let peer = try ServerPeer()
        for number in 0..<5000 {
            let stream = Self.stream(number)
            try peer.receive(Wire.request(stream, isLast: false))
            #expect(peer.session.respond(Int32(stream), status: 403, fields: ResponseFields()))
            _ = try peer.sent()
            try peer.receive(Wire.reset(stream, code: 0))
            _ = try peer.sent()
        }
        #expect(!peer.session.isFinished)
        #expect(peer.session.streamCount == 0)
    }

    @Test func `streamed answers may be reset, each`() throws {
        let peer = try ServerPeer()
        for number in 0..<500 {
            let stream = Self.stream(number)
            try peer.receive(Wire.request(stream))
            #expect(peer.session.beginStreaming(Int32(stream), status: 200, fields: ResponseFields()))
            _ = try peer.sent()
            try peer.receive(Wire.reset(stream))
        }
        #expect(!peer.session.isFinished)
    }

    @Test(arguments: [1, 1000])
    func `a window update for each of 5000 pushes is no flood`(atOnce: Int) throws {
        // httpx sends one pushes after the other, async-http-client opens as many as it may.
        let peer = try ServerPeer()
        for first in stride(from: 0, to: 5000, by: atOnce) {
            for number in first..<first + atOnce {
                let stream = Self.stream(number)
                try peer.receive(
                    Wire.request(stream, isLast: false)
                        + Wire.frame(Wire.Kind.windowUpdate, stream: stream, Wire.bytes(1 << 24))
                        + Wire.data(stream, [0x61], isLast: true)
                )
            }
            _ = try peer.sent()
            for number in first..<first + atOnce { #expect(peer.respond(Int32(Self.stream(number)), 200)) }
            _ = try peer.sent()
            peer.batch.removeAll()
        }
        #expect(!peer.session.isFinished)
    }

    @Test func `all open streams may be given up at once`() throws {
        let peer = try ServerPeer()
        // Of a thousand earlier ones.
        try self.request(0..<1000, of: peer)
        let open = 1000..<2000
        for number in open { try peer.receive(Wire.request(Self.stream(number), isLast: false)) }
        for number in open { try peer.receive(Wire.reset(Self.stream(number))) }
        #expect(peer.session.streamCount == 0)
        #expect(!peer.session.isFinished)
    }

    @Test(arguments: [(600, true), (601, false)])
    func `a server may reset each stream that this side opens`(count: Int, isTaken: Bool) throws {
        let client = HTTP2Session(.client)
        var batch = RequestBatch()
        var output: [UInt8] = []
        try client.receive(Wire.settings([(id: 3, value: 1000)]).span, at: 0, into: &batch)
        var fields = ResponseFields()
        fields.append(name: ":scheme", value: "https" as StaticString)
        fields.append(name: ":authority", value: "localhost")
        fields.append(name: ":path", value: "/")
        for _ in 0..<500 { #expect(client.request(method: "GET", fields: fields) != nil) }
        try client.drain(into: &output, upTo: 1 << 24, at: 0)
        let refusals = (0..<count).flatMap { Wire.reset(Self.stream($0 % 500), code: 7) }
        var limit: HTTP2Limit?
        do throws(HTTP2Error) {
            try client.receive(refusals.span, at: 0, into: &batch)
        } catch {
            limit = error.limit
        }
        #expect(limit == (isTaken ? nil : .maxResets))
    }
}

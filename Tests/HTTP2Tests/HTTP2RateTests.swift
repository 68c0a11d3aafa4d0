import HTTP2
import Testing

/// Frames that a peer may send so often at once, and so often a second after.
@Suite struct HTTP2RateTests {
    /// A rate: its limit, the counted frames, and how to make number `n` of them.
    struct Rate: Sendable, CustomTestStringConvertible {
        var limit: HTTP2Limit
        var explanation: String
        var burst: Int
        var perSecond: Int
        /// How many of the burst the greeting has taken.
        var taken = 0
        var prelude: [UInt8] = []
        var frame: @Sendable (Int) -> [UInt8]

        var testDescription: String { self.limit.rawValue }
    }

    private static func stream(_ index: Int) -> UInt32 { UInt32(index) * 2 + 1 }

    static let rates = [
        Rate(
            limit: .maxResets,
            explanation: "more than 100 RST_STREAM frames at once, or 33 a second",
            burst: 100,
            perSecond: 33
        ) { Wire.request(Self.stream($0)) + Wire.reset(Self.stream($0)) },
        Rate(
            limit: .maxStreamErrors,
            explanation: "more than 100 stream errors at once, or 33 a second",
            burst: 100,
            perSecond: 33
        ) {
            // A window that overflows is a stream error that this side answers (CVE-2025-8671).
            Wire.request(Self.stream($0), isLast: false)
                + Wire.frame(Wire.Kind.windowUpdate, stream: Self.stream($0), Wire.bytes(0x7FFF_FFFF))
        },
        Rate(
            limit: .maxControlFrames,
            explanation: "more than 100 PING, SETTINGS or GOAWAY frames at once, or 10 a second",
            burst: 100,
            perSecond: 10,
            taken: 1
        ) { $0 % 2 == 0 ? Wire.ping() : Wire.settings() },
        Rate(
            limit: .maxControlFrames,
            explanation: "more than 100 PING, SETTINGS or GOAWAY frames at once, or 10 a second",
            burst: 100,
            perSecond: 10,
            taken: 1
        ) { _ in Wire.frame(Wire.Kind.ping, flags: Wire.acknowledgement, Wire.bytes(1) + Wire.bytes(2)) },
        Rate(
            limit: .maxWindowUpdates,
            explanation: "more than 1000 WINDOW_UPDATE frames at once, or 100 a second",
            burst: 1000,
            perSecond: 100
        ) { _ in Wire.frame(Wire.Kind.windowUpdate, Wire.bytes(1)) },
        Rate(
            limit: .maxPriorityFrames,
            explanation: "more than 200 PRIORITY or unknown frames at once, or 100 a second",
            burst: 200,
            perSecond: 100
        ) { Wire.frame(Wire.Kind.priority, stream: Self.stream($0), [0, 0, 0, 0, 16]) },
        Rate(
            limit: .maxPriorityFrames,
            explanation: "more than 200 PRIORITY or unknown frames at once, or 100 a second",
            burst: 200,
            perSecond: 100
        ) { Wire.frame(UInt8(10 + $0 % 200), [1, 2, 3]) },
        Rate(
            limit: .maxLateFrames,
            explanation: "more than 10000 frames on streams that were reset at once, or 1000 a second",
            burst: 10_000,
            perSecond: 1000,
            prelude: Wire.request(1, Wire.requestFields + [("te", "gzip")], isLast: false)
        ) { _ in Wire.data(1, [1], isLast: false) },
    ]

    @Test(arguments: Self.rates)
    func `a rate has a burst and then so many a second`(rate: Rate) throws {
        let peer = try ServerPeer()
        try peer.receive(rate.prelude)
        _ = try peer.sent()
        var index = 0
        let send = { (count: Int) in
            for _ in 0..<count {
                try peer.receive(rate.frame(index))
                _ = try peer.sent()
                peer.batch.removeAll()
                index += 1
            }
        }
        try send(rate.burst - rate.taken)
        peer.second += 1
        try send(rate.perSecond)
        #expect(!peer.session.isFinished)
        let error = #expect(throws: HTTP2Error.self) { try send(1) }
        #expect(error?.limit == rate.limit)
        #expect(error?.message == rate.explanation)
        let goAway = try peer.sent().last { $0.kind == Wire.Kind.goAway }
        #expect(goAway?.number(at: 4) == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        #expect(goAway?.debug == rate.explanation)
        #expect(peer.session.isFinished)
    }

    @Test(arguments: Self.rates)
    func `one frame above a burst ends the connection`(rate: Rate) throws {
        let peer = try ServerPeer()
        try peer.receive(rate.prelude)
        _ = try peer.sent()
        let error = #expect(throws: HTTP2Error.self) {
            for index in 0...rate.burst - rate.taken {
                try peer.receive(rate.frame(index))
                _ = try peer.sent()
            }
        }
        #expect(error?.limit == rate.limit)
    }

    @Test func `a reader may give credit for every frame that it reads`() throws {
        var limits = HTTP2Limits()
        limits.windowUpdateBurst = 10
        limits.windowUpdatesPerSecond = 0
        let peer = try ServerPeer(limits)
        try peer.receive(Wire.request(1))
        #expect(peer.session.beginStreaming(1, status: 200, fields: ResponseFields()))
        let credit = Wire.frame(Wire.Kind.windowUpdate, Wire.bytes(1))
        for _ in 0..<100 {
            #expect(peer.session.write(1, [1, 2, 3].span) == .accepted)
            _ = try peer.sent()
            try peer.receive(credit + Wire.frame(Wire.Kind.windowUpdate, stream: 1, Wire.bytes(1)))
        }
        // The burst, and what the stream itself has paid for.
        for _ in 0..<10 + 2 { try peer.receive(credit) }
        #expect(throws: HTTP2Error.self) { try peer.receive(credit) }
    }

    @Test func `acknowledgements of what was asked are free`() throws {
        var limits = HTTP2Limits()
        // The client's first SETTINGS, and its acknowledgement of SETTINGS that are not sent yet.
        limits.controlFrameBurst = 2
        limits.controlFramesPerSecond = 0
        let peer = try ServerPeer(limits)
        for number in 0..<100 {
            peer.session.ping(UInt64(number))
            let ping = try #require(try peer.sent().last)
            try peer.receive(Wire.frame(Wire.Kind.ping, flags: Wire.acknowledgement, ping.payload))
        }
        try peer.receive(Wire.ping())
        #expect(throws: HTTP2Error.self) { try peer.receive(Wire.ping()) }
    }
}

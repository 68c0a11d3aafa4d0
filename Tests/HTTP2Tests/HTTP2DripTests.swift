import HTTP2
import TestSupport
import Testing

@Suite struct HTTP2DripTests {
    /// A connection with most kinds of frames a client sends.
    private static let script =
        Wire.preface + Wire.settings([(id: 3, value: 100), (id: 4, value: 70_000)]) + Wire.settingsAcknowledgement
        + Wire.request(
            1,
            Wire.requestFields + [("apns-topic", "com.example.app"), ("apns-priority", "5")],
            isLast: false
        )
        + Wire.ping()
        + Wire.data(1, Array("{\"aps\":{\"content-changed\":true}}".utf8), isLast: true)
        + Wire.frame(Wire.Kind.headers, stream: 3, Array(Wire.block(Wire.requestFields).prefix(7)))
        + Wire.frame(
            Wire.Kind.continuation,
            flags: Wire.endHeaders,
            stream: 3,
            Array(Wire.block(Wire.requestFields).dropFirst(7))
        )
        + Wire.frame(Wire.Kind.data, flags: Wire.padded | Wire.endStream, stream: 3, [4, 0x61, 0x62, 0, 0, 0, 0])
        + Wire.frame(Wire.Kind.windowUpdate, Wire.bytes(1000))
        + Wire.request(5)

    private static let expected = [
        TextRequest(
            stream: 1,
            fields: ["apns-topic: com.example.app", "apns-priority: 5"],
            body: "{\"aps\":{\"content-changed\":true}}"
        ),
        TextRequest(stream: 3, body: "ab"),
        TextRequest(stream: 5),
    ]

    @Test func `a cut at any byte changes nothing`() throws {
        for cut in 0...Self.script.count {
            let peer = try ServerPeer(greeted: false)
            try peer.receive(Array(Self.script[..<cut]))
            try peer.receive(Array(Self.script[cut...]))
            #expect(peer.requests() == Self.expected, "cut at \(cut)")
        }
    }

    @Test func `single bytes change nothing`() throws {
        let peer = try ServerPeer(greeted: false)
        for byte in Self.script {
            try peer.receive([byte])
        }
        #expect(peer.requests() == Self.expected)
    }

    @Test(arguments: UInt64(0)..<64)
    func `random pieces change nothing`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let peer = try ServerPeer(greeted: false)
        var rest = Self.script[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...40, using: &random)
            try peer.receive(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(peer.requests() == Self.expected, "seed \(seed)")
    }

    @Test(arguments: UInt64(0)..<64)
    func `damaged bytes end a session and nothing else`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let peer = try ServerPeer(greeted: false)
        var script = Self.script + Self.script.dropFirst(Wire.preface.count)
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            script[Int.random(in: script.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        do {
            for start in stride(from: 0, to: script.count, by: 100) {
                try peer.receive(Array(script[start..<min(start + 100, script.count)]))
                for request in peer.requests() {
                    _ = peer.respond(request.stream, 200)
                }
                _ = try peer.sent()
            }
        } catch let error as HTTP2Error {
            // Whatever it was, it is over and says so.
            #expect(!error.message.isEmpty, "seed \(seed)")
            _ = try peer.sent()
            #expect(peer.session.isFinished, "seed \(seed)")
        }
    }
}

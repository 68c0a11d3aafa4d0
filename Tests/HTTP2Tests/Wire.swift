/// HTTP/2 frames as bytes, so that tests can say what no well-behaved library would.
enum Wire {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let resetStream: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    static let endStream: UInt8 = 1
    static let acknowledgement: UInt8 = 1
    static let endHeaders: UInt8 = 4
    static let padded: UInt8 = 8

    static func frame(_ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        let head = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), kind, flags]
        return head + Self.bytes(stream) + payload
    }

    static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    static func settings(_ entries: [(id: UInt16, value: UInt32)] = []) -> [UInt8] {
        Self.frame(
            Kind.settings,
            entries.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 0xFF)] + Self.bytes($0.value) }
        )
    }

    static var settingsAcknowledgement: [UInt8] { Self.frame(Kind.settings, flags: Self.acknowledgement) }

    static func reset(_ stream: UInt32, code: UInt32 = 8) -> [UInt8] {
        Self.frame(Kind.resetStream, stream: stream, Self.bytes(code))
    }

    static func ping(_ payload: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]) -> [UInt8] {
        Self.frame(Kind.ping, payload)
    }

    /// An HPACK block of literals without indexing and without Huffman (RFC 7541, 6.2.2).
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + Self.text($0.0) + Self.text($0.1) }
    }

    /// Bytes cut so that each piece fits a frame.
    static func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: 16_000).map { Array(bytes[$0..<min($0 + 16_000, bytes.count)]) }
    }

    /// A literal that enters the dynamic table (RFC 7541, 6.2.1).
    static func indexedLiteral(_ name: String, _ value: String) -> [UInt8] {
        [0x40] + Self.text(name) + Self.text(value)
    }

    private static func text(_ text: String) -> [UInt8] {
        Self.integer(text.utf8.count, prefixBits: 7) + Array(text.utf8)
    }

    private static func integer(_ number: Int, prefixBits: Int) -> [UInt8] {
        let limit = 1 << prefixBits - 1
        guard number >= limit else { return [UInt8(number)] }
        var rest = number - limit
        var bytes = [UInt8(limit)]
        while rest >= 128 {
            bytes.append(UInt8(rest % 128) | 0x80)
            rest /= 128
        }
        return bytes + [UInt8(rest)]
    }

    static let requestFields = [
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/aabb"), (":authority", "localhost"),
    ]

    /// A HEADERS frame with a whole block.
    static func request(
        _ stream: UInt32,
        _ fields: [(String, String)] = Wire.requestFields,
        isLast: Bool = true
    ) -> [UInt8] {
        Self.frame(
            Kind.headers,
            flags: Self.endHeaders | (isLast ? Self.endStream : 0),
            stream: stream,
            Self.block(fields)
        )
    }

    static func data(_ stream: UInt32, _ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        Self.frame(Kind.data, flags: isLast ? Self.endStream : 0, stream: stream, bytes)
    }
}

/// A frame that a session has sent, taken apart.
struct SentFrame: Hashable, CustomStringConvertible {
    var kind: UInt8
    var flags: UInt8
    var stream: UInt32
    var payload: [UInt8]

    var description: String { "frame(kind \(self.kind), flags \(self.flags), stream \(self.stream), \(self.payload))" }

    /// All frames of a server's output.
    static func all(_ bytes: [UInt8]) -> [SentFrame] {
        var frames: [SentFrame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                SentFrame(
                    kind: head[3],
                    flags: head[4],
                    stream: stream,
                    payload: Array(rest.dropFirst(9).prefix(length))
                )
            )
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }

    /// The number at the payload's `offset`.
    func number(at offset: Int) -> UInt32 {
        self.payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The debug data of a GOAWAY.
    var debug: String { String(decoding: self.payload.dropFirst(8), as: UTF8.self) }
}

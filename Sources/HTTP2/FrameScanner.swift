/// The head of a frame from the peer (RFC 9113, 4.1).
struct FrameHead {
    /// Where the frame begins in the bytes that were scanned; 0 if it began in earlier ones.
    var start: Int
    /// Bytes of payload.
    var length: Int
    var type: UInt8
    var flags: UInt8
    var streamID: Int32
    /// Of a PRIORITY frame of the right length: the stream that this one depends on. Else 0.
    var dependency: Int32 = 0

    func hasFlag(_ flag: UInt8) -> Bool { self.flags & flag != 0 }
}

/// Finds the frames in a peer's bytes, however they are cut.
///
/// It only looks at heads and steps over payloads, so that it costs a few instructions a frame.
struct FrameScanner {
    private static let headBytes = 9
    private static let priorityBytes = 5

    /// Bytes to step over: of a preface or of a payload.
    private var bytesLeft: Int
    /// A head of which not all bytes are there yet, the first byte highest.
    private var partial: UInt128 = 0
    private var partialCount = 0

    /// - Parameter prefaceBytes: The bytes before the first frame.
    init(prefaceBytes: Int) {
        self.bytesLeft = prefaceBytes
    }

    private var lastType = FrameType.settings

    /// True if bytes of a frame that carries header fields are still to come.
    var isInsideHeaders: Bool {
        self.bytesLeft > 0 && (self.lastType == FrameType.headers || self.lastType == FrameType.continuation)
    }

    /// The next head that ends at or after `offset`, which moves behind it; nil at the end of the bytes.
    @inline(__always)
    mutating func next(_ bytes: Span<UInt8>, from offset: inout Int) -> FrameHead? {
        if self.bytesLeft > 0 {
            let step = min(self.bytesLeft, bytes.count - offset)
            offset += step
            self.bytesLeft -= step
            guard self.bytesLeft == 0 else { return nil }
        }
        guard self.partialCount == 0, bytes.count - offset >= Self.headBytes else {
            return self.gather(bytes, from: &offset)
        }
        // Sound: nine bytes are there.
        let word = unsafe UInt64(bigEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let head = Self.head(word, bytes[offset + 8], start: offset)
        guard head.type != FrameType.priority else { return self.gather(bytes, from: &offset) }
        offset += Self.headBytes
        self.bytesLeft = head.length
        self.lastType = head.type
        return head
    }

    /// Collects a head byte by byte; that of a PRIORITY frame with its payload.
    private mutating func gather(_ bytes: Span<UInt8>, from offset: inout Int) -> FrameHead? {
        let start = max(0, offset - self.partialCount)
        while offset < bytes.count {
            self.partial = self.partial << 8 | UInt128(bytes[offset])
            self.partialCount += 1
            offset += 1
            guard self.partialCount >= Self.headBytes else { continue }
            let after = self.partialCount - Self.headBytes
            let bits = self.partial >> UInt128(8 * after)
            var head = Self.head(
                UInt64(truncatingIfNeeded: bits >> 8),
                UInt8(truncatingIfNeeded: bits),
                start: start
            )
            if head.type == FrameType.priority, head.length == Self.priorityBytes {
                guard after == Self.priorityBytes else { continue }
                head.dependency = Int32(truncatingIfNeeded: self.partial >> 8) & Int32.max
            }
            self.bytesLeft = head.length - after
            self.lastType = head.type
            self.partial = 0
            self.partialCount = 0
            return head
        }
        return nil
    }

    /// Reads a head from its first eight bytes and the ninth.
    @inline(__always)
    private static func head(_ word: UInt64, _ last: UInt8, start: Int) -> FrameHead {
        FrameHead(
            start: start,
            length: Int(word >> 40),
            type: UInt8(truncatingIfNeeded: word >> 32),
            flags: UInt8(truncatingIfNeeded: word >> 24),
            streamID: Int32(truncatingIfNeeded: word << 8 | UInt64(last)) & Int32.max
        )
    }
}

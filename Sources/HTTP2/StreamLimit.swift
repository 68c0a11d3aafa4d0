import CNghttp2

/// How many streams a client may have open at once: the limit that was announced last, and whether the client knows it.
///
/// nghttp2 is not told. It would end the connection for one stream too many once the client has acknowledged the limit;
/// RFC 9113, 5.1.2 leaves the choice between that and resetting the stream alone, and only of a stream that was reset
/// with REFUSED_STREAM may a client think that nothing was done for it and send its request again. So nghttp2 sends the
/// limit under another identifier, which it does not understand, and ``announce(in:from:)`` puts the right one in place.
struct StreamLimit {
    /// Stands for MAX_CONCURRENT_STREAMS on the way through nghttp2: an identifier for experiments, of no meaning.
    static let carrier: Int32 = 0xF7E5

    /// The limit that counts.
    private(set) var max: UInt32
    /// SETTINGS of this side that the client has not acknowledged.
    private(set) var unacknowledged = 0
    /// Those of them that wait to be sent, in which the identifier is to be put right.
    private var unsent = 0

    private static let headBytes = 9
    private static let entryBytes = 6

    init(max: UInt32) {
        self.max = max
    }

    /// Whether the client has acknowledged the limit: one that passes it all the same means it.
    var isKnown: Bool { self.unacknowledged == 0 }

    /// Whether the output has to be scanned for the limit.
    var isUnsent: Bool { self.unsent > 0 }

    /// Notes SETTINGS that were handed to nghttp2.
    mutating func submit(max: UInt32) {
        self.max = max
        self.unacknowledged += 1
        self.unsent += 1
    }

    mutating func acknowledge() {
        self.unacknowledged = Swift.max(0, self.unacknowledged - 1)
    }

    /// Puts the identifier in place if the frame that begins at `start`, the last of the bytes, is one of SETTINGS.
    mutating func announce(in bytes: inout [UInt8], from start: Int) {
        guard bytes.count >= start + Self.headBytes, bytes[start + 3] == FrameType.settings,
            bytes[start + 4] & FrameFlag.acknowledgement == 0
        else { return }
        let (high, low) = (UInt8(Self.carrier >> 8), UInt8(Self.carrier & 0xFF))
        for entry in stride(from: start + Self.headBytes, to: bytes.count, by: Self.entryBytes)
        where bytes[entry] == high && bytes[entry + 1] == low {
            bytes[entry] = 0
            bytes[entry + 1] = UInt8(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
            self.unsent -= 1
        }
    }
}

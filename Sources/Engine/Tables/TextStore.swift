import WidgetModel

/// Short runs of bytes, each under a number: the ids of instances and what they are configured with.
///
/// A run lies in as many whole words as it takes, and a place that is given back is used again by a run of as many. The few
/// that are longer lie apart.
struct TextStore: Sendable {
    /// The number of no bytes, which take no place.
    static let none = UInt32.max
    /// Longer runs lie apart.
    private static let byteCountMax = 256
    /// Numbers from here on are of runs that lie apart.
    private static let apart = UInt32(1) << 31

    private struct Apart: SideRow {
        var bytes: [UInt8] = []

        var isBlank: Bool { self.bytes.isEmpty }
    }

    private var words = RowChunks<UInt64>()
    /// The places that were given back, by how many words they have.
    private var free: [[UInt32]] = Array(repeating: [], count: Self.byteCountMax / 8 + 1)
    private var long = SideTable<Apart>()
    /// How many numbers are in use.
    private(set) var count = 0

    /// Nothing.
    init() {}

    /// Keeps bytes.
    ///
    /// - Returns: Their number; ``none`` if there are none.
    mutating func insert(_ bytes: Span<UInt8>) -> UInt32 {
        guard bytes.count > 0 else { return Self.none }
        self.count += 1
        guard bytes.count <= Self.byteCountMax else {
            return Self.apart | self.long.keep(Apart(bytes: Array(copying: bytes))).raw
        }
        let words = (bytes.count + 7) / 8
        let start = self.free[words].popLast() ?? UInt32(self.words.appendTogether(words))
        precondition(start < Self.apart, "ids and configurations of a partition take more than 16 gigabytes")
        self.words.replace(from: Int(start), with: bytes)
        return start
    }

    /// Lends the bytes of a number to `body`.
    ///
    /// - Parameters:
    ///   - number: The number, or ``none``.
    ///   - count: How many they are.
    ///   - body: Reads them.
    @inline(__always)
    func withBytes<Result>(_ number: UInt32, count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        if number == Self.none { return body(Span()) }
        guard number < Self.apart else {
            let bytes = self.long[Number(raw: number & ~Self.apart)].bytes
            return body(bytes.span)
        }
        return self.words.withBytes(from: Int(number), count: count, body)
    }

    /// Fetches bytes that are about to be read.
    @inline(__always)
    func prefetch(_ number: UInt32) {
        if number < Self.apart { self.words.prefetch(Int(number)) }
    }

    /// Gives a number back. Does nothing for ``none``.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - count: How many bytes it has.
    mutating func release(_ number: UInt32, count: Int) {
        guard number != Self.none else { return }
        self.count -= 1
        guard number < Self.apart else { return self.long.release(Number(raw: number & ~Self.apart)) }
        self.free[(count + 7) / 8].append(number)
    }
}

/// A text of up to fifteen bytes of UTF-8 in two words, so that texts are compared and hashed without a loop.
struct ShortText: BitwiseCopyable, Equatable {
    /// The most bytes.
    static let bytesMax = 15
    private static let countShift: UInt64 = 56

    /// The first eight bytes, the first one lowest; those beyond the end are 0.
    let low: UInt64
    /// The other bytes, and above them how many there are in all.
    private let high: UInt64

    /// How many bytes.
    @inline(__always)
    var count: Int { Int(self.high &>> Self.countShift) }

    /// The bytes from the eighth on.
    @inline(__always)
    var rest: UInt64 { self.high & (1 << Self.countShift - 1) }

    /// Nil for a longer text.
    @inline(__always)
    init?(_ string: String) { self.init(string.utf8.span) }

    /// Nil for a longer text.
    @inline(__always)
    init?(_ text: Span<UInt8>) {
        guard text.count <= Self.bytesMax else { return nil }
        self.low = text.word(at: 0)
        self.high = text.word(at: 8) | UInt64(text.count) << Self.countShift
    }
}

/// A text of up to fifteen bytes of UTF-8 in two words, which is how a `String` has it: to read it is to take two registers.
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

    /// Nil for a longer text, and for one that is kept as longer ones are.
    @inline(__always)
    init?(_ string: String) {
        guard Self.isRead, let text = Self(registersOf: string) else { return nil }
        self = text
    }

    /// As strings are since Swift 5: of the upper four bits one says that the text is short and one that it is elsewhere; the
    /// next four are its length. That the length is right is asked here, which costs nothing as long as it is.
    @inline(__always)
    private init?(registersOf string: String) {
        let (low, high) = string.registers
        let own = high & ~(0xF0 << Self.countShift)
        guard high & 0x30 << Self.countShift == 0x20 << Self.countShift else { return nil }
        guard string.utf8.count == Int(own &>> Self.countShift) else { return nil }
        self.low = low
        self.high = own
    }

    /// Whether strings are as is supposed here, which nobody promises: found out once by texts of each length. Where they are
    /// not, none is short, and all are read as longer ones are.
    private static let isRead: Bool = {
        let letters = Array("a~0\u{7F}bc\u{1}def{gh}z".utf8)
        return (0...Self.bytesMax).allSatisfy { count in
            let bytes = Array(letters[..<count])
            guard let text = Self(registersOf: String(decoding: bytes, as: UTF8.self)) else { return false }
            return text == Self(bytes.span)
        }
    }()

    /// Nil for a longer text.
    @inline(__always)
    init?(_ text: Span<UInt8>) {
        guard text.count <= Self.bytesMax else { return nil }
        self.low = text.word(at: 0)
        self.high = text.word(at: 8) | UInt64(text.count) << Self.countShift
    }
}

import Storage
import WidgetModel

/// A value that is no long text as three words, by which it is found: equal values are equal words.
struct ValueKey: BitwiseCopyable {
    /// The kind of value, in the lowest three bits. For a text the whole number is eight times its length.
    let first: UInt64
    let second: UInt64
    let third: UInt64

    private init(_ tag: UInt64, _ word: UInt64) {
        (self.first, self.second, self.third) = (tag, word, 0)
    }

    /// The most bytes of a text that is no long one.
    static let textMax = 15

    /// Nil for a long text.
    @inline(__always)
    init?(_ text: Span<UInt8>) {
        guard text.count <= Self.textMax else { return nil }
        (self.first, self.second, self.third) = (UInt64(text.count) << 3, text.word(at: 0), text.word(at: 8))
    }

    init(_ bool: Bool) { self.init(1, bool ? 1 : 0) }

    init(_ number: ExactNumber) {
        switch number {
        case .int(let int): self.init(2, UInt64(bitPattern: int))
        case .unsigned(let unsigned): self.init(3, unsigned)
        case .double(let double): self.init(4, double.bitPattern)
        }
    }

    /// A range of numbers, as a value of its own.
    init(_ range: NumericRange) {
        let (lower, upper) = (range.lower.map { Self($0.number) }, range.upper.map { Self($0.number) })
        func code(_ bound: NumericRange.Bound?, _ key: Self?) -> UInt64 {
            guard let bound, let key else { return 0 }
            return key.first << 1 | (bound.isInclusive ? 1 : 0)
        }
        self.first = 5 | code(range.lower, lower) << 3 | code(range.upper, upper) << 7
        self.second = lower?.second ?? 0
        self.third = upper?.second ?? 0
    }

    /// Nil for a long text, and for values that equal no literal of a pattern over attributes.
    @inline(__always)
    init?(_ value: ParameterValue) {
        switch value {
        case .string(let string):
            self.init(string.utf8.span)
        case .int(let int): self.init(ExactNumber(int))
        case .double(let double):
            guard let number = ExactNumber(double) else { return nil }
            self.init(number)
        case .bool(let bool): self.init(bool)
        case .date, .array: return nil
        }
    }

    /// The words of any text: as above, and as many more as a longer one needs.
    @inline(never)
    static func words(_ text: Span<UInt8>) -> [UInt64] {
        var words = [UInt64(text.count) << 3, text.word(at: 0), text.word(at: 8)]
        var offset = 16
        while offset < text.count {
            words.append(text.word(at: offset))
            offset += 8
        }
        return words
    }
}

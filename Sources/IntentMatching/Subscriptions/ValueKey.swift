import WidgetModel

/// A value that is no long text as three words, by which it is found: equal values are equal words.
struct ValueKey: BitwiseCopyable {
    /// What it is: for a text eight times its length, and less than eight for any other value.
    let first: UInt64
    let second: UInt64
    let third: UInt64

    private init(_ tag: UInt64, _ word: UInt64) {
        (self.first, self.second, self.third) = (tag, word, 0)
    }

    @inline(__always)
    init(_ text: ShortText) {
        (self.first, self.second, self.third) = (UInt64(text.count) << 3, text.low, text.rest)
    }

    init(_ bool: Bool) { self.init(1, bool ? 1 : 0) }

    init(_ number: ExactNumber) {
        switch number {
        case .int(let int): self.init(2, UInt64(bitPattern: int))
        case .unsigned(let unsigned): self.init(3, unsigned)
        case .double(let double): self.init(4, double.bitPattern)
        }
    }

    /// Nil for a long text, and for what no literal of a pattern over attributes equals.
    @inline(__always)
    init?(_ value: ParameterValue) {
        switch value {
        case .string(let string):
            guard let text = ShortText(string) else { return nil }
            self.init(text)
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

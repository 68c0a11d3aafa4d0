import Storage
import WidgetModel

/// Values as words, and many of them at once.
extension ValueDictionary {
    // MARK: Words of values

    /// The words of a value that has no more than two; nil for a longer one, and for a number that is no value.
    @inline(__always)
    static func words(of value: ParameterValue) -> ValueWords? {
        switch value {
        case .string(let string): Self.words(of: string)
        case .int(let int): Self.words(.int, UInt64(bitPattern: int))
        case .bool(let bool): Self.words(.bool, bool ? 1 : 0)
        case .date(let date): Self.words(.date, UInt64(bitPattern: date.milliseconds))
        case .double(let double): ExactNumber(double).map { Self.word(of: $0) }.map { Self.words($0, $1) }
        case .array: nil
        }
    }

    @inline(__always)
    static func words(of string: String) -> ValueWords? {
        let text = string.utf8.span
        guard text.count <= ValueWords.textMax else { return nil }
        return ValueWords(first: Self.word(text, 0), second: text.word(at: Self.headBytes))
    }

    @inline(__always)
    private static func words(_ tag: Tag, _ payload: UInt64) -> ValueWords {
        ValueWords(first: Self.word(tag, payload, 0), second: Self.word(tag, payload, 1))
    }

    @inline(__always)
    static func wordCount(_ text: Span<UInt8>) -> Int {
        precondition(text.count < 1 << 24, "a value of more than 16 MiB")
        return (text.count + Self.headBytes + 7) / 8
    }

    /// A word of a text: the first is tag, length and four bytes, the others are eight bytes each.
    @inline(__always)
    static func word(_ text: Span<UInt8>, _ index: Int) -> UInt64 {
        guard index == 0 else { return text.word(at: 8 * index - Self.headBytes) }
        return UInt64(Tag.text.rawValue) | UInt64(text.count) << 8 | text.word(at: 0) << 32
    }

    /// A word of any other value, which has two.
    @inline(__always)
    static func word(_ tag: Tag, _ payload: UInt64, _ index: Int) -> UInt64 {
        index == 0 ? UInt64(tag.rawValue) | 8 << 8 | payload << 32 : payload >> 32
    }

    // MARK: Looking ahead

    /// The first code that may be of a value with a hash.
    private func candidate(_ hash: UInt64) -> UInt32? { self.slots.find(hash) { _ in true } }

    func prefetch(_ code: UInt32) { self.entries.prefetch(Int(code)) }

    func prefetchValue(_ code: UInt32) {
        guard code != 0 else { return }
        self.store.elements.prefetch(Int(self.start(code)))
    }

    // MARK: Many values

    /// The key with which looking a value up begins.
    @inline(__always)
    static func key(of value: ParameterValue, seed: UInt64) -> SoughtValue {
        if let words = Self.words(of: value) { return SoughtValue(words, seed: seed) }
        guard case .string(let string) = value else { return SoughtValue(hash: 0) }
        return SoughtValue(hash: Self.hash(ofLong: string, seed: seed))
    }

    @inline(never)
    private static func hash(ofLong string: String, seed: UInt64) -> UInt64 {
        let text = string.utf8.span
        return Self.hash(seed, Self.wordCount(text)) { Self.word(text, $0) }
    }

    /// Fetches the memory that the look-ups of some values will read.
    func prefetch(_ keys: Span<SoughtValue>) {
        for index in keys.indices { self.slots.prefetch(keys[index].hash) }
        for index in keys.indices { if let code = self.candidate(keys[index].hash) { self.prefetch(code) } }
        for index in keys.indices { if let code = self.candidate(keys[index].hash) { self.prefetchValue(code) } }
    }

    /// The codes of values, new if they have none yet, and one use of each; as far as they have keys.
    ///
    /// - Returns: The first whose key does not say all, which is still to be used, or how many they are.
    mutating func internCodes(of keys: Span<SoughtValue>, from start: Int, into codes: inout MutableSpan<UInt32>) -> Int
    {
        var index = start
        while index < keys.count, keys[index].isKey {
            codes[index] = self.internCode(of: keys[index])
            index += 1
        }
        return index
    }
}

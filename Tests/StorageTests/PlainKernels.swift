import Storage

/// The loops of ``Kernels`` in Swift: what they mean, and what the variants in C are held to.
enum PlainKernels {
    /// A word of bits for each 64 codes: whether a code equals one.
    static func equal(_ codes: [UInt32], _ code: UInt32) -> [UInt64] {
        self.words(codes) { $0 == code }
    }

    /// A word of bits for each 64 codes: whether a code's entry is 1.
    static func table(_ codes: [UInt32], _ table: [UInt8]) -> [UInt64] {
        self.words(codes) { table[Int($0)] == 1 }
    }

    private static func words(_ codes: [UInt32], _ passes: (UInt32) -> Bool) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: (codes.count + 63) / 64)
        for (index, code) in codes.enumerated() where passes(code) { words[index / 64] |= 1 << UInt64(index % 64) }
        return words
    }

    /// `base` + i for each set bit i.
    static func decode(_ words: [UInt64], base: UInt32) -> [UInt32] {
        var numbers: [UInt32] = []
        for index in words.indices {
            for bit in 0..<64 where words[index] >> UInt64(bit) & 1 == 1 {
                numbers.append(base + UInt32(index * 64 + bit))
            }
        }
        return numbers
    }

    /// The rows whose code is one of `wanted`.
    static func keep(_ rows: [UInt32], _ codes: [UInt32], _ wanted: [UInt32]) -> [UInt32] {
        rows.filter { wanted.contains(codes[Int($0)]) }
    }

    /// The rows whose code's entry is 1.
    static func pick(_ rows: [UInt32], _ codes: [UInt32], _ table: [UInt8]) -> [UInt32] {
        rows.filter { table[Int(codes[Int($0)])] == 1 }
    }

    /// Each number + `difference`, modulo 2^32.
    static func add(_ numbers: [UInt32], _ difference: UInt32) -> [UInt32] {
        numbers.map { $0 &+ difference }
    }

    /// `base` + each of the lower halves.
    static func widen(_ lows: [UInt16], base: UInt32) -> [UInt32] {
        lows.map { base + UInt32($0) }
    }
}

extension Kernels {
    // The loops in C on arrays, as those above have them.

    static func equal(_ codes: [UInt32], _ code: UInt32, width: Int) -> [UInt64] {
        let narrow = width == 1 ? codes.map { UInt8($0) } : []
        let medium = width == 2 ? codes.map { UInt16($0) } : []
        return self.words(codes.count) { words in
            switch width {
            case 1: Self.equal(narrow.span, code, &words)
            case 2: Self.equal(medium.span, code, &words)
            default: Self.equal(codes.span, code, &words)
            }
        }
    }

    static func table(_ codes: [UInt32], _ table: [UInt8], width: Int) -> [UInt64] {
        let narrow = width == 1 ? codes.map { UInt8($0) } : []
        let medium = width == 2 ? codes.map { UInt16($0) } : []
        return self.words(codes.count) { words in
            if width == 1 {
                Self.table(narrow.span, table.span, &words)
            } else {
                Self.table(medium.span, table.span, &words)
            }
        }
    }

    private static func words(_ bits: Int, _ body: (inout MutableSpan<UInt64>) -> Void) -> [UInt64] {
        var words = [UInt64](repeating: .max, count: (bits + 63) / 64)
        var span = words.mutableSpan
        body(&span)
        return words
    }

    static func keep(_ rows: [UInt32], _ codes: [UInt32], _ wanted: [UInt32], width: Int) -> [UInt32] {
        let narrow = width == 1 ? codes.map { UInt8($0) } : []
        let medium = width == 2 ? codes.map { UInt16($0) } : []
        return self.some(of: rows) { kept in
            switch width {
            case 1: Self.keep(rows.span, narrow.span, wanted.span, into: &kept)
            case 2: Self.keep(rows.span, medium.span, wanted.span, into: &kept)
            default: Self.keep(rows.span, codes.span, wanted.span, into: &kept)
            }
        }
    }

    static func pick(_ rows: [UInt32], _ codes: [UInt32], _ table: [UInt8], width: Int) -> [UInt32] {
        let narrow = width == 1 ? codes.map { UInt8($0) } : []
        let medium = width == 2 ? codes.map { UInt16($0) } : []
        return self.some(of: rows) { kept in
            if width == 1 {
                Self.pick(rows.span, narrow.span, table.span, into: &kept)
            } else {
                Self.pick(rows.span, medium.span, table.span, into: &kept)
            }
        }
    }

    private static func some(of rows: [UInt32], _ body: (inout MutableSpan<UInt32>) -> Int) -> [UInt32] {
        var kept = [UInt32](repeating: 0, count: rows.count)
        var span = kept.mutableSpan
        let count = body(&span)
        return Array(kept.prefix(count))
    }

    static func decode(_ words: [UInt64], base: UInt32) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: words.count * 64 + 16)
        var target = numbers.mutableSpan
        let count = Self.decode(words.span, base: base, into: &target)
        return Array(numbers.prefix(count))
    }

    static func add(_ numbers: [UInt32], _ difference: UInt32) -> [UInt32] {
        var sums = [UInt32](repeating: 0, count: numbers.count)
        var target = sums.mutableSpan
        Self.add(numbers.span, difference, into: &target, at: 0)
        return sums
    }

    static func widen(_ lows: [UInt16], base: UInt32) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: lows.count)
        var target = numbers.mutableSpan
        Self.widen(lows.span, base: base, into: &target)
        return numbers
    }
}

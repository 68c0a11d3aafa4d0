/// The loops of ``Kernels`` in Swift: what they mean, and what a test holds the C variants to.
package enum PortableKernels {
    /// A word of bits for each 64 codes: whether a code equals one.
    package static func equal(_ codes: [UInt32], _ code: UInt32) -> [UInt64] {
        self.words(codes) { $0 == code }
    }

    /// A word of bits for each 64 codes: whether a code's entry is 1.
    package static func table(_ codes: [UInt32], _ table: [UInt8]) -> [UInt64] {
        self.words(codes) { table[Int($0)] == 1 }
    }

    private static func words(_ codes: [UInt32], _ passes: (UInt32) -> Bool) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: (codes.count + 63) / 64)
        for (index, code) in codes.enumerated() where passes(code) { words.mark(index, true) }
        return words
    }

    /// `base` + i for each set bit i.
    package static func decode(_ words: [UInt64], base: UInt32) -> [UInt32] {
        var numbers: [UInt32] = []
        for index in words.indices {
            var word = words[index]
            while word != 0 {
                numbers.append(base + UInt32(index * 64 + word.trailingZeroBitCount))
                word &= word - 1
            }
        }
        return numbers
    }

    /// `base` + each of the lower halves.
    package static func widen(_ lows: [UInt16], base: UInt32) -> [UInt32] {
        lows.map { base + UInt32($0) }
    }
}

/// The same loops in C behind the same signatures, for the test that compares them.
package enum NativeKernels {
    package static func equal(_ codes: [UInt32], _ code: UInt32, width: Int) -> [UInt64] {
        let narrow = width == 1 ? codes.map { UInt8($0) } : []
        let medium = width == 2 ? codes.map { UInt16($0) } : []
        return self.words(codes.count) { words in
            switch width {
            case 1: Kernels.equal(narrow.span, code, &words)
            case 2: Kernels.equal(medium.span, code, &words)
            default: Kernels.equal(codes.span, code, &words)
            }
        }
    }

    package static func table(_ codes: [UInt32], _ table: [UInt8], width: Int) -> [UInt64] {
        let narrow = width == 1 ? codes.map { UInt8($0) } : []
        let medium = width == 2 ? codes.map { UInt16($0) } : []
        return self.words(codes.count) { words in
            if width == 1 {
                Kernels.table(narrow.span, table.span, &words)
            } else {
                Kernels.table(medium.span, table.span, &words)
            }
        }
    }

    private static func words(_ bits: Int, _ body: (inout MutableSpan<UInt64>) -> Void) -> [UInt64] {
        var words = Column<UInt64>(repeating: .max, count: (bits + 63) / 64)
        words.withMutableSpan(body)
        return (0..<words.count).map { words[$0] }
    }

    package static func decode(_ words: [UInt64], base: UInt32) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: words.count * 64 + 16)
        var target = numbers.mutableSpan
        let count = Kernels.decode(words.span, base: base, into: &target)
        return Array(numbers.prefix(count))
    }

    package static func widen(_ lows: [UInt16], base: UInt32) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: lows.count)
        var target = numbers.mutableSpan
        Kernels.widen(lows.span, base: base, into: &target)
        return numbers
    }
}

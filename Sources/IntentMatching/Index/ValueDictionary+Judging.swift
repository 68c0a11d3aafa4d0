import Storage

/// Which values satisfy a condition.
extension ValueDictionary {
    /// Bytes of a text that are looked at for one step, about.
    private static let stepBytes = 64

    /// Sets the entries of the codes to 1 whose values satisfy one of some atoms, while there is work left.
    ///
    /// - Parameters:
    ///   - atoms: The atoms.
    ///   - steps: The steps of looking at a short value.
    ///   - codes: The codes.
    ///   - table: The entries, all 0 but those that pass in any case.
    ///   - work: The work that may still be done, in steps; afterwards, the rest of it.
    /// - Returns: The first code that was left out.
    func mark(
        _ atoms: [MatchAtom],
        steps: Int,
        _ codes: Range<Int>,
        in table: inout [UInt8],
        _ work: inout Int
    ) -> Int {
        let prefixes = atoms.compactMap { if case .prefix(let text) = $0 { text } else { nil } }
        if prefixes.count == atoms.count {
            self.mark(prefixes: prefixes, codes, in: &table)
            work -= steps * codes.count
            return codes.upperBound
        }
        for code in codes {
            guard work > 0 else { return code }
            work -= steps * (1 + self.length(UInt32(code)) / Self.stepBytes)
            if code > 0, self.satisfies(UInt32(code), atoms) { table[code] = 1 }
        }
        return codes.upperBound
    }

    /// The same for prefixes alone: a few nanoseconds for each value.
    private func mark(prefixes: [UTF8Text], _ codes: Range<Int>, in table: inout [UInt8]) {
        for prefix in prefixes {
            let bytes = prefix.bytes.span
            let count = Self.wordCount(bytes)
            // The tag and as many bytes as the prefix has, without the length.
            var wanted = (0..<count).map { Self.word(bytes, $0) }
            var masks = [UInt64](repeating: .max, count: count)
            let last = bytes.count + Self.headBytes - 8 * (count - 1)
            masks[count - 1] = last == 8 ? .max : 1 << UInt64(8 * last) - 1
            masks[0] &= ~(0xFF_FFFF << 8)
            wanted[0] &= masks[0]
            let words = self.store.elements.span
            for code in max(1, codes.lowerBound)..<max(1, codes.upperBound) {
                let start = UInt32(truncatingIfNeeded: self.entries[code])
                guard start != Self.unused else { continue }
                let head = words[Int(start)]
                guard head & masks[0] == wanted[0], Int(head >> 8 & 0xFF_FFFF) >= bytes.count else { continue }
                var index = 1
                while index < count, words[Int(start) + index] & masks[index] == wanted[index] { index += 1 }
                if index == count { table[code] = 1 }
            }
        }
    }
}

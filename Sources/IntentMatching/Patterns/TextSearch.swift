/// Looks for texts in one text, in time that is linear in the text's length for any texts.
///
/// Each place is tried, which is the fastest for texts that people write. Hostile texts, as `aaaab` in `aaaaaaaa`, make most tries long and
/// vain. They use up the limit of all tries; from then on, a table says how many of the compared bytes still match.
///
/// Source of the table: Knuth, Morris, Pratt, "Fast Pattern Matching in Strings" (SIAM Journal on Computing, 1977).
struct TextSearch {
    /// Bytes that may still be compared in vain; below zero once the table is used.
    private(set) var patience: Int

    /// - Parameter count: The length of the text that is searched.
    init(of count: Int) {
        self.patience = 2 * count
    }

    /// The first place in a range of a text at which `bytes` stand and end within it. O(range + bytes).
    mutating func first(_ bytes: [UInt8], in text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        let sought = bytes.span
        let last = range.upperBound - sought.count
        var place = range.lowerBound
        while place <= last {
            var count = 0
            while count < sought.count, text[place &+ count] == sought[count] { count &+= 1 }
            if count == sought.count { return place }
            self.patience -= count
            place += 1
            guard self.patience >= 0 else {
                return Self.firstByTable(sought, in: text.extracting(place..<range.upperBound)).map { place + $0 }
            }
        }
        return nil
    }

    private static func firstByTable(_ sought: Span<UInt8>, in text: Span<UInt8>) -> Int? {
        guard sought.count <= text.count else { return nil }
        // For each length of a beginning of the sought text: how many of its last bytes equal its first ones.
        var table = [UInt32](repeating: 0, count: sought.count + 1)
        var borders = table.mutableSpan
        var border = 0
        for index in 1..<sought.count {
            while border > 0, sought[border] != sought[index] { border = Int(borders[border]) }
            if sought[border] == sought[index] { border &+= 1 }
            borders[index + 1] = UInt32(border)
        }
        var count = 0
        for place in text.indices {
            let byte = text[place]
            while count > 0, sought[count] != byte { count = Int(borders[count]) }
            if sought[count] == byte { count &+= 1 }
            if count == sought.count { return place + 1 - count }
        }
        return nil
    }
}

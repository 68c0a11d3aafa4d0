extension String {
    /// The text in quotes, cut short and on one line, for a message.
    var quotedForMessage: String {
        let shown = self.unicodeScalars.prefix(60).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }
        return "\"\(shown.joined())\(self.unicodeScalars.count > 60 ? "…" : "")\""
    }

    /// How many letters one has to insert, drop, replace or swap with their neighbours to get `other`.
    ///
    /// The restricted Damerau-Levenshtein distance (optimal string alignment). O(length of both).
    func editDistance(to other: String) -> Int {
        let left = Array(self.lowercased().unicodeScalars)
        let right = Array(other.lowercased().unicodeScalars)
        guard !left.isEmpty, !right.isEmpty else { return Swift.max(left.count, right.count) }
        var rows = [Array(0...right.count)]
        for i in 1...left.count {
            var row = [i]
            for j in 1...right.count {
                let cost = left[i - 1] == right[j - 1] ? 0 : 1
                var best = Swift.min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost)
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    best = Swift.min(best, rows[i - 2][j - 2] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}

extension [String] {
    /// The one that `text` is a slip of the pen for, or nil if none is near enough. The first of equals.
    package func closest(to text: String) -> String? {
        let near = self.map { (name: $0, distance: text.editDistance(to: $0)) }
            .min { $0.distance < $1.distance }
        guard let near, near.distance <= Swift.max(1, Swift.max(near.name.count, text.count) / 3) else { return nil }
        return near.name
    }

    /// `a, b and c`.
    func phrase(joinedBy word: String) -> String {
        guard self.count > 1, let last = self.last else { return self.first ?? "nothing" }
        return "\(self.dropLast().joined(separator: ", ")) \(word) \(last)"
    }
}

extension Int {
    /// The digits in groups of three.
    var grouped: String {
        let digits = Array(String(self.magnitude))
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }
}

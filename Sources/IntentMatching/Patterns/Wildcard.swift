import Storage

/// A text with stars; each star matches any bytes, also none.
package struct Wildcard: Hashable, Sendable {
    /// The parts between the stars, one more than there are stars.
    package let segments: [UTF8Text]

    /// Precondition: at least one segment.
    package init(segments: [UTF8Text]) {
        precondition(!segments.isEmpty)
        self.segments = segments
    }

    /// Splits at stars; `\*` is a star and `\\` a backslash. Nil if a backslash stands before anything else.
    package init?(_ text: String) {
        var segments: [UTF8Text] = []
        var segment: [UInt8] = []
        var isEscaped = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\") where !isEscaped: isEscaped = true
            case UInt8(ascii: "*") where !isEscaped:
                segments.append(UTF8Text(bytes: segment))
                segment = []
            case UInt8(ascii: "\\"), UInt8(ascii: "*"):
                segment.append(byte)
                isEscaped = false
            default:
                guard !isEscaped else { return nil }
                segment.append(byte)
            }
        }
        guard !isEscaped else { return nil }
        segments.append(UTF8Text(bytes: segment))
        self.segments = segments
    }

    package var starCount: Int { self.segments.count - 1 }

    /// Whether the whole of `text` matches. O(text + segments): the earliest place of each segment is always right.
    func matches(_ text: Span<UInt8>) -> Bool {
        let first = self.segments[0].bytes
        guard self.segments.count > 1 else { return text.equals(first.span) }
        let last = self.segments[self.segments.count - 1].bytes
        guard text.count >= first.count + last.count, text.starts(with: first, at: 0) else { return false }
        let end = text.count - last.count
        guard text.starts(with: last, at: end) else { return false }
        var search = TextSearch(of: text.count)
        var place = first.count
        for index in 1..<self.segments.count - 1 {
            let bytes = self.segments[index].bytes
            guard let found = search.first(bytes, in: text, place..<end) else { return false }
            place = found + bytes.count
        }
        return true
    }
}

extension Span<UInt8> {
    /// Whether `bytes` stand at `place`. Precondition: they would fit.
    func starts(with bytes: [UInt8], at place: Int) -> Bool {
        for index in bytes.indices where self[place + index] != bytes[index] { return false }
        return true
    }
}

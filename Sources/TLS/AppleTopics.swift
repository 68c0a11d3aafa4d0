/// The list of topics in a push certificate (extension 1.2.840.113635.100.6.3.6).
///
/// A DER sequence of pairs: the topic as UTF8String, and a sequence with one UTF8String that names the topic's kind,
/// such as `app`, `voip` or `complication`. The shape is that of certificates that Apple issues; Apple documents the
/// extension's number and meaning only.
package enum AppleTopics {
    private static let sequenceTag: UInt8 = 0x30
    private static let stringTag: UInt8 = 0x0C

    /// The topics in the certificate's order; nil if the bytes have another shape.
    package static func topics(inExtension bytes: [UInt8]) -> [String]? {
        guard let whole = Self.element(bytes, 0..<bytes.count), whole.tag == Self.sequenceTag,
            whole.value.upperBound == bytes.count
        else { return nil }
        var topics: [String] = []
        var rest = whole.value
        while !rest.isEmpty {
            guard let element = Self.element(bytes, rest) else { return nil }
            rest = element.value.upperBound..<rest.upperBound
            switch element.tag {
            case Self.stringTag:
                guard let topic = String(validating: bytes[element.value], as: UTF8.self) else { return nil }
                topics.append(topic)
            case Self.sequenceTag: continue
            default: return nil
            }
        }
        return topics
    }

    /// The extension for a list of topics.
    package static func extensionBytes(_ topics: [String]) -> [UInt8] {
        var pairs: [UInt8] = []
        for topic in topics {
            pairs += Self.encoded(Self.stringTag, Array(topic.utf8))
            pairs += Self.encoded(Self.sequenceTag, Self.encoded(Self.stringTag, Array(Self.kind(of: topic).utf8)))
        }
        return Self.encoded(Self.sequenceTag, pairs)
    }

    /// Apple's word for the kind of a topic: its last part where that is one of the suffixes, else `app`.
    private static func kind(of topic: String) -> String {
        let suffix = topic.split(separator: ".").last.map(String.init) ?? ""
        return ["voip", "complication"].contains(suffix) ? suffix : "app"
    }

    private static func encoded(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        let count = value.count
        if count < 0x80 { return [tag, UInt8(count)] + value }
        let digits = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }
            .drop { $0 == 0 }
        return [tag, 0x80 | UInt8(digits.count)] + digits + value
    }

    /// The element at the start of `range`, whose value lies within it.
    private static func element(_ bytes: [UInt8], _ range: Range<Int>) -> (tag: UInt8, value: Range<Int>)? {
        guard range.count >= 2 else { return nil }
        var start = range.lowerBound + 2
        var count = Int(bytes[range.lowerBound + 1])
        if count >= 0x80 {
            let digits = count & 0x7F
            guard (1...4).contains(digits), digits <= range.upperBound - start else { return nil }
            count = bytes[start..<(start + digits)].reduce(0) { $0 << 8 | Int($1) }
            start += digits
        }
        guard count <= range.upperBound - start else { return nil }
        return (bytes[range.lowerBound], start..<(start + count))
    }
}

/// The first bytes of a client, kept for the case that they are no HTTP/2.
struct Opening {
    static let prefaceLength = 24
    private static let keptMax = 256

    private var bytes: [UInt8] = []
    private var length = 0

    mutating func keepFirst(_ span: Span<UInt8>) {
        self.length += span.count
        for index in 0..<min(span.count, Self.keptMax - self.bytes.count) {
            self.bytes.append(span[index])
        }
    }

    /// True once the preface has been read whole and taken.
    var isOver: Bool { self.length >= Self.prefaceLength }

    /// The method and target of an HTTP/1.x request line, if the bytes begin with one; printable ASCII only.
    var requestLine: String? {
        let line = self.bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "))
        guard words.count >= 2, words[0].allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else {
            return nil
        }
        guard words[1].first == UInt8(ascii: "/") || words[1].first == UInt8(ascii: "*") else { return nil }
        let printable = (words[0] + [UInt8(ascii: " ")] + words[1]).map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }
        return String(decoding: printable, as: UTF8.self)
    }
}

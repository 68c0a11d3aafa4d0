import HTTP2

/// A request that is sent many times with little changed: its fields are laid out once, and values of fixed length are
/// replaced in place.
struct RequestTemplate: Sendable {
    let method: String
    private(set) var fields = ResponseFields()
    var body: [UInt8]
    private var path: [UInt8]
    /// Where the part of the path lies that changes.
    private let hole: Range<Int>
    private let idIndex: Int?

    /// - Parameters:
    ///   - path: The path with a `{}` where each request has text of its own.
    ///   - holeLength: How long that text is.
    ///   - headers: Names in lower case and values. `authorization` may go into HPACK's table: there is one for a whole run.
    ///   - hasID: Whether each request brings an `apns-id` of its own.
    init(
        method: String,
        authority: String,
        path: String,
        holeLength: Int = 0,
        headers: [(name: String, value: String)],
        hasID: Bool = false,
        body: [UInt8] = []
    ) {
        self.method = method
        self.body = body
        let parts = path.split(separator: "{}", maxSplits: 1, omittingEmptySubsequences: false)
        var bytes = Array(parts[0].utf8)
        let start = bytes.count
        if parts.count == 2 {
            bytes += Array(repeating: UInt8(ascii: "0"), count: holeLength) + Array(parts[1].utf8)
        }
        self.hole = start..<(parts.count == 2 ? start + holeLength : start)
        self.path = bytes
        self.fields.append(name: ":scheme", value: "https" as StaticString)
        self.fields.append(name: ":authority", value: authority)
        self.fields.append(name: ":path", value: bytes.span, indexed: parts.count == 1)
        for header in headers { self.fields.append(name: header.name, value: header.value) }
        self.idIndex = hasID ? self.fields.count : nil
        if hasID {
            self.fields.append(name: "apns-id", value: NumberedPushID.text(0, run: 0).span, indexed: false)
        }
    }

    private static let pathIndex = 2

    var hasID: Bool { self.idIndex != nil }

    /// Puts the text of one request into the path. Precondition: as long as the hole is.
    mutating func fillPath(_ text: Span<UInt8>) {
        precondition(text.count == self.hole.count, "a text is as long as the hole that it fills")
        for index in text.indices { self.path[self.hole.lowerBound + index] = text[index] }
        // This makes no copy of the bytes. A value must not be changed while its span is lent.
        let path = self.path
        self.fields.replaceValue(at: Self.pathIndex, path.span)
    }

    mutating func setID(_ text: Span<UInt8>) {
        guard let idIndex else { return }
        self.fields.replaceValue(at: idIndex, text)
    }
}

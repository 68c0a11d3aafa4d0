/// Reads the lines of one event stream, and finds in each event the members that the generator needs.
///
/// A small scanner for the gateway's own events, not a JSON parser: it looks for members by their names, and hosts and ids of
/// this generator have nothing in them that JSON would escape.
package struct EventStreamReader: Sendable {
    /// One event.
    package struct Notice: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case reload
            case entry
            /// `gap`, `relevance`, …
            case other
        }

        package var kind: Kind
        /// The reload's id, as it is acknowledged.
        package var reload: [UInt8] = []
        /// Of an entry: its date.
        package var date: [UInt8] = []
        /// The number in the host's id.
        package var host: Int?
        /// The number of the push that it came of.
        package var push: Int64?
        package var isRedelivered = false

        package init(kind: Kind) {
            self.kind = kind
        }
    }

    private let run: UInt64
    private var line: [UInt8] = []
    private var event: [UInt8] = []
    /// The id of the last event, to come back with.
    package private(set) var lastID: [UInt8] = []
    /// Whether anything has come.
    package private(set) var hasBegun = false

    /// - Parameter run: Which run's pushes are recognised.
    package init(run: UInt64) {
        self.run = run
    }

    /// Another stream begins where this one was cut off.
    package mutating func begin() {
        self.hasBegun = false
        self.line = []
        self.event = []
    }

    /// A line is never so long; a longer one is cut.
    package static let lineMax = 1_048_576

    /// Reads the bytes that have come and appends the events that are whole.
    package mutating func read(_ bytes: Span<UInt8>, into notices: inout [Notice]) {
        self.hasBegun = true
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                self.endLine(&notices)
                self.line.removeAll(keepingCapacity: true)
            } else if self.line.count < Self.lineMax {
                self.line.append(byte)
            }
        }
    }

    private static let data = Array("data: ".utf8)
    private static let event = Array("event: ".utf8)
    private static let id = Array("id: ".utf8)

    private mutating func endLine(_ notices: inout [Notice]) {
        if self.line.isEmpty {
            self.event.removeAll(keepingCapacity: true)
        } else if self.line.starts(with: Self.event) {
            self.event = Array(self.line.dropFirst(Self.event.count))
        } else if self.line.starts(with: Self.id) {
            self.lastID = Array(self.line.dropFirst(Self.id.count))
        } else if self.line.starts(with: Self.data) {
            notices.append(self.notice())
        }
    }

    private func notice() -> Notice {
        let line = self.line.span
        let kind: Notice.Kind =
            self.event.elementsEqual("reload".utf8) ? .reload : self.event.elementsEqual("entry".utf8) ? .entry : .other
        guard kind != .other else { return Notice(kind: .other) }
        var notice = Notice(kind: kind)
        notice.reload = Self.member(kind == .reload ? "\"id\":\"" : "\"reload\":\"", in: line) ?? []
        if kind == .entry { notice.date = Self.member("\"date\":\"", in: line) ?? [] }
        if let host = Self.member("\"host\":\"", in: line), host.starts(with: LoadScene.hostPrefix) {
            notice.host = Int(String(decoding: host.dropFirst(LoadScene.hostPrefix.count), as: UTF8.self))
        }
        if let push = Self.member("\"push\":\"", in: line) {
            notice.push = NumberedPushID.number(in: push.span, run: self.run)
        }
        notice.isRedelivered = Self.place(of: "\"redelivered\":true", in: line) != nil
        return notice
    }

    /// The text behind a name up to the next quote.
    static func member(_ name: String, in line: Span<UInt8>) -> [UInt8]? {
        guard let start = self.place(of: name, in: line) else { return nil }
        var value: [UInt8] = []
        for index in start..<line.count {
            if line[index] == UInt8(ascii: "\"") { return value }
            value.append(line[index])
        }
        return nil
    }

    /// Where a text ends for the first time.
    private static func place(of text: String, in line: Span<UInt8>) -> Int? {
        let wanted = Array(text.utf8)
        guard line.count >= wanted.count else { return nil }
        for start in 0...(line.count - wanted.count) where line[start] == wanted[0] {
            var index = 1
            while index < wanted.count, line[start + index] == wanted[index] { index += 1 }
            if index == wanted.count { return start + wanted.count }
        }
        return nil
    }

    /// The whole number behind a name.
    static func number(_ name: String, in line: Span<UInt8>) -> Int? {
        guard var index = self.place(of: name, in: line) else { return nil }
        var value: Int?
        while index < line.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(line[index]), (value ?? 0) < 1 << 50
        {
            value = (value ?? 0) * 10 + Int(line[index] - UInt8(ascii: "0"))
            index += 1
        }
        return value
    }
}

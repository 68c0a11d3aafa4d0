import Foundation

/// An event of a stream of Server-Sent Events.
struct ServerSentEvent: Sendable, Hashable {
    /// Its name; "" for none.
    var name: String
    var data: Data
}

/// Reads Server-Sent Events from arriving bytes. Lines end with LF or CRLF.
struct EventParser: Sendable {
    /// The position in the stream, for a later resume; "" at its beginning.
    private(set) var place = ""
    /// The wait before the stream is opened again; nil until the stream sets it.
    private(set) var retry: Duration?

    private let bytesMax: Int
    private var line = Data()
    private var event = ServerSentEvent(name: "", data: Data())

    /// - Parameter bytesMax: The longest event, and the longest line.
    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// Prepares for a stream that is opened again: forgets an incomplete event.
    mutating func restart() {
        self.line = Data()
        self.event = ServerSentEvent(name: "", data: Data())
    }

    /// The events that this part of the stream completes.
    ///
    /// - Throws: ``FreshetError/unexpectedAnswer(_:)`` if an event is longer than the limit.
    mutating func read(_ part: Data) throws(FreshetError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        var rest = part[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try self.append(rest[..<end], to: \.line)
            if self.line.last == UInt8(ascii: "\r") { self.line.removeLast() }
            if let event = try self.endLine() { events.append(event) }
            self.line.removeAll(keepingCapacity: true)
            rest = rest[rest.index(after: end)...]
        }
        try self.append(rest, to: \.line)
        return events
    }

    private mutating func append(_ bytes: Data, to field: WritableKeyPath<Self, Data>) throws(FreshetError) {
        guard bytes.count <= self.bytesMax - self[keyPath: field].count else {
            throw .unexpectedAnswer("an event of more than \(self.bytesMax) bytes")
        }
        self[keyPath: field].append(bytes)
    }

    /// - Returns: The event that the line ends.
    private mutating func endLine() throws(FreshetError) -> ServerSentEvent? {
        guard !self.line.isEmpty else {
            defer { self.event = ServerSentEvent(name: "", data: Data()) }
            return self.event.data.isEmpty && self.event.name.isEmpty ? nil : self.event
        }
        let colon = self.line.firstIndex(of: UInt8(ascii: ":")) ?? self.line.endIndex
        var value = self.line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: self.line[..<colon], as: UTF8.self) {
        case "event": self.event.name = String(decoding: value, as: UTF8.self)
        case "data":
            if !self.event.data.isEmpty { try self.append(Data("\n".utf8), to: \.event.data) }
            try self.append(value, to: \.event.data)
        case "id": self.place = String(decoding: value, as: UTF8.self)
        case "retry":
            // The gateway never asks for a wait of more than some weeks.
            self.retry = UInt32(String(decoding: value, as: UTF8.self)).map { .milliseconds(Int64($0)) } ?? self.retry
        default: break
        }
        return nil
    }
}

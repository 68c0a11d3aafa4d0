import APNSWire
import Engine
import WidgetModel

/// The text of Server-Sent Events (WHATWG HTML, "Server-sent events").
enum EventText {
    /// Text is written in pieces of about this size.
    static let chunkBytes = 16_384
    static let gap = "event: gap\ndata: {\"advice\":\"read the state, then follow this stream\"}\n\n"

    /// How soon a reader should connect again.
    static func retry(_ milliseconds: Int) -> String { "retry: \(milliseconds)\n\n" }

    /// A place to resume from, without an event: readers take note of the id and dispatch nothing.
    static func place(_ cursor: StreamCursor) -> String { "id: \(cursor)\n\n" }

    static func heartbeat(_ cursor: StreamCursor) -> String { ": heartbeat\nid: \(cursor)\n\n" }

    /// - Parameters:
    ///   - cursor: The place behind the event; none for what is offered again, in whose middle nobody can resume.
    ///   - redelivered: Whether the reader has had it before.
    static func event(_ event: HostEvent, _ cursor: StreamCursor? = nil, redelivered: Bool = false) -> String {
        var text = cursor.map { "id: \($0)\n" } ?? ""
        switch event {
        case .reload(let reload):
            var value = Views.reload(reload)
            if redelivered, case .object(let members) = value {
                value = .object(members + [JSONValue.Member(name: "redelivered", value: .bool(true))])
            }
            text += "event: reload\ndata: \(String(decoding: value.jsonText, as: UTF8.self))\n\n"
        case .invalidation(let invalidation):
            let data = String(decoding: Views.invalidation(invalidation).jsonText, as: UTF8.self)
            text += "event: \(invalidation.subject)\ndata: \(data)\n\n"
        }
        return text
    }
}

import APNSWire
import Engine
import TimelineProviding
import WidgetModel

/// The text of Server-Sent Events (WHATWG HTML, "Server-sent events").
package enum EventText {
    /// Text is written in pieces of about this size.
    package static let chunkBytes = 16_384
    package static let gap = "event: gap\ndata: {\"advice\":\"read the state, then follow this stream\"}\n\n"

    /// How soon a reader should connect again.
    package static func retry(_ milliseconds: Int) -> String { "retry: \(milliseconds)\n\n" }

    /// A place to resume from, without an event: readers take note of the id and dispatch nothing.
    package static func place(_ cursor: some CustomStringConvertible) -> String { "id: \(cursor)\n\n" }

    package static func heartbeat(_ cursor: some CustomStringConvertible) -> String { ": heartbeat\nid: \(cursor)\n\n" }

    /// - Parameters:
    ///   - cursor: The place behind the event; nil for a reload that is offered again: no reader can resume among
    ///     those.
    ///   - redelivered: Whether the reader has had it before.
    package static func event(_ event: HostEvent, _ cursor: StreamCursor? = nil, redelivered: Bool = false) -> String {
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
        case .placeholder(let placeholder):
            text += "event: placeholder\ndata: \(Self.placeholder(placeholder))\n\n"
        case .entry(let due):
            text += "event: entry\ndata: \(Self.entry(due))\n\n"
        }
        return text
    }

    private static func placeholder(_ placeholder: Placeholder) -> String {
        let head = JSONValue.object(of: [
            ("reload", .string(placeholder.reload.description)),
            ("app", .string(placeholder.app.rawValue)),
            ("host", .string(placeholder.address.host.id.rawValue)),
            ("instance", .string(placeholder.address.instance.rawValue)),
            ("kind", .string(placeholder.kind.rawValue)),
            ("family", .string(placeholder.family.name)),
            ("content", placeholder.content),
        ])
        return String(decoding: head.jsonText, as: UTF8.self)
    }

    /// An entry as JSON. Its content is spliced in as it is kept: it need not be understood here.
    private static func entry(_ due: ContentTable.Due) -> String {
        let next = due.index + 1
        let head = JSONValue.object(of: [
            ("reload", .string(due.timeline.reload.description)),
            ("app", .string(due.timeline.app.rawValue)),
            ("host", .string(due.timeline.address.host.id.rawValue)),
            ("instance", .string(due.timeline.address.instance.rawValue)),
            ("kind", .string(due.timeline.kind.rawValue)),
            ("family", .string(due.timeline.family.name)),
            ("date", .instant(due.entry.date)),
            ("until", next < due.timeline.entries.count ? .instant(due.timeline.entries[next].date) : nil),
            ("relevance", due.entry.relevance.map { Views.relevance($0) }),
        ])
        return String(
            decoding: head.jsonText.dropLast() + Array(",\"content\":".utf8) + due.entry.content,
            as: UTF8.self
        )
            + "}"
    }
}

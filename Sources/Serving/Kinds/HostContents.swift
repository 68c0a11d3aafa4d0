package import TimelineProviding
package import WidgetModel

/// The content that widgets of a host show.
package struct HostContents: Hashable, Sendable {
    /// Of the widgets that have one, in the order of the question.
    package let timelines: [StoredTimeline]
    /// Of the widgets that are new and have no timeline yet.
    package let placeholders: [Placeholder]

    package init(timelines: [StoredTimeline] = [], placeholders: [Placeholder] = []) {
        (self.timelines, self.placeholders) = (timelines, placeholders)
    }

    /// The entries that are shown at an instant.
    package func shown(at now: Instant) -> [ContentTable.Due] {
        self.timelines.compactMap { timeline in
            timeline.index(at: now).map { ContentTable.Due(timeline: timeline, index: $0) }
        }
    }
}

extension HostContents: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(each: self.timelines) { $0.write($1.encoded) }
        self.placeholders.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        let timelines = try reader.readEach { (reader) throws(ByteFault) in
            try StoredTimeline(encoded: try reader.readBytes())
        }
        self.init(timelines: timelines, placeholders: try Array(from: &reader))
    }
}

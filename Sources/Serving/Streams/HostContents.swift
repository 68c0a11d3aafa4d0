package import TimelineProviding
package import WidgetModel

/// The content that a host's widgets show.
package struct HostContents: Hashable, Sendable {
    /// To be drawn at once: the placeholders of widgets that are new and have no timeline yet, then the present entries of the others.
    package let drawings: [HostEvent]
    /// The whole timelines, if they were asked for.
    package let timelines: [StoredTimeline]

    package init(drawings: [HostEvent] = [], timelines: [StoredTimeline] = []) {
        (self.drawings, self.timelines) = (drawings, timelines)
    }
}

extension HostContents: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(each: self.drawings.compactMap(\.drawingBytes)) { $0.write($1) }
        self.timelines.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let drawings = try reader.readEach { (reader) throws(ByteError) in
            try HostEvent(drawing: try reader.readBytes())
        }
        self.init(drawings: drawings, timelines: try Array(from: &reader))
    }
}

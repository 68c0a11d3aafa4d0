import Engine
import TimelineProviding
package import WidgetModel

/// Drawings, as nodes tell them to each other.
extension HostEvent {
    private static let placeholderTag: UInt8 = 1
    private static let entryTag: UInt8 = 2

    /// The bytes of a placeholder or an entry; nil for an event that other nodes learn from the log.
    package var drawingBytes: [UInt8]? {
        var writer = ByteWriter()
        switch self {
        case .reload, .invalidation: return nil
        case .placeholder(let placeholder):
            writer.write(tag: Self.placeholderTag, placeholder)
        case .entry(let due):
            writer.write(byte: Self.entryTag)
            due.withoutOthers.timeline.encode(into: &writer)
        }
        return writer.bytes
    }

    /// - Throws: If it is none of this program's.
    package init(drawing bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        switch try reader.readByte() {
        case Self.placeholderTag: self = .placeholder(try Placeholder(from: &reader))
        case Self.entryTag:
            let timeline = try StoredTimeline(from: &reader)
            guard !timeline.entries.isEmpty else { throw .invalid(offset: 0) }
            self = .entry(ContentTable.Due(timeline: timeline, index: 0))
        default: throw .invalid(offset: 0)
        }
    }
}

extension ContentTable.Due {
    /// The entry alone, with the date of the next one.
    fileprivate var withoutOthers: ContentTable.Due {
        let next = self.timeline.entries.dropFirst(self.index + 1).first
        let end = next.map { [StoredTimeline.Entry(date: $0.date, relevance: nil, content: [])] } ?? []
        let timeline = StoredTimeline(
            reload: self.timeline.reload,
            address: self.timeline.address,
            kind: self.timeline.kind,
            family: self.timeline.family,
            digest: [],
            entries: [self.entry] + end
        )
        return ContentTable.Due(timeline: timeline, index: 0)
    }
}

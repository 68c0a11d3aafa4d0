import APNSWire
import Engine
import TimelineProviding
package import WidgetModel

/// Drawings, as one node tells them to the others.
extension HostEvent {
    private static let placeholderTag: UInt8 = 1
    private static let entryTag: UInt8 = 2

    /// The bytes of a placeholder or an entry; nil for an event that other nodes learn from the log.
    package var drawingBytes: [UInt8]? {
        var writer = ByteWriter()
        switch self {
        case .reload, .invalidation: return nil
        case .placeholder(let placeholder):
            writer.write(byte: Self.placeholderTag)
            placeholder.reload.encode(into: &writer)
            placeholder.address.encode(into: &writer)
            writer.write(placeholder.kind.rawValue)
            writer.write(byte: placeholder.family.rawValue)
            writer.write(placeholder.content.jsonText)
        case .entry(let due):
            writer.write(byte: Self.entryTag)
            due.withoutOthers.timeline.encode(into: &writer)
        }
        return writer.bytes
    }

    /// - Throws: If it is none of this program's.
    package init(drawing bytes: [UInt8]) throws(ByteFault) {
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

extension Placeholder {
    fileprivate init(from reader: inout ByteReader) throws(ByteFault) {
        let reload = try ReloadID(from: &reader)
        let address = try InstanceAddress(from: &reader)
        let kind = WidgetKind(try reader.readString())
        let start = reader.offset
        guard let family = WidgetFamily(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
        let content = try reader.readBytes()
        guard let content = try? JSONReader().value(of: content, bytesMax: content.count) else {
            throw .invalid(offset: start)
        }
        self.init(reload: reload, address: address, kind: kind, family: family, content: content)
    }
}

package import Engine
package import Timelines
package import WidgetModel

/// A timeline with its content, as a provider gave it for one reload of an instance.
package struct StoredTimeline: ByteCoded, Hashable, Sendable {
    /// One entry and the content that the host draws for it.
    package struct Entry: Hashable, Sendable {
        package let date: Instant
        package let relevance: EntryRelevance?
        /// JSON, as compact as it can be; the gateway does not look into it.
        package let content: [UInt8]

        package init(date: Instant, relevance: EntryRelevance?, content: [UInt8]) {
            self.date = date
            self.relevance = relevance
            self.content = content
        }
    }

    package let reload: ReloadID
    package let address: InstanceAddress
    package let kind: WidgetKind
    package let family: WidgetFamily
    /// The state of the content; for the engine it is the timeline's digest.
    package let digest: [UInt8]
    /// Sorted by date; of two at one date the one that the provider listed later comes later, and is shown.
    package let entries: [Entry]

    package init(
        reload: ReloadID,
        address: InstanceAddress,
        kind: WidgetKind,
        family: WidgetFamily,
        digest: [UInt8],
        entries: [Entry]
    ) {
        self.reload = reload
        self.address = address
        self.kind = kind
        self.family = family
        self.digest = digest
        // The order of dates, and of the list among equals: indices make a sort stable that need not be.
        self.entries = entries.indices.sorted { left, right in
            entries[left].date != entries[right].date ? entries[left].date < entries[right].date : left < right
        }.map { entries[$0] }
    }

    package var app: BundleID { self.address.app }

    /// The index of the entry shown at an instant; nil before the first. O(log entries).
    package func index(at instant: Instant) -> Int? {
        var (low, high) = (0, self.entries.count)
        while low < high {
            let middle = (low + high) / 2
            if self.entries[middle].date <= instant { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }

    /// Its bytes in memory, about: the content, and a constant for each entry and for itself.
    package var bytes: Int {
        self.entries.reduce(Self.bytesOfItself) { $0 + Self.bytesOfEntry + $1.content.count }
    }

    private static let bytesOfItself = 400
    private static let bytesOfEntry = 72

    package func encode(into writer: inout ByteWriter) {
        writer.write(byte: Self.version)
        self.reload.encode(into: &writer)
        self.address.encode(into: &writer)
        writer.write(self.kind.rawValue)
        writer.write(byte: self.family.rawValue)
        writer.write(self.digest)
        writer.write(each: self.entries) { writer, entry in
            writer.write(entry.date)
            writer.write(entry.relevance) { writer, relevance in
                writer.write(fixed32: relevance.score.bitPattern)
                writer.write(relevance.duration)
            }
            writer.write(entry.content)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        guard try reader.readByte() == Self.version else { throw .invalid(offset: start) }
        self.reload = try ReloadID(from: &reader)
        self.address = try InstanceAddress(from: &reader)
        self.kind = WidgetKind(try reader.readString())
        let place = reader.offset
        guard let family = WidgetFamily(rawValue: try reader.readByte()) else { throw .invalid(offset: place) }
        self.family = family
        self.digest = try reader.readBytes()
        self.entries = try reader.readEach { (reader) throws(ByteError) in
            let date = try reader.readInstant()
            let relevance = try reader.readOptional { (reader) throws(ByteError) in
                EntryRelevance(
                    score: Float(bitPattern: try reader.readFixed32()),
                    duration: try reader.readInterval()
                )
            }
            return Entry(date: date, relevance: relevance, content: try reader.readBytes())
        }
    }

    private static let version: UInt8 = 2
}

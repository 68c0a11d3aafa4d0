package import WidgetModel

/// What whoever answers for a kind is to be asked for anew: never a reload, and nothing is charged for it.
package struct Invalidation: Hashable, Sendable {
    package let subject: InvalidationRequest.Subject
    package let app: BundleID
    package let kind: WidgetKind
    /// The host whose widgets of the kind it is about; nil for recommendations, which are the kind's.
    package let host: HostID?
    package let at: Instant

    package init(
        _ subject: InvalidationRequest.Subject,
        app: BundleID,
        kind: WidgetKind,
        host: HostID?,
        at: Instant
    ) {
        self.subject = subject
        self.app = app
        self.kind = kind
        self.host = host
        self.at = at
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(byte: self.subject.rawValue)
        writer.write(self.app.rawValue)
        writer.write(self.kind.rawValue)
        writer.write(self.host) { $0.write($1.rawValue) }
        writer.write(self.at)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        let start = reader.offset
        guard let subject = InvalidationRequest.Subject(rawValue: try reader.readByte()) else {
            throw .invalid(offset: start)
        }
        self.subject = subject
        self.app = BundleID(try reader.readString())
        self.kind = WidgetKind(try reader.readString())
        self.host = try reader.readOptional { (reader) throws(ByteFault) in HostID(try reader.readString()) }
        self.at = try reader.readInstant()
    }
}

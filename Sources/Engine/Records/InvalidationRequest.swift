package import WidgetModel

/// The app says that what the system knows of its widgets beside their timelines is out of date: WidgetKit's
/// `invalidateRelevance(ofKind:)` and `invalidateConfigurationRecommendations()`.
package struct InvalidationRequest: Hashable, Sendable {
    /// What is out of date. Raw values are part of the on-disk format.
    package enum Subject: UInt8, Hashable, Sendable, CaseIterable {
        /// When a widget is relevant, as its provider's `relevance()` tells.
        case relevance = 0
        /// The configurations that a gallery offers, as the provider's `recommendations()` tells.
        case recommendations = 1
    }

    package var app: BundleID
    package var subject: Subject
    /// Nil for every kind.
    package var kind: WidgetKind?
    /// Only this host's widgets; recommendations are of a kind, not of hosts.
    package var host: HostID?

    package init(_ subject: Subject, app: BundleID, kind: WidgetKind? = nil, host: HostID? = nil) {
        self.app = app
        self.subject = subject
        self.kind = kind
        self.host = host
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.app.rawValue)
        writer.write(byte: self.subject.rawValue)
        writer.write(self.kind) { $0.write($1.rawValue) }
        writer.write(self.host) { $0.write($1.rawValue) }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.app = BundleID(try reader.readString())
        let start = reader.offset
        guard let subject = Subject(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
        self.subject = subject
        self.kind = try reader.readOptional { (reader) throws(ByteFault) in WidgetKind(try reader.readString()) }
        self.host = try reader.readOptional { (reader) throws(ByteFault) in HostID(try reader.readString()) }
    }
}

package import Timelines
package import WidgetModel

/// A host reports the timeline that it made for an instance: `PUT /v1/hosts/<token>/widgets/<id>/timeline`.
package struct TimelineReport: ByteCoded, Hashable, Sendable {
    package var host: HostKey
    package var instance: InstanceID
    /// The reload that the timeline came from; reporting acknowledges it.
    package var reload: ReloadID?
    package var timeline: Timeline
    /// The size of the content of all entries, which is not in the log; nil if it is unknown.
    package var contentBytes: Int?

    package init(
        host: HostKey,
        instance: InstanceID,
        reload: ReloadID? = nil,
        timeline: Timeline,
        contentBytes: Int? = nil
    ) {
        self.host = host
        self.instance = instance
        self.reload = reload
        self.timeline = timeline
        self.contentBytes = contentBytes
    }

    /// Bits of the byte that says which fields follow. Part of the on-disk format.
    private static let (hasReload, hasContentBytes): (UInt8, UInt8) = (1, 2)

    package func encode(into writer: inout ByteWriter) {
        self.host.encode(into: &writer)
        writer.write(self.instance.rawValue)
        writer.write(
            byte: (self.reload == nil ? 0 : Self.hasReload) | (self.contentBytes == nil ? 0 : Self.hasContentBytes)
        )
        self.reload?.encode(into: &writer)
        if let contentBytes { writer.write(count: contentBytes) }
        self.timeline.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.host = try HostKey(from: &reader)
        self.instance = InstanceID(try reader.readString())
        let start = reader.offset
        let parts = try reader.readByte()
        guard parts & ~(Self.hasReload | Self.hasContentBytes) == 0 else { throw .invalid(offset: start) }
        self.reload = parts & Self.hasReload == 0 ? nil : try ReloadID(from: &reader)
        self.contentBytes = parts & Self.hasContentBytes == 0 ? nil : try Self.readSize(from: &reader)
        self.timeline = try Timeline(from: &reader)
    }

    private static func readSize(from reader: inout ByteReader) throws(ByteError) -> Int {
        let start = reader.offset
        guard let size = Int(exactly: try reader.readVarint()) else { throw .invalid(offset: start) }
        return size
    }
}

/// The result of a reload's delivery.
package struct DeliveryReport: ByteCoded, Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        /// The host has reloaded: the only evidence that counts.
        case acknowledged
        /// The host says that it did not and will not reload, and why.
        case refused(reason: String)
    }

    /// The host that reports, or that was reported about; a reload of another one is not known.
    package var host: HostKey
    package var reload: ReloadID
    package var result: Result

    package init(host: HostKey, reload: ReloadID, result: Result) {
        self.host = host
        self.reload = reload
        self.result = result
    }

    package func encode(into writer: inout ByteWriter) {
        self.host.encode(into: &writer)
        self.reload.encode(into: &writer)
        switch self.result {
        case .acknowledged: writer.write(byte: 0)
        case .refused(let reason): writer.write(tag: 1, reason)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.host = try HostKey(from: &reader)
        self.reload = try ReloadID(from: &reader)
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self.result = .acknowledged
        case 1: self.result = .refused(reason: try reader.readString())
        default: throw .invalid(offset: start)
        }
    }
}

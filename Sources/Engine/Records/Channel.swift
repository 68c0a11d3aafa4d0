package import WidgetModel

/// A broadcast channel of an app: a name for a match pattern, and for how long its messages may wait.
package struct Channel: Hashable, Sendable {
    /// `message-storage-policy`. Raw values are APNs' own and part of the on-disk format.
    package enum StoragePolicy: UInt8, Hashable, Sendable, CaseIterable {
        /// Now or never.
        case none = 0
        /// The most recent message may wait.
        case mostRecent = 1
    }

    /// The push type that the channel was created for. Raw values are part of the on-disk format.
    package enum PushType: UInt8, Hashable, Sendable, CaseIterable {
        case liveActivity = 0
        case widgets = 1
    }

    package var id: ChannelID
    package var storagePolicy: StoragePolicy
    package var pushType: PushType
    /// Whom its broadcasts reach: the JSON text of an object with `kind` and `match`, as in a push; nil for the
    /// instances that carry the channel's id as a tag. The engine does not read it.
    package var definition: [UInt8]?

    package init(id: ChannelID, storagePolicy: StoragePolicy, pushType: PushType, definition: [UInt8]? = nil) {
        self.id = id
        self.storagePolicy = storagePolicy
        self.pushType = pushType
        self.definition = definition
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.id.rawValue)
        writer.write(byte: self.storagePolicy.rawValue)
        writer.write(byte: self.pushType.rawValue)
        writer.write(self.definition) { $0.write($1) }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.id = ChannelID(try reader.readString())
        let start = reader.offset
        guard let storagePolicy = StoragePolicy(rawValue: try reader.readByte()),
            let pushType = PushType(rawValue: try reader.readByte())
        else { throw .invalid(offset: start) }
        self.storagePolicy = storagePolicy
        self.pushType = pushType
        self.definition = try reader.readOptional { (reader) throws(ByteFault) in try reader.readBytes() }
    }
}

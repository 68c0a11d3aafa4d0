package import WidgetModel

/// A broadcast channel of an app: a name for a match pattern, and for how long its messages may wait.
package struct Channel: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.id, \.storagePolicy, \.pushType, \.definition)

    /// `message-storage-policy`. Raw values are APNs' own and part of the on-disk format.
    package enum StoragePolicy: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
        /// Now or never.
        case none = 0
        /// The most recent message may wait.
        case mostRecent = 1
    }

    /// The push type that the channel was created for. Raw values are part of the on-disk format.
    package enum PushType: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
        case liveActivity = 0
        case widgets = 1
    }

    package var id: ChannelID
    package var storagePolicy: StoragePolicy
    package var pushType: PushType
    /// The target of its broadcasts: the JSON text of an object with `kind` and `match`, as in a push; nil for the
    /// instances with the channel's id as a tag. The engine does not read it.
    package var definition: [UInt8]?

    package init(id: ChannelID, storagePolicy: StoragePolicy, pushType: PushType, definition: [UInt8]? = nil) {
        self.id = id
        self.storagePolicy = storagePolicy
        self.pushType = pushType
        self.definition = definition
    }
}

package import Engine
package import WidgetModel

/// Where the pushes to a device token go: the host, its partition, and the control if the token is one's own.
///
/// Room for the ids' bytes, used again from one look-up to the next: finding a host takes hold of no object that other
/// event loops use, and makes none. Not copyable, since a copy would make room of its own.
package struct HostPlace: ~Copyable, Sendable {
    package private(set) var partition = PartitionID(0)
    /// The UTF-8 bytes of the host's id, then those of the control's.
    package private(set) var text: [UInt8] = []
    /// Where in ``text`` the host's id is.
    package private(set) var host = 0..<0
    /// Where in ``text`` the control's id is, nil if the token is no control's.
    package private(set) var instance: Range<Int>?

    /// Room for a place; it is none yet.
    package init() {}

    package var hostID: HostID { HostID(String(decoding: self.text[self.host], as: UTF8.self)) }

    package var instanceID: InstanceID? {
        self.instance.map { InstanceID(String(decoding: self.text[$0], as: UTF8.self)) }
    }

    /// Becomes another place.
    ///
    /// - Parameters:
    ///   - ids: The UTF-8 bytes of the host's id, then those of the control's.
    ///   - hostCount: How many of them are the host's.
    package mutating func become(_ partition: PartitionID, _ ids: Span<UInt8>, hostCount: Int, isOfControl: Bool) {
        self.partition = partition
        self.host = 0..<hostCount
        self.instance = isOfControl ? hostCount..<ids.count : nil
        self.text.removeAll(keepingCapacity: true)
        self.text.append(copying: ids)
    }
}

/// The standing of a device token to which an app's push goes.
package enum TokenStanding: Hashable, Sendable {
    case bound(isOfApp: Bool)
    /// The token was removed at this instant; pushes to it are answered 410 for 30 days, and 503 while it moves.
    case removed(isOfApp: Bool, TokenRemoval, at: Instant)
    case unknown
}

import Synchronization
package import WidgetModel

/// Which host a push token stands for: what the gateway must know before a push can be logged.
///
/// A token may have been one host's and now be another's, in another partition: each partition's word on it is kept, and
/// a binding outweighs a removal, in whichever order the partitions speak.
///
/// Filled by the partitions' owners from what their engines applied, read by every event loop. One lock, held for a
/// look-up of some tens of nanoseconds; the table is keyed by a 64-bit hash so that the 32 bytes of a token are
/// hashed once and compared once.
package final class HostDirectory: Sendable {
    /// What a token is bound to.
    package struct Entry: Hashable, Sendable {
        package let host: HostID
        package let app: BundleID
        /// The control instance whose own token this is, nil for a widget token.
        package let instance: InstanceID?
        package let partition: PartitionID

        package init(host: HostID, app: BundleID, instance: InstanceID?, partition: PartitionID) {
            self.host = host
            self.app = app
            self.instance = instance
            self.partition = partition
        }
    }

    /// What is known of a token.
    package enum Lookup: Hashable, Sendable {
        case bound(Entry)
        /// The token was removed at this instant; pushes to it are answered 410 for 30 days.
        case removed(app: BundleID, at: Instant)
        case unknown
    }

    /// What one partition says of a token.
    private struct Slot {
        let token: [UInt8]
        let partition: PartitionID
        let lookup: Lookup
    }

    private let table = Mutex<[UInt64: [Slot]]>([:])
    private let seed: UInt64

    /// An empty directory.
    ///
    /// - Parameter seed: Makes the hash of this process its own, so that nobody can choose tokens that collide.
    package init(seed: UInt64) {
        self.seed = seed
    }

    /// What a token is bound to now.
    package func lookup(_ token: Span<UInt8>) -> Lookup {
        let key = self.key(token)
        return self.table.withLock { table in
            guard let slots = table[key] else { return .unknown }
            return Self.find(token, in: slots)
        }
    }

    /// What a token is bound to now.
    package func lookup(_ token: DeviceToken) -> Lookup {
        self.lookup(token.bytes.span)
    }

    package func bind(_ token: DeviceToken, to entry: Entry) {
        self.replace(token, entry.partition, with: .bound(entry))
    }

    package func markRemoved(_ token: DeviceToken, app: BundleID, at instant: Instant, in partition: PartitionID) {
        self.replace(token, partition, with: .removed(app: app, at: instant))
    }

    package func forget(_ token: DeviceToken, in partition: PartitionID) {
        self.replace(token, partition, with: nil)
    }

    /// How many tokens are known, removed ones included; one that moved between partitions counts for each.
    package var count: Int {
        self.table.withLock { $0.values.reduce(0) { $0 + $1.count } }
    }

    private func replace(_ token: DeviceToken, _ partition: PartitionID, with lookup: Lookup?) {
        let key = self.key(token.bytes.span)
        self.table.withLock { table in
            var slots = table[key, default: []]
            slots.removeAll { $0.partition == partition && $0.token == token.bytes }
            if let lookup { slots.append(Slot(token: token.bytes, partition: partition, lookup: lookup)) }
            table[key] = slots.isEmpty ? nil : slots
        }
    }

    private func key(_ token: Span<UInt8>) -> UInt64 {
        var hash = StableHash()
        hash.combine(self.seed)
        hash.combine(token)
        return hash.value
    }

    /// The newest binding, else the newest removal.
    private static func find(_ token: Span<UInt8>, in slots: [Slot]) -> Lookup {
        var removal = Lookup.unknown
        for slot in slots.reversed() where Self.isEqual(slot.token.span, token) {
            switch (slot.lookup, removal) {
            case (.bound, _): return slot.lookup
            case (.removed(_, let at), .removed(_, let newest)) where at <= newest: continue
            default: removal = slot.lookup
            }
        }
        return removal
    }

    private static func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }
}

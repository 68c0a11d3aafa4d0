import Synchronization
package import WidgetModel

/// Which host a push token stands for: what the gateway must know before a push can be logged.
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

    private struct Slot {
        let token: [UInt8]
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
            return Self.find(token, in: slots)?.lookup ?? .unknown
        }
    }

    /// What a token is bound to now.
    package func lookup(_ token: DeviceToken) -> Lookup {
        self.lookup(token.bytes.span)
    }

    package func bind(_ token: DeviceToken, to entry: Entry) {
        self.replace(token, with: .bound(entry))
    }

    package func markRemoved(_ token: DeviceToken, app: BundleID, at instant: Instant) {
        self.replace(token, with: .removed(app: app, at: instant))
    }

    package func forget(_ token: DeviceToken) {
        self.replace(token, with: nil)
    }

    /// How many tokens are known, removed ones included.
    package var count: Int {
        self.table.withLock { $0.values.reduce(0) { $0 + $1.count } }
    }

    private func replace(_ token: DeviceToken, with lookup: Lookup?) {
        let key = self.key(token.bytes.span)
        self.table.withLock { table in
            var slots = table[key, default: []]
            slots.removeAll { $0.token == token.bytes }
            if let lookup { slots.append(Slot(token: token.bytes, lookup: lookup)) }
            table[key] = slots.isEmpty ? nil : slots
        }
    }

    private func key(_ token: Span<UInt8>) -> UInt64 {
        var hash = StableHash()
        hash.combine(self.seed)
        hash.combine(token)
        return hash.value
    }

    private static func find(_ token: Span<UInt8>, in slots: [Slot]) -> Slot? {
        slots.first { slot in
            guard slot.token.count == token.count else { return false }
            for index in token.indices where slot.token[index] != token[index] { return false }
            return true
        }
    }
}

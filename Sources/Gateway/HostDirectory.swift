package import APNSWire
import Synchronization
package import WidgetModel

/// Which host a push token stands for: what the gateway must know before a push can be logged.
///
/// A token may have been one host's and now be another's, in another partition: each partition's word on it is kept, and
/// a binding outweighs a removal, in whichever order the partitions speak.
///
/// Filled by the partitions' owners from what their engines applied, read by every event loop. In parts, each behind a
/// lock that is held for a look-up of some tens of nanoseconds. What is found is shared, not copied: a push takes hold of
/// one object.
package final class HostDirectory: Sendable {
    /// What a token is bound to.
    package final class Entry: Hashable, Sendable {
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

        package static func == (left: Entry, right: Entry) -> Bool {
            left.host == right.host && left.app == right.app && left.instance == right.instance
                && left.partition == right.partition
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(self.host)
            hasher.combine(self.instance)
        }
    }

    /// What is known of a token.
    package enum Lookup: Hashable, Sendable {
        case bound(Entry)
        /// The token was removed at this instant; pushes to it are answered 410 for 30 days.
        case removed(app: BundleID, at: Instant)
        case unknown
    }

    /// What one partition says of a token, and before what others said of the same or of one with the same hash.
    private final class Word: Sendable {
        let token: TokenWords
        let partition: PartitionID
        let lookup: Lookup
        let earlier: Word?

        init(_ token: TokenWords, _ partition: PartitionID, _ lookup: Lookup, earlier: Word?) {
            self.token = token
            self.partition = partition
            self.lookup = lookup
            self.earlier = earlier
        }

        /// The words before and with this one, but for a partition's on a token.
        func without(_ token: TokenWords, _ partition: PartitionID) -> Word? {
            let rest = self.earlier?.without(token, partition)
            if self.partition == partition, self.token == token { return rest }
            return Word(self.token, self.partition, self.lookup, earlier: rest)
        }
    }

    private final class Part: Sendable {
        /// By hash: the newest word.
        let table = Mutex<[UInt64: Word]>([:])
    }

    /// So many that event loops rarely want the same at once.
    private static let partCount = 64

    private let parts = (0..<HostDirectory.partCount).map { _ in Part() }
    private let seed: UInt64

    /// An empty directory.
    ///
    /// - Parameter seed: Makes the hash of this process its own, so that nobody can choose tokens that collide.
    package init(seed: UInt64) {
        self.seed = seed
    }

    /// What a token is bound to now.
    package func lookup(_ token: borrowing TokenWords) -> Lookup {
        let hash = token.hash(seed: self.seed)
        guard let word = self.part(hash).table.withLock({ $0[hash] }) else { return .unknown }
        if case .bound = word.lookup, word.token == token { return word.lookup }
        return Self.find(token, from: word)
    }

    /// The newest binding, else the newest removal.
    private static func find(_ token: borrowing TokenWords, from word: Word) -> Lookup {
        var removal = Lookup.unknown
        var next: Word? = word
        while let word = next {
            next = word.earlier
            guard word.token == token else { continue }
            switch (word.lookup, removal) {
            case (.bound, _): return word.lookup
            case (.removed(_, let at), .removed(_, let newest)) where at <= newest: continue
            default: removal = word.lookup
            }
        }
        return removal
    }

    /// What a token is bound to now.
    package func lookup(_ token: DeviceToken) -> Lookup {
        self.lookup(TokenWords(token))
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
        self.parts.reduce(0) { count, part in
            part.table.withLock { table in
                table.values.reduce(count) { $0 + sequence(first: $1, next: \.earlier).reduce(0) { sum, _ in sum + 1 } }
            }
        }
    }

    private func replace(_ token: DeviceToken, _ partition: PartitionID, with lookup: Lookup?) {
        let token = TokenWords(token)
        let hash = token.hash(seed: self.seed)
        self.part(hash).table.withLock { table in
            let rest = table[hash]?.without(token, partition)
            table[hash] = lookup.map { Word(token, partition, $0, earlier: rest) } ?? rest
        }
    }

    private func part(_ hash: UInt64) -> Part { self.parts[Int(truncatingIfNeeded: hash >> 58)] }
}

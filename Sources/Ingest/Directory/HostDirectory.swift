package import APNSWire
package import Engine
package import Partitions
package import Serving
import Synchronization
package import WidgetModel

/// Which host a push token stands for: the gateway must know it before it can log a push.
///
/// A token may have been one host's and now be another's, in another partition: each partition's word on it is kept, and
/// a binding outweighs a removal, in whichever order the partitions speak.
///
/// Filled by the partitions' owners from the entries that their engines applied, read by every event loop. In shards, each behind a
/// lock that is held for a look-up of some tens of nanoseconds.
package final class HostDirectory: TokenDirectory {
    /// So many that event loops rarely want the same at once.
    private let shards: InlineArray<64, Mutex<HostDirectoryShard>>
    static let shardCount = 64
    private let seed: UInt64
    /// How many partitions' tokens are not known.
    private let absent: Atomic<Int>
    /// Whether another node may have taken over a partition that is still taken for this one's, and know more of its tokens.
    private let isCutOff: @Sendable () -> Bool

    /// An empty directory.
    ///
    /// - Parameters:
    ///   - seed: Makes the hash of this process its own, so that tokens that collide cannot be chosen.
    ///   - apps: The apps that pushes may be to, in the order of their numbers.
    ///   - absent: How many partitions are other nodes'.
    ///   - isCutOff: Whether this node hears no other now; asked where a token is not found.
    package init(
        seed: UInt64,
        apps: [BundleID],
        absent: Int = 0,
        isCutOff: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isCutOff = isCutOff
        self.seed = seed
        self.absent = Atomic(absent)
        self.shards = InlineArray { _ in Mutex(HostDirectoryShard(apps: apps)) }
    }

    /// The binding of a token now, as far as a push of an app has to know. O(1).
    ///
    /// - Parameters:
    ///   - token: The push's token.
    ///   - app: The number of the app that the push is to.
    ///   - place: Becomes the place that the push goes to, if the token is bound.
    package func find(
        _ token: borrowing TokenWords,
        of app: Int,
        into place: inout HostPlace
    ) -> TokenStanding {
        let hash = self.hash(token)
        return self.shards[Self.shard(hash)].withLock { $0.find(token, hash, of: app, into: &place) }
    }

    /// The hash by which ``prefetch(_:)`` knows a token.
    package func hash(_ token: borrowing TokenWords) -> UInt64 { token.hash(seed: self.seed) }

    /// Fetches the memory that look-ups of these tokens will read, for all of them at once: each of them alone waits
    /// for memory three times. O(hashes).
    package func prefetch(_ hashes: [UInt64]) {
        for hash in hashes { self.shards[Self.shard(hash)].withLock { $0.prefetchCell(hash) } }
        for hash in hashes { self.shards[Self.shard(hash)].withLock { $0.prefetchRow(hash) } }
        for hash in hashes { self.shards[Self.shard(hash)].withLock { $0.prefetchText(hash) } }
    }

    /// The binding of a token now.
    package func lookup(_ token: DeviceToken) -> TokenLookup {
        let token = TokenWords(token)
        let hash = token.hash(seed: self.seed)
        return self.shards[Self.shard(hash)].withLock { $0.lookup(token, hash) }
    }

    /// Makes room for so many tokens at once, so that rows need not be moved while they come; more may come all the
    /// same.
    package func reserve(_ count: Int) {
        let perShard = (count + self.shards.count - 1) / self.shards.count
        for index in self.shards.indices { self.shards[index].withLock { $0.reserve(perShard) } }
    }

    package func bind(_ token: DeviceToken, to entry: TokenBinding) {
        self.change(token) { $0.bind(token, $1, to: entry) }
    }

    package func markRemoved(
        _ token: DeviceToken,
        app: BundleID,
        _ reason: TokenRemoval = .unregistered,
        at instant: Instant,
        in partition: PartitionID
    ) {
        self.change(token) { $0.markRemoved(token, $1, app: app, reason, at: instant, in: partition) }
    }

    package func forget(_ token: DeviceToken, in partition: PartitionID) {
        self.change(token) { $0.forget(token, $1, in: partition) }
    }

    package var isWhole: Bool { self.absent.load(ordering: .relaxed) == 0 && !self.isCutOff() }

    /// The tokens of one more partition are known.
    package func noteArrival() { self.absent.subtract(1, ordering: .relaxed) }

    /// Forgets all that a partition said. O(tokens).
    ///
    /// - Parameter wasKnown: Whether its tokens were all known.
    package func leave(_ partition: PartitionID, wasKnown: Bool) {
        if wasKnown { self.absent.add(1, ordering: .relaxed) }
        for index in self.shards.indices {
            self.shards[index].withLock { shard in shard.forget(partition) { self.hash($0) } }
        }
    }

    /// How many tokens are known, removed ones included; one that moved between partitions counts for each.
    package var count: Int { self.sum { $0.count } }

    /// How many bytes the tokens and ids take.
    package var textBytes: Int { self.sum { $0.textBytes } }

    /// Numbers apps that pushes may be to from now on.
    ///
    /// - Parameter apps: Those before, and others behind them. O(tokens).
    package func serve(_ apps: [BundleID]) {
        for index in self.shards.indices { self.shards[index].withLock { $0.serve(apps) } }
    }

    private func sum(_ number: (borrowing HostDirectoryShard) -> Int) -> Int {
        var sum = 0
        for index in self.shards.indices { sum += self.shards[index].withLock { number($0) } }
        return sum
    }

    private func change(_ token: DeviceToken, _ body: (inout HostDirectoryShard, UInt64) -> Void) {
        let hash = self.hash(token.bytes.span)
        self.shards[Self.shard(hash)].withLock { body(&$0, hash) }
    }

    /// Takes over the rows that were gathered for one shard. O(rows).
    func takeBatch(_ batch: HostDirectoryShard.Batch, of apps: [BundleID], into shard: Int) {
        self.shards[shard].withLock { $0.takeBatch(batch, of: apps) }
    }

    func hash(_ token: Span<UInt8>) -> UInt64 { TokenWords.hash(token, seed: self.seed) }

    @inline(__always)
    static func shard(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 58) }
}

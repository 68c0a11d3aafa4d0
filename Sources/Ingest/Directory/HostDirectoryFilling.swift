import APNSWire
import WidgetModel

/// Many tokens of hosts on their way into a ``HostDirectory``. The rows of one shard wait until there are enough for the lock and the wait
/// for memory. All bindings are known after ``finish()``.
struct HostDirectoryFilling: ~Copyable {
    private let directory: HostDirectory
    private let apps: [BundleID]
    private let partition: PartitionID
    private var batches: [HostDirectoryShard.Batch]

    /// Nothing on its way.
    ///
    /// - Parameter apps: The apps by the numbers that ``bind(_:to:of:)`` is told.
    init(_ directory: HostDirectory, of apps: [BundleID], in partition: PartitionID) {
        self.directory = directory
        self.apps = apps
        self.partition = partition
        self.batches = Array(repeating: HostDirectoryShard.Batch(), count: HostDirectory.shardCount)
    }

    /// A partition's newest word on a token, in place of the one before: the host that it is bound to.
    ///
    /// - Parameters:
    ///   - host: The id of the host in UTF-8.
    ///   - app: The number of the host's app.
    mutating func bind(_ token: Span<UInt8>, to host: Span<UInt8>, of app: Int) {
        let hash = self.directory.hash(token)
        let shard = HostDirectory.shard(hash)
        self.batches[shard].add(token, hash, host, app: UInt32(app), self.partition)
        if self.batches[shard].isFull { self.empty(shard) }
    }

    /// Makes everything known that was bound.
    consuming func finish() {
        for shard in self.batches.indices { self.empty(shard) }
    }

    private mutating func empty(_ shard: Int) {
        self.directory.takeBatch(self.batches[shard], of: self.apps, into: shard)
        self.batches[shard].removeAll()
    }
}

extension HostDirectoryShard {
    /// Rows of hosts' tokens that are to be a shard's, with their text.
    struct Batch: Sendable {
        /// Enough that the lock costs little of each, few enough that the memory of all their look-ups stays in the
        /// cache.
        private static let rowsMax = 128

        fileprivate(set) var hashes: [UInt64] = []
        fileprivate(set) var rows: [Row] = []
        fileprivate(set) var text: [UInt8] = []

        fileprivate var isFull: Bool { self.rows.count == Self.rowsMax }

        fileprivate mutating func add(
            _ token: Span<UInt8>,
            _ hash: UInt64,
            _ host: Span<UInt8>,
            app: UInt32,
            _ partition: PartitionID
        ) {
            self.hashes.append(hash)
            self.rows.append(
                Row(
                    partition,
                    app: app,
                    start: self.text.count,
                    tokenCount: token.count,
                    hostCount: host.count
                )
            )
            self.text.append(copying: token)
            self.text.append(copying: host)
        }

        fileprivate mutating func removeAll() {
            self.hashes.removeAll(keepingCapacity: true)
            self.rows.removeAll(keepingCapacity: true)
            self.text.removeAll(keepingCapacity: true)
        }
    }
}

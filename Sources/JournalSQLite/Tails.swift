import Journaling
import Synchronization
import WidgetModel

/// The durable end of the log, as readers may see it: every partition's tail and its newest entries.
///
/// The writer publishes a commit here before it calls back, so an owner that follows the hints never reads the disk.
final class Tails: Sendable {
    private struct Partition {
        var tail: EntryAssembler.Tail
        var newestOutput: OutputPosition?
        /// The newest entries without a gap, from `head` on; entries before `head` are dropped now and then.
        var cached: [LogEntry] = []
        var head = 0
        var cachedBytes = 0
    }

    private let cacheBytesMax: Int
    private let partitions: Mutex<[Partition]>

    /// - Parameters:
    ///   - starts: Every partition's tail.
    ///   - cacheBytesMax: The most bytes of entries to keep for one partition.
    init(_ starts: [PartitionStart], cacheBytesMax: Int) {
        self.cacheBytesMax = cacheBytesMax
        self.partitions = Mutex(starts.map { Partition(tail: $0.tail, newestOutput: $0.newestOutput) })
    }

    func tail(_ partition: PartitionID) -> LogPosition {
        self.partitions.withLock { $0[Int(partition.rawValue)].tail.position }
    }

    func newestOutput(_ partition: PartitionID) -> OutputPosition? {
        self.partitions.withLock { $0[Int(partition.rawValue)].newestOutput }
    }

    /// The entries from a position on, or nil if the first is not in memory.
    func cached(_ partition: PartitionID, from position: LogPosition, entriesMax: Int) -> [LogEntry]? {
        self.partitions.withLock { partitions in
            let tail = partitions[Int(partition.rawValue)].tail.position
            guard position <= tail else { return [] }
            let behind = tail.rawValue - position.rawValue
            let cached = partitions[Int(partition.rawValue)].cached[
                partitions[Int(partition.rawValue)].head...
            ]
            guard behind < UInt64(cached.count) else { return nil }
            return Array(cached.suffix(Int(behind) + 1).prefix(entriesMax))
        }
    }

    /// Publishes the entries that one transaction made durable.
    func publish(_ entries: [EntryAssembler.Assembled], _ outputs: [(PartitionID, OutputPosition)]) {
        self.partitions.withLock { partitions in
            for assembled in entries {
                self.add(assembled.entry, to: &partitions[Int(assembled.partition.rawValue)])
            }
            for (partition, position) in outputs {
                partitions[Int(partition.rawValue)].newestOutput = position
            }
        }
    }

    private func add(_ entry: LogEntry, to partition: inout Partition) {
        partition.tail = EntryAssembler.Tail(position: entry.position, logTime: entry.logTime)
        partition.cached.append(entry)
        partition.cachedBytes += entry.bytes.count
        while partition.cachedBytes > self.cacheBytesMax, partition.head < partition.cached.count {
            partition.cachedBytes -= partition.cached[partition.head].bytes.count
            partition.cached[partition.head] = LogEntry(
                position: .start,
                logTime: .epoch,
                packed: PackedRecords()
            )
            partition.head += 1
        }
        // Halving now and then keeps the drop at O(1) per entry.
        if partition.head > 64, partition.head * 2 > partition.cached.count {
            partition.cached.removeFirst(partition.head)
            partition.head = 0
        }
    }
}

package import WidgetModel

/// Packs the submissions of one commit into entries, and gives the place of each.
///
/// Every journal that assigns positions itself uses this, so that all of them pack alike.
package struct EntryAssembler: Sendable {
    /// The end of a partition's log.
    package struct Tail: Hashable, Sendable {
        /// The newest entry, ``LogPosition/start`` if there is none.
        package var position: LogPosition
        /// The newest entry's time.
        package var logTime: Instant

        package init(position: LogPosition = .start, logTime: Instant = Instant(milliseconds: .min)) {
            self.position = position
            self.logTime = logTime
        }
    }

    package struct Assembled: Hashable, Sendable {
        package let partition: PartitionID
        package let entry: LogEntry

        package init(partition: PartitionID, entry: LogEntry) {
            self.partition = partition
            self.entry = entry
        }
    }

    /// The partitions' tails behind everything added so far.
    package private(set) var tails: [Tail]
    private let now: Instant
    private let entryBytesMax: Int
    /// By partition: the records of the entry at its tail, if this commit has one there that takes more.
    private var open: [PackedRecords?]
    private var assembled: [Assembled] = []

    /// - Parameters:
    ///   - tails: Every partition's tail before the commit.
    ///   - now: The clock, read once for the commit.
    ///   - entryBytesMax: See ``JournalLimits/entryBytesMax``.
    package init(tails: [Tail], now: Instant, entryBytesMax: Int) {
        self.tails = tails
        self.now = now
        self.entryBytesMax = entryBytesMax
        self.open = Array(repeating: nil, count: tails.count)
    }

    /// Adds a submission that ``JournalLimits/refusal(of:partitions:waiting:)`` let through.
    package mutating func add(_ submission: Submission) -> AppendReceipt {
        self.add(submission.records, to: submission.partition)
    }

    /// Adds a submission to all partitions, in their order.
    package mutating func add(_ submission: SubmissionToAll) -> [AppendReceipt] {
        self.tails.indices.map { index in
            let partition = PartitionID(UInt16(index))
            return self.add(submission.records(for: partition), to: partition)
        }
    }

    private mutating func add(_ records: PackedRecords, to partition: PartitionID) -> AppendReceipt {
        let index = Int(partition.rawValue)
        if let size = self.open[index]?.bytes.count, size + records.bytes.count > self.entryBytesMax {
            self.seal(index)
        }
        let first: Int
        if self.open[index] == nil {
            self.tails[index].position = self.tails[index].position.next
            self.tails[index].logTime = max(self.tails[index].logTime, self.now)
            self.open[index] = records
            first = 0
        } else {
            first = self.open[index]?.count ?? 0
            self.open[index]?.append(contentsOf: records)
        }
        return AppendReceipt(
            partition: partition,
            position: self.tails[index].position,
            firstRecordIndex: first
        )
    }

    /// Closes the entry at a partition's tail, if this commit has one there.
    private mutating func seal(_ index: Int) {
        guard let records = self.open[index].take() else { return }
        let tail = self.tails[index]
        self.assembled.append(
            Assembled(
                partition: PartitionID(UInt16(index)),
                entry: LogEntry(position: tail.position, logTime: tail.logTime, packed: records)
            )
        )
    }

    /// The entries to store; those of one partition are in the order of their positions.
    package mutating func finish() -> [Assembled] {
        for index in self.open.indices { self.seal(index) }
        let assembled = self.assembled
        self.assembled = []
        return assembled
    }
}

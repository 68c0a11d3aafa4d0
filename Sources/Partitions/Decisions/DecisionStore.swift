package import Engine
package import History
package import Journaling
package import Logging
package import Settings
import Synchronization
package import WidgetModel

/// Decisions beyond those that engines keep, in blocks on the disk, bounded by bytes and age; the heads of the blocks are in memory.
///
/// A cache of the log: it may be lost as a whole, and is made again from there (``DecisionReplay``). All of it blocks: it is for threads
/// that may wait.
package final class DecisionStore: Sendable {
    /// How much is in the store, and how much it has left out or removed.
    package struct Counts: Hashable, Sendable {
        package var blocks = 0
        package var decisions = 0
        package var bytes = 0
        /// When the oldest decision was made that it has; nil if it has none.
        package var since: Instant?
        /// Decisions that were made faster than they were written: engines had no room for them any more.
        package var leftOut: UInt64 = 0
        /// Decisions that were removed for room or for their age.
        package var removed: UInt64 = 0
        /// Blocks that could not be written or read.
        package var failures = 0
    }

    fileprivate struct Placed {
        let record: UInt64
        let head: DecisionBlock.Head
        let bytes: Int
    }

    fileprivate struct State {
        var settings: GatewayConfiguration.Decisions
        /// By partition, in the order of their numbers.
        var blocks: [[Placed]]
        /// By partition, the number behind the last decision that was written when it was made, kept or not; nil if none was.
        var ends: [UInt64?]
        var bytes = 0
        var nextRecord: UInt64 = 1
        /// Counts how often all of it was removed.
        var generation = 0
        var leftOut: UInt64 = 0
        var removed: UInt64 = 0
        var failures = 0
    }

    private let archive: any RecordArchive
    private let logger: Logger
    private let state: Mutex<State>

    package init(
        archive: any RecordArchive,
        partitions: Int,
        settings: GatewayConfiguration.Decisions,
        logger: Logger
    ) {
        self.archive = archive
        self.logger = logger
        self.state = Mutex(
            State(
                settings: settings,
                blocks: Array(repeating: [], count: partitions),
                ends: Array(repeating: nil, count: partitions)
            )
        )
    }

    /// Keeps as much as other settings say from the next block on.
    package func applySettings(_ settings: GatewayConfiguration.Decisions) {
        self.state.withLock { $0.settings = settings }
    }

    package var isOn: Bool { self.state.withLock { $0.settings.isOn } }

    package var counts: Counts {
        self.state.withLock { state in
            let all = state.blocks.joined()
            return Counts(
                blocks: all.count,
                decisions: all.reduce(0) { $0 + $1.head.count },
                bytes: state.bytes,
                since: all.lazy.map(\.head.from).min(),
                leftOut: state.leftOut,
                removed: state.removed,
                failures: state.failures
            )
        }
    }

    /// Reads the heads of the blocks that an earlier process has left. Records that are no blocks, or another log's,
    /// are removed.
    ///
    /// - Returns: Whether there was any.
    package func load() throws(JournalError) -> Bool {
        guard self.isOn else {
            try self.archive.removeAll()
            return false
        }
        var found: [Placed] = []
        var strange: [UInt64] = []
        var last: UInt64 = 0
        try self.archive.readAll { record in
            last = max(last, record.number)
            guard let head = DecisionBlock.head(of: record.bytes) else {
                strange.append(record.number)
                return
            }
            found.append(Placed(record: record.number, head: head, bytes: record.bytes.count))
        }
        let partitions = self.state.withLock { $0.blocks.count }
        strange += found.filter { $0.head.partition.rawValue >= partitions }.map(\.record)
        if !strange.isEmpty { try self.archive.write([], removing: strange) }
        return self.state.withLock { state in
            for block in found where block.head.partition.rawValue < partitions { state.insert(block) }
            state.ends = state.blocks.map { $0.last?.head.end }
            state.nextRecord = max(state.nextRecord, last + 1)
            state.failures += strange.count
            return state.bytes > 0
        }
    }

    // MARK: Writing

    /// Which decisions are to be written next.
    package struct Place: Hashable, Sendable {
        /// The number behind the last one that is written; nil if there is none.
        package let next: UInt64?
        fileprivate let generation: Int
    }

    package func place(in partition: PartitionID) -> Place {
        self.state.withLock { Place(next: $0.ends[Int(partition.rawValue)], generation: $0.generation) }
    }

    /// Writes a block, and removes blocks that are too old or find no room: at worst the block itself.
    ///
    /// - Parameters:
    ///   - block: A block of decisions that the store does not have.
    ///   - place: The place as it was before the decisions were asked for: if all was removed since, they are not
    ///     written.
    ///   - leftOut: How many before it are lost.
    ///   - isMadeAgain: Whether its decisions are older than those that were written last.
    ///   - now: The log's time.
    /// - Throws: The disk's error; nothing was written then.
    package func write(
        _ block: DecisionBlock,
        at place: Place,
        leftOut: UInt64 = 0,
        isMadeAgain: Bool = false,
        now: Instant
    ) throws(JournalError) {
        let bytes = block.bytes
        let (record, removed) = self.state.withLock { state -> (UInt64?, [Placed]) in
            guard state.generation == place.generation else { return (nil, []) }
            let placed = Placed(record: state.nextRecord, head: block.head, bytes: bytes.count)
            state.nextRecord += 1
            return (placed.record, state.surplus(with: placed, at: now))
        }
        guard let record else { return }
        let isKept = !removed.contains { $0.record == record }
        do throws(JournalError) {
            let written = isKept ? [ArchivedRecord(number: record, bytes: bytes)] : []
            try self.archive.write(written, removing: removed.map(\.record))
        } catch {
            self.state.withLock { $0.failures += 1 }
            throw error
        }
        let isOvertaken = self.state.withLock { state -> Bool in
            guard state.generation == place.generation else { return true }
            state.leftOut += leftOut
            if !isMadeAgain { state.ends[Int(block.head.partition.rawValue)] = block.head.end }
            for block in removed {
                state.removed += UInt64(block.head.count)
                state.forgetBlock(block.record, of: block.head.partition)
            }
            if isKept { state.insert(Placed(record: record, head: block.head, bytes: bytes.count)) }
            return false
        }
        // Everything was removed while this was written.
        if isOvertaken { try self.archive.write([], removing: [record]) }
    }

    /// Removes blocks that are too old, and blocks that find no room any more.
    package func prune(now: Instant) throws(JournalError) {
        let removed = self.state.withLock { $0.surplus(with: nil, at: now) }
        guard !removed.isEmpty else { return }
        try self.archive.write([], removing: removed.map(\.record))
        self.state.withLock { state in
            for block in removed {
                state.removed += UInt64(block.head.count)
                state.forgetBlock(block.record, of: block.head.partition)
            }
        }
    }

    /// Removes everything, so that no byte of it is left on the disk.
    package func removeAll() throws(JournalError) {
        self.state.withLock { state in
            state.generation += 1
            for index in state.blocks.indices { (state.blocks[index], state.ends[index]) = ([], nil) }
            state.bytes = 0
        }
        try self.archive.removeAll()
    }

    /// The parts of a range of numbers that it does not have.
    package func missing(_ partition: PartitionID, in range: Range<UInt64>) -> [Range<UInt64>] {
        self.state.withLock { state in
            var missing: [Range<UInt64>] = []
            var next = range.lowerBound
            for block in state.blocks[Int(partition.rawValue)] where block.head.end > next {
                if block.head.first >= range.upperBound { break }
                if block.head.first > next { missing.append(next..<block.head.first) }
                next = block.head.end
            }
            if next < range.upperBound { missing.append(next..<range.upperBound) }
            return missing
        }
    }

    package func close() { self.archive.close() }
}

// MARK: - Reading

extension DecisionStore {
    /// The block that has a decision; nil if it is not there or cannot be read.
    package func block(_ partition: PartitionID, having number: UInt64) -> DecisionBlock? {
        let record = self.state.withLock { state -> UInt64? in
            let blocks = state.blocks[Int(partition.rawValue)]
            let index = blocks.firstIndex(beyond: number) - 1
            guard index >= 0, blocks[index].head.end > number else { return nil }
            return blocks[index].record
        }
        return record.flatMap { self.read($0) }
    }

    /// The number of the first decision that it has, from an entry on and from a number on; nil if it has none.
    package func first(_ partition: PartitionID, from position: LogPosition, _ number: UInt64 = 0) -> UInt64? {
        self.state.withLock { state in
            state.blocks[Int(partition.rawValue)].first { $0.head.through >= position && $0.head.end > number }
                .map { max($0.head.first, number) }
        }
    }

    private func read(_ record: UInt64) -> DecisionBlock? {
        do {
            guard let bytes = try self.archive.read(record) else { return nil }
            return try DecisionBlock(bytes: bytes)
        } catch {
            self.state.withLock { $0.failures += 1 }
            self.logger.warning(
                "decisions cannot be read; freshet why still finds them in the log",
                metadata: ["error": "\(error)"]
            )
            return nil
        }
    }

    /// How many blocks are read at most to answer one question.
    private static let readMax = 256

    /// The decisions of an instance before those that its engine keeps, the newest first.
    ///
    /// - Parameters:
    ///   - number: Of the newest of them, as the one behind it names it; nil if there is none.
    ///   - limit: How many at most.
    ///   - since: None before that; nil for all there are.
    /// - Returns: With whether these are all since then that there were.
    package func earlier(
        _ partition: PartitionID,
        from number: UInt64?,
        limit: Int,
        since: Instant?
    ) -> (rows: [DecisionView], isWhole: Bool) {
        var rows: [DecisionView] = []
        var (number, read) = (number, 0)
        var block: DecisionBlock?
        while let wanted = number {
            guard rows.count < limit else { return (rows, false) }
            if block?[wanted] == nil {
                guard read < Self.readMax else { return (rows, false) }
                read += 1
                block = self.block(partition, having: wanted)
            }
            guard let row = block?[wanted] else { return (rows, false) }
            if let since, row.decision.at < since { break }
            rows.append(row.decision)
            number = row.previous
        }
        return (rows, true)
    }
}

extension DecisionStore.State {
    mutating func insert(_ block: DecisionStore.Placed) {
        let index = Int(block.head.partition.rawValue)
        self.blocks[index].insert(block, at: self.blocks[index].firstIndex(beyond: block.head.first))
        self.bytes += block.bytes
    }

    mutating func forgetBlock(_ record: UInt64, of partition: PartitionID) {
        let index = Int(partition.rawValue)
        guard let place = self.blocks[index].firstIndex(where: { $0.record == record }) else { return }
        self.bytes -= self.blocks[index].remove(at: place).bytes
    }

    /// The blocks that are to go, the oldest first, where another comes.
    func surplus(with added: DecisionStore.Placed?, at now: Instant) -> [DecisionStore.Placed] {
        var bytes = self.bytes + (added?.bytes ?? 0)
        let all = (Array(self.blocks.joined()) + [added].compactMap(\.self))
        guard bytes > self.settings.bytesMax || all.contains(where: { $0.head.until < now - self.settings.ageMax })
        else {
            return []
        }
        var removed: [DecisionStore.Placed] = []
        for block in all.sorted(by: { ($0.head.until, $0.record) < ($1.head.until, $1.record) }) {
            guard bytes > self.settings.bytesMax || block.head.until < now - self.settings.ageMax else { break }
            bytes -= block.bytes
            removed.append(block)
        }
        return removed
    }
}

extension [DecisionStore.Placed] {
    /// The index of the first block that begins behind a number. O(log blocks).
    fileprivate func firstIndex(beyond number: UInt64) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].head.first <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

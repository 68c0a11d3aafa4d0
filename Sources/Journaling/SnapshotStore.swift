package import WidgetModel

/// The snapshots of a log: a restart begins with the newest good one instead of the log's first entry, and entries that
/// are no longer needed are removed.
///
/// All methods may be called from any thread, and wait for the disk: do not call them from an event loop.
package protocol SnapshotStore: SnapshotHistory {
    /// Writes a snapshot: it is there whole and durable when this returns, and not at all if it throws.
    ///
    /// - Parameters:
    ///   - id: Which.
    ///   - next: The next frame, not empty; nil behind the last.
    func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws

    /// Writes a snapshot in the place of another one, in the same way. Where several nodes write, ``write(_:_:)`` leaves one that
    /// is there as it is, and this does not: it is for states that mean something else from now on.
    func replace(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws

    /// Removes a snapshot, if it is there.
    func remove(_ id: SnapshotID) throws(JournalError)

    /// Takes a damaged snapshot out of the list and keeps its bytes for a later look.
    func setAside(_ id: SnapshotID) throws(JournalError)

    /// The position of the first entry of a partition that is still there, or that the next one will have.
    func firstEntry(_ partition: PartitionID) throws(JournalError) -> LogPosition

    /// Removes entries and outputs that are not needed any more, as far as they fill whole files. The newest output of
    /// each partition always stays.
    ///
    /// - Parameters:
    ///   - positions: By partition, the newest entry that may go.
    ///   - instant: Only entries that were logged before.
    /// - Returns: How many files were removed.
    func trim(through positions: [LogPosition], loggedBefore instant: Instant) throws(JournalError) -> Int

    // For data that has to be gone.

    /// The number of the log's file that is written.
    var newestFile: Int { get }

    /// Asks for a new file behind the next commit. It may fail to come, if the disk is full.
    func endFile()

    /// Removes the entries and outputs of every file but the one that is written, as far as they are not needed.
    ///
    /// - Parameter positions: By partition, the newest entry that may go.
    /// - Returns: How many files were removed.
    func trimAll(through positions: [LogPosition]) throws(JournalError) -> Int

    /// Removes the snapshots that were set aside.
    func removeDamaged() throws(JournalError)
}

extension SnapshotStore {
    package func replace(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws { try self.write(id, next) }
}

/// A snapshot by its place in the log.
package struct SnapshotID: Hashable, Sendable, CustomStringConvertible {
    package let partition: PartitionID
    /// The last entry that the state has seen.
    package let position: LogPosition
    /// That entry's time.
    package let logTime: Instant

    package init(partition: PartitionID, position: LogPosition, logTime: Instant) {
        self.partition = partition
        self.position = position
        self.logTime = logTime
    }

    package var description: String { "snapshot of partition \(self.partition) at position \(self.position)" }
}

/// Which snapshots are kept.
package enum SnapshotRetention {
    /// How many of the newest stay in any case: the one that a start reads, and the one before in case it is damaged.
    package static let newestKept = 2
    /// Into how many parts the history is divided, at least one snapshot in each.
    package static let historyParts: Int64 = 2

    /// The snapshots that are needed: the newest two, and for the history one that is older than it, so that every entry
    /// of the history can be replayed, and some between.
    ///
    /// - Parameters:
    ///   - snapshots: One partition's, the newest first.
    ///   - now: The log's time.
    ///   - history: How much of the log is kept.
    package static func kept(of snapshots: [SnapshotID], now: Instant, history: Interval) -> [SnapshotID] {
        var kept = Array(snapshots.prefix(Self.newestKept))
        guard history > .zero else { return kept }
        let step = Interval(milliseconds: max(1, history.milliseconds / Self.historyParts))
        // From the oldest on: one that is older than the history, the newest of those, then one for each step.
        let older = snapshots.dropFirst(Self.newestKept)
        var last: SnapshotID?
        if let base = snapshots.first(where: { $0.logTime <= now - history }) {
            if !kept.contains(base) { kept.append(base) }
            last = base
        }
        for snapshot in older.reversed() where snapshot.logTime > now - history {
            if let last, snapshot.logTime - last.logTime < step { continue }
            last = snapshot
            if !kept.contains(snapshot) { kept.append(snapshot) }
        }
        return kept.sorted { $0.position > $1.position }
    }
}

package import Journaling
package import WidgetModel

/// A copy of a log that goes on meanwhile, in a data directory from which a gateway can go on.
///
/// It is the log at a cut. Of each partition it has the newest state, the entries behind it up to the cut, and the outputs
/// up to there. Nothing is decided for it, and nothing is written to the log. Entries that no output of the copy holds are decided
/// by the gateway that opens it: by the same state, at the same positions and times. So its reloads have the ids that the log's own owner
/// gives for these entries. Copies of states do not depend on decision rules, so any program can make them.
///
/// A log may lose its older part meanwhile. Then the copy begins anew, at a newer cut.
package struct LogCopy {
    /// The part of one partition.
    private struct Part {
        let partition: PartitionID
        let snapshot: SnapshotID?
        /// The newest entry.
        let end: LogPosition
        /// Nil if there are no outputs.
        let firstOutput: OutputPosition?

        /// The entry behind which the others are copied.
        var begin: LogPosition { self.snapshot?.position ?? .start }
    }

    /// How often a copy is begun while the log is trimmed.
    private static let attemptsMax = 3
    private static let rowsPerRead = 256

    private let log: any SourceLog
    private let directory: DirectorySuccessor

    /// - Parameters:
    ///   - log: May go on.
    ///   - directory: Gets the copy, and is not finished with it.
    package init(of log: any SourceLog, to directory: DirectorySuccessor) {
        (self.log, self.directory) = (log, directory)
    }

    /// Copies.
    ///
    /// - Parameters:
    ///   - cut: Returns where the copy is to end: by partition, its newest entry. Asked anew whenever the copy begins.
    ///   - progress: Told now and then how far a partition is, and how far it goes.
    /// - Throws: ``JournalError``: `.unavailable` if the log cannot be copied at the moment, as when it is trimmed again and again.
    package func run(
        to cut: () throws -> [LogPosition],
        progress: (PartitionID, LogPosition, LogPosition) -> Void = { _, _, _ in }
    ) throws {
        var damaged: Set<SnapshotID> = []
        var attempt = 1
        while true {
            let known = damaged.count
            do {
                return try self.copy(to: cut, without: &damaged, progress)
            } catch let error as JournalError where error.code == .corrupt {
                // The next older state is to be used.
                if damaged.count > known { continue }
                guard attempt < Self.attemptsMax else {
                    throw JournalError(
                        .unavailable,
                        "the log was trimmed during the copy, or is damaged (\(error.message)); run this again, and if it fails "
                            + "again restore an earlier backup"
                    )
                }
                attempt += 1
            }
        }
    }

    private func copy(
        to cut: () throws -> [LogPosition],
        without damaged: inout Set<SnapshotID>,
        _ progress: (PartitionID, LogPosition, LogPosition) -> Void
    ) throws {
        var parts: [Part] = []
        for (number, end) in try cut().enumerated() {
            parts.append(try self.part(of: PartitionID(UInt16(number)), to: end, without: damaged))
        }
        let starts = parts.map { PartitionStart(behind: $0.snapshot, firstOutput: $0.firstOutput) }
        try self.directory.begin(self.log.format, at: starts)
        for part in parts {
            if let id = part.snapshot {
                do {
                    try self.directory.write(id, frames: { try self.log.read(id, $0) })
                } catch let error as JournalError where error.code == .corrupt {
                    damaged.insert(id)
                    throw error
                }
            }
            try self.copyEntries(of: part) { progress(part.partition, $0, part.end) }
            try self.copyOutputs(of: part)
        }
    }

    private func part(
        of partition: PartitionID,
        to end: LogPosition,
        without damaged: Set<SnapshotID>
    ) throws(JournalError) -> Part {
        let snapshot = try self.log.snapshots(partition).first { $0.position <= end && !damaged.contains($0) }
        // In this order: the output that goes as far as the state is among them.
        guard let range = try self.log.outputRange(partition) else {
            return Part(partition: partition, snapshot: snapshot, end: end, firstOutput: nil)
        }
        var first = max(range.lowerBound, range.upperBound.before(by: UInt64(OutputRecord.resumedMax)))
        while first > range.lowerBound,
            let output = try self.log.readOutputs(partition, from: first, outputsMax: 1).first,
            output.record.through > snapshot?.position ?? .start
        {
            // Twice as many.
            let count = range.upperBound.rawValue - first.rawValue
            first = max(range.lowerBound, first.before(by: count))
        }
        return Part(partition: partition, snapshot: snapshot, end: end, firstOutput: first)
    }

    private func copyEntries(of part: Part, _ progress: (LogPosition) -> Void) throws(JournalError) {
        var applied = part.begin
        while applied < part.end {
            let read = try self.log.read(part.partition, from: applied.next, entriesMax: Self.rowsPerRead)
            let entries = read.prefix { $0.position <= part.end }
            guard let last = entries.last, entries.first?.position == applied.next else {
                throw JournalError(
                    .corrupt,
                    "partition \(part.partition) has no entry \(applied.next), and no newer snapshot that can be read"
                )
            }
            try self.directory.append(Array(entries), [], to: part.partition)
            applied = last.position
            progress(applied)
        }
    }

    /// Copies the outputs up to the last that is whole and goes no further than the entries.
    private func copyOutputs(of part: Part) throws(JournalError) {
        var next = part.firstOutput
        var newest = LogPosition.start
        // Chunks, without the output that completes them.
        var chunks: [OutputEntry] = []
        while let first = next {
            let read = try self.log.readOutputs(part.partition, from: first, outputsMax: Self.rowsPerRead)
            let outputs = read.prefix { $0.record.through <= part.end }
            chunks += outputs
            if let whole = chunks.lastIndex(where: { $0.record.ahead == 0 }) {
                newest = chunks[whole].record.through
                try self.directory.append([], Array(chunks[...whole]), to: part.partition)
                chunks.removeSubrange(...whole)
            }
            next = outputs.count == read.count ? outputs.last?.position.next : nil
        }
        // Trimming takes an output away as soon as the next one is begun.
        guard newest >= part.begin else {
            throw JournalError(
                .unavailable,
                "partition \(part.partition) writes the results of a large push at the moment; run this again"
            )
        }
    }
}

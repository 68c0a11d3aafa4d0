package import Engine
package import Journaling
package import WidgetModel

/// A state to begin with, and the snapshot that held it.
package struct LoadedState: ~Copyable, Sendable {
    package var engine: Engine
    /// Nil if the log is to be replayed from its beginning.
    package let snapshot: SnapshotID?

    package init(engine: consuming Engine, snapshot: SnapshotID?) {
        self.engine = engine
        self.snapshot = snapshot
    }

    /// An owner that begins with it.
    package consuming func makeOwner(chunkBytesMax: Int) -> OwnerMachine {
        OwnerMachine(self.engine, chunkBytesMax: chunkBytesMax)
    }

    /// The state of the newest usable snapshot, or an empty one.
    ///
    /// A damaged snapshot is set aside, and the one before is used. A snapshot of another format stays in place, and
    /// so does one that is ahead of the log's outputs: its decisions were never committed. Behind a snapshot of other decision rules, no
    /// earlier one is used: those rules decided all entries between.
    ///
    /// - Parameters:
    ///   - last: The position of the newest output.
    ///   - rules: For an empty state: by which it goes on.
    ///   - seed: For an empty state: hides the places of rows in its tables.
    ///   - read: Reads one.
    ///   - refused: Gets the reason why one is not used.
    /// - Throws: ``OwnerError/noState(partition:reason:)`` if there is none and the log no longer begins with its first
    ///   entry, ``JournalError`` if the disk cannot be read.
    package static func newest(
        of partition: PartitionID,
        among partitions: Int,
        in store: any SnapshotStore,
        notBeyond last: LogPosition,
        rules: Int = Engine.version,
        seed: UInt64,
        read: (SnapshotID) throws -> Engine,
        refused: (String) -> Void
    ) throws -> LoadedState {
        var refusal = "there is no snapshot"
        for id in try store.snapshots(partition) {
            guard id.position <= last else {
                refusal = "the \(id) is ahead of the log's outputs, which end at position \(last)"
                refused(refusal)
                continue
            }
            do {
                return LoadedState(engine: try read(id), snapshot: id)
            } catch let error as SnapshotError {
                refusal = "the \(id) cannot be used: \(error)"
                refused(refusal)
                if case .otherEngine = error { throw OwnerError.noState(partition: partition, reason: refusal) }
                if case .damaged = error { try? store.setAside(id) }
            } catch let error as JournalError where error.code == .corrupt || error.code == .formatMismatch {
                refusal = "the \(id) cannot be used: \(error)"
                refused(refusal)
                if error.code == .corrupt { try? store.setAside(id) }
            }
        }
        guard try store.firstEntry(partition) == LogPosition.start.next else {
            throw OwnerError.noState(partition: partition, reason: refusal)
        }
        let engine = Engine(partition: partition, partitions: partitions, seed: seed, rules: rules)
        return LoadedState(engine: engine, snapshot: nil)
    }

    /// Replays the later part of the log up to a checkpoint, which proves the state.
    ///
    /// - Parameters:
    ///   - read: Some entries from a position on, at least one.
    ///   - checkStop: Called now and then; throws to end the replay.
    /// - Throws: ``OwnerError/engineDisagrees(partition:position:)`` if it gives another state, or
    ///   ``OwnerError/logEndsEarly(partition:applied:through:)`` if entries are missing.
    package mutating func advance(
        to checkpoint: OwnerCheckpoint,
        read: (LogPosition) throws -> [LogEntry],
        checkStop: () throws -> Void
    ) throws {
        var applied = self.engine.position
        while applied < checkpoint.through {
            let entries = try read(applied.next).prefix { $0.position <= checkpoint.through }
            guard !entries.isEmpty else {
                throw OwnerError.logEndsEarly(
                    partition: self.engine.partition,
                    applied: applied,
                    through: checkpoint.through
                )
            }
            for entry in entries {
                var run = EntryRun(entry)
                var units: Int
                repeat {
                    try checkStop()
                    units = Self.unitsPerSlice
                } while try !run.advance(&self.engine, &units)
                applied = entry.position
            }
        }
        guard self.engine.runningHash == checkpoint.runningHash else {
            throw OwnerError.engineDisagrees(partition: self.engine.partition, position: checkpoint.through)
        }
    }

    /// How much is replayed before it is looked whether to go on.
    private static let unitsPerSlice = 65_536
}

import Engine
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// Snapshots, made and read as a gateway does it, on a disk that fails.
extension FaultRun {
    /// The state that a start begins with, or that the next snapshot is made of.
    mutating func loadState(of partition: PartitionID, notBeyond last: LogPosition) throws -> LoadedState {
        let seed = self.dice.next()
        let snapshots = self.snapshots
        var refusals: [String] = []
        let state = try LoadedState.newest(
            of: partition,
            among: FaultWorld.partitions,
            in: snapshots,
            notBeyond: self.mutation == .snapshotsAhead ? LogPosition(.max) : last,
            seed: seed,
            read: { try snapshots.engine($0, among: FaultWorld.partitions, seed: seed) },
            refused: { refusals.append($0) }
        )
        if state.snapshot != nil { self.checker.noteOccurrence(.snapshotRead) }
        for refusal in refusals {
            if self.damages > 0 { self.checker.noteOccurrence(.snapshotRefused) } else { self.checker.fault(refusal) }
        }
        return state
    }

    /// Asks for snapshots of the partitions.
    mutating func askForSnapshots() {
        for owner in self.owners where owner.applied > .start {
            owner.wantsSnapshot = true
            owner.machine.askForCheckpoint()
        }
    }

    /// Replays the log to a checkpoint, and writes the state.
    mutating func makeSnapshot(_ partition: PartitionID, _ checkpoint: OwnerCheckpoint) {
        let (journal, snapshots) = (self.journal, self.snapshots)
        // Snapshots are made one after the other; one that was asked for before a restart comes too late.
        if let newest = snapshots.snapshots(partition).first, newest.position >= checkpoint.through { return }
        do {
            var state = try self.loadState(of: partition, notBeyond: checkpoint.through)
            let part = self.drawPart(of: checkpoint.through, partition)
            try state.advance(
                to: part?.before ?? checkpoint,
                read: { position in
                    try journal.read(partition, from: position, entriesMax: 16).map { self.mutated($0) }
                },
                checkStop: {}
            )
            if var part { for _ in 0..<part.records { _ = try part.run.applyNext(&state.engine) } }
            let id = SnapshotID(partition: partition, position: checkpoint.through, logTime: state.engine.time)
            if self.dice.chance(self.plan.failedWrites) { return self.checker.noteOccurrence(.snapshotFailed) }
            var encoder = EngineSnapshotEncoder()
            try snapshots.write(id) { encoder.next(state.engine) }
            let all = snapshots.snapshots(partition)
            let kept = SnapshotRetention.kept(of: all, now: state.engine.time, history: .zero)
            for old in all where !kept.contains(old) { snapshots.remove(old) }
            guard self.dice.chance(self.plan.damagedSnapshots) else { return }
            self.damages += 1
            snapshots.damage(id) { frames in frames[self.dice.below(frames.count)] = [] }
        } catch {
            self.checker.fault("partition \(partition): no snapshot: \(error)")
        }
    }

    /// The part of a snapshot's last entry that one with a bug has, and the state before; nil for all of it.
    private mutating func drawPart(
        of position: LogPosition,
        _ partition: PartitionID
    ) -> (before: OwnerCheckpoint, run: EntryRun, records: Int)? {
        let before = LogPosition(position.rawValue - 1)
        guard self.mutation == .snapshotsWithinEntries,
            let hash = self.witnesses[Int(partition.rawValue)].hash(at: before),
            let entry = try? self.journal.read(partition, from: position, entriesMax: 1).first
        else { return nil }
        let count = Array(entry.records).count
        guard count > 1 else { return nil }
        let checkpoint = OwnerCheckpoint(through: before, runningHash: hash)
        return (checkpoint, EntryRun(entry), 1 + self.dice.below(count - 1))
    }
}

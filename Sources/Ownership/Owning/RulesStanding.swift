import Engine
package import Journaling
package import WidgetModel

/// By which decision rules a partition's log was decided behind its newest snapshot, and what that means for this program.
///
/// A log is replayed by the rules that decided it, and a program has one set of them. So rules change only at a snapshot that
/// holds everything committed: a gateway writes one when it is told to end, and what comes behind it is decided by the program
/// that is started next.
package struct RulesStanding: Hashable, Sendable {
    /// What a start has to do.
    package enum Step: Hashable, Sendable {
        /// Nothing: this program's rules decided what the log has.
        case goOn
        /// The snapshot's state is taken over as this program's own.
        case adopt(SnapshotID)
        /// Other rules have to decide what lies behind the snapshot first.
        case settle
    }

    package let partition: PartitionID
    /// The newest snapshot; nil if there is none.
    package let snapshot: SnapshotID?
    /// The version of the rules that decided what lies behind it; nil if nothing was decided yet.
    package let rules: Int?
    /// How many committed entries lie behind it; not counted where the rules are this program's.
    package let entriesBehind: Int

    package init(partition: PartitionID, snapshot: SnapshotID?, rules: Int?, entriesBehind: Int) {
        self.partition = partition
        self.snapshot = snapshot
        self.rules = rules
        self.entriesBehind = entriesBehind
    }

    /// What a program has to do that decides by a version of the rules.
    package func step(of program: Int = Engine.version) -> Step {
        guard let rules = self.rules, rules != program else { return .goOn }
        guard let snapshot = self.snapshot, self.entriesBehind == 0 else { return .settle }
        return .adopt(snapshot)
    }

    /// Looks it up, and changes nothing. Waits for the disk.
    ///
    /// Reads one frame of a snapshot; the log behind it only where it was decided by other rules than this program's.
    ///
    /// - Parameter newestOutput: The partition's newest output, nil if there is none. A snapshot that is ahead of it counts
    ///   for nothing.
    /// - Throws: ``SnapshotError/otherFormat(version:)`` if this program cannot read the newest snapshot at all,
    ///   ``JournalError`` if the disk cannot be read.
    package static func read(
        _ partition: PartitionID,
        newestOutput: OutputEntry?,
        in history: any LogHistory,
        _ snapshots: any SnapshotHistory,
        program: Int = Engine.version
    ) throws -> RulesStanding {
        let through = newestOutput?.record.through ?? .start
        var (newest, rules) = (SnapshotID?.none, newestOutput.map { Int($0.record.engineVersion) })
        for id in try snapshots.snapshots(partition) where id.position <= through {
            // One that is damaged is set aside by the start, which then takes the one before.
            guard let version = try Self.rules(of: id, in: snapshots) else { continue }
            (newest, rules) = (id, version)
            break
        }
        var entriesBehind = 0
        if let rules, rules != program {
            var position = newest?.position ?? .start
            while case let entries = try history.read(partition, from: position.next, entriesMax: Self.entriesPerRead),
                let last = entries.last
            {
                entriesBehind += entries.count
                position = last.position
            }
        }
        return RulesStanding(partition: partition, snapshot: newest, rules: rules, entriesBehind: entriesBehind)
    }

    /// Makes the state of a snapshot this program's own: its rules decide what comes behind it.
    ///
    /// The snapshot is written anew under its place, whole or not at all.
    ///
    /// - Throws: ``SnapshotError`` or ``JournalError`` if it cannot be read or written; it is then as it was.
    package static func adopt(_ id: SnapshotID, among partitions: Int, in store: any SnapshotStore) throws {
        var decoder = EngineSnapshotDecoder(partition: id.partition, partitions: partitions, adoptsRules: true)
        try store.read(id) { try decoder.take($0) }
        let engine = try decoder.finish()
        guard engine.position == id.position else { throw SnapshotError.otherPartition }
        var encoder = EngineSnapshotEncoder()
        try store.write(id) { encoder.next(engine) }
    }

    private static let entriesPerRead = 256

    /// The first frame is all there is to know.
    private struct Enough: Error {}

    /// The version of the rules that led to a snapshot's state; nil if it is damaged. Reads its first frame.
    ///
    /// - Throws: As ``read(_:newestOutput:in:_:program:)``.
    package static func rules(of id: SnapshotID, in snapshots: any SnapshotHistory) throws -> Int? {
        var first: [UInt8]?
        do {
            try snapshots.read(id) { frame in
                first = frame
                throw Enough()
            }
        } catch is Enough {
        } catch let error as JournalError where error.code == .corrupt {
            return nil
        }
        guard let first else { return nil }
        do {
            return try EngineSnapshot.rulesVersion(ofFirst: first)
        } catch SnapshotError.damaged {
            return nil
        }
    }
}

extension RulesStanding: CustomStringConvertible {
    /// The release that brought a version of the rules, as a person reads it.
    package static func program(of rules: Int) -> String {
        Engine.releases[rules].map { "Freshet \($0)" } ?? "another version of Freshet"
    }

    /// `partition 0: 12 entries behind its newest snapshot, decided by rules 1 (Freshet 0.2.0)`.
    package var description: String {
        guard let rules = self.rules else { return "partition \(self.partition): nothing is decided yet" }
        let behind =
            switch (self.entriesBehind, self.snapshot) {
            case (0, .some): "nothing behind its newest snapshot"
            case (let count, .some): "\(count) \(count == 1 ? "entry" : "entries") behind its newest snapshot"
            case (let count, nil): "\(count) \(count == 1 ? "entry" : "entries"), and no snapshot"
            }
        return "partition \(self.partition): \(behind), decided by rules \(rules) (\(Self.program(of: rules)))"
    }
}

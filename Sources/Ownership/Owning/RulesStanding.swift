import Engine
package import Journaling
package import WidgetModel

/// By which decision rules a partition goes on, and the step that a program takes there.
///
/// A log is replayed by the rules that decided it, and a program has one set of them. So rules change only at a snapshot that
/// holds everything committed. The newest output names the rules that go on behind it, also where they are others than those
/// that decided before: such an output is a gate. It has no effects, and goes as far as the one before it.
package struct RulesStanding: Hashable, Sendable {
    /// The step that a start has to take.
    package enum Step: Hashable, Sendable {
        /// Nothing: this program's rules decided the log's entries.
        case goOn
        /// The snapshot's state is written anew as this program's own: the log has passed the gate to its rules.
        case takeOver(SnapshotID)
        /// The gate to this program's rules is to be committed; then the state is taken over.
        case adopt(SnapshotID)
        /// Other rules have to decide the entries behind the snapshot first.
        case settle
    }

    /// A snapshot, and the rules that it names.
    package struct State: Hashable, Sendable {
        package let id: SnapshotID
        package let rules: Int

        package init(id: SnapshotID, rules: Int) {
            self.id = id
            self.rules = rules
        }
    }

    package let partition: PartitionID
    /// The newest snapshot; nil if there is none.
    package let snapshot: State?
    /// The rules that the newest output names; nil if nothing was decided yet.
    package let rules: Int?
    /// How far the newest output goes.
    package let through: LogPosition
    /// How many logged entries lie behind the snapshot; nil where the rules are this program's: counting them would read
    /// the log, and nothing depends on it.
    package let entriesBehind: Int?

    package init(partition: PartitionID, snapshot: State?, rules: Int?, through: LogPosition, entriesBehind: Int?) {
        self.partition = partition
        self.snapshot = snapshot
        self.rules = rules
        self.through = through
        self.entriesBehind = entriesBehind
    }

    /// The step of a program that decides by a version of the rules.
    package func step(of program: Int = Engine.version) -> Step {
        guard let rules = self.rules else { return .goOn }
        guard let snapshot = self.snapshot else { return rules == program ? .goOn : .settle }
        // Where something was decided behind it, another state is needed.
        let isLast = snapshot.id.position == self.through
        guard rules != program else {
            if snapshot.rules == program { return .goOn }
            return isLast ? .takeOver(snapshot.id) : .settle
        }
        return isLast && self.entriesBehind == 0 ? .adopt(snapshot.id) : .settle
    }

    /// Looks it up, and changes nothing. Waits for the disk.
    ///
    /// Reads one frame of a snapshot; the log behind it only where others than this program's rules go on.
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
        var newest: State?
        for id in try snapshots.snapshots(partition) where id.position <= through {
            // One that is damaged is set aside by the start, which then takes the one before.
            guard let version = try Self.rules(of: id, in: snapshots) else { continue }
            newest = State(id: id, rules: version)
            break
        }
        let rules = newestOutput.map { Int($0.record.engineVersion) }
        var entriesBehind: Int?
        if let rules, rules != program {
            var count = 0
            var position = newest?.id.position ?? .start
            while case let entries = try history.read(partition, from: position.next, entriesMax: Self.entriesPerRead),
                let last = entries.last
            {
                count += entries.count
                position = last.position
            }
            entriesBehind = count
        }
        return RulesStanding(
            partition: partition,
            snapshot: newest,
            rules: rules,
            through: through,
            entriesBehind: entriesBehind
        )
    }

    /// The output that names other rules, to be committed behind another one.
    package static func gate(to rules: Int, behind newest: OutputRecord) -> OutputRecord {
        OutputRecord(
            through: newest.through,
            engineVersion: UInt32(rules),
            runningHash: newest.runningHash,
            effects: OutputChunks.pack([])
        )
    }

    /// Makes the state of a snapshot a program's own: its rules decide the entries behind it.
    ///
    /// The snapshot is written anew under its place, whole or not at all. Only once the newest output names those rules.
    ///
    /// - Throws: ``SnapshotError`` or ``JournalError`` if it cannot be read or written; it is then as it was.
    package static func takeOver(
        _ id: SnapshotID,
        among partitions: Int,
        in store: any SnapshotStore,
        as rules: Int = Engine.version
    ) throws {
        let engine = try store.engine(id, among: partitions, rules: rules, adoptsRules: true)
        var encoder = EngineSnapshotEncoder()
        try store.replace(id) { encoder.next(engine) }
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
    /// `partition 0: 12 entries behind its newest snapshot, decided by rules 1 (Freshet 0.2.0)`.
    package var description: String {
        guard let rules = self.rules else { return "partition \(self.partition): nothing is decided yet" }
        let behind =
            switch (self.entriesBehind, self.snapshot) {
            case (nil, let snapshot?) where snapshot.rules != rules && snapshot.id.position < self.through:
                "no snapshot since rules \(snapshot.rules), "
            case (nil, _): ""
            case (0, .some): "nothing behind its newest snapshot, "
            case (let count?, .some): "\(count) \(count == 1 ? "entry" : "entries") behind its newest snapshot, "
            case (let count?, nil): "\(count) \(count == 1 ? "entry" : "entries"), and no snapshot, "
            }
        return "partition \(self.partition): \(behind)decided by rules \(rules) (\(Engine.program(of: rules)))"
    }
}

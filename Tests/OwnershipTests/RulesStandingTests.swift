import Engine
import Journaling
import Ownership
import Testing
import WidgetModel

/// A start's steps with a log that was decided by these rules or others.
@Suite struct RulesStandingTests {
    /// - Parameters:
    ///   - snapshot: The place of the newest snapshot.
    ///   - named: The rules that it names; by default those that go on.
    ///   - rules: Those that go on behind the newest output.
    ///   - through: How far that goes; by default as far as the snapshot.
    private static func standing(
        snapshot: UInt64?,
        named: Int? = nil,
        rules: Int?,
        through: UInt64 = 9,
        behind: Int? = 0
    ) -> RulesStanding {
        RulesStanding(
            partition: PartitionID(0),
            snapshot: snapshot.map { RulesStanding.State(id: Self.id($0), rules: named ?? rules ?? 0) },
            rules: rules,
            through: LogPosition(through),
            entriesBehind: behind
        )
    }

    private static func id(_ position: UInt64) -> SnapshotID {
        SnapshotID(partition: PartitionID(0), position: LogPosition(position), logTime: .epoch)
    }

    @Test(arguments: [
        (Self.standing(snapshot: nil, rules: nil), RulesStanding.Step.goOn),
        (Self.standing(snapshot: nil, rules: 3), .goOn),
        (Self.standing(snapshot: 9, rules: 3), .goOn),
        (Self.standing(snapshot: nil, rules: 2, behind: 1), .settle),
        (Self.standing(snapshot: 9, rules: 2, behind: 1), .settle),
        (Self.standing(snapshot: 9, rules: 2), .adopt(Self.id(9))),
        // To go back is the same.
        (Self.standing(snapshot: 9, rules: 4), .adopt(Self.id(9))),
        (Self.standing(snapshot: 9, rules: 4, behind: 1), .settle),
        // The snapshot is not the last state.
        (Self.standing(snapshot: 8, rules: 2), .settle),
        // Behind a gate to these rules entries may have come, and nothing was decided by others.
        (Self.standing(snapshot: 9, named: 2, rules: 3), .takeOver(Self.id(9))),
        (Self.standing(snapshot: 9, named: 2, rules: 3, behind: 5), .takeOver(Self.id(9))),
        // Its snapshot is gone.
        (Self.standing(snapshot: 8, named: 2, rules: 3), .settle),
        // A gate to others was committed, and their program has not begun.
        (Self.standing(snapshot: 9, named: 3, rules: 4), .adopt(Self.id(9))),
    ])
    func `rules change only at a snapshot that holds everything`(_ standing: RulesStanding, _ step: RulesStanding.Step)
    {
        #expect(standing.step(of: 3) == step)
    }

    /// A log that is only read.
    private struct History: LogHistory {
        let format = JournalFormat(journalID: "rules", partitions: 1, createdAt: .epoch)
        var entries: [LogEntry]

        func head(_ partition: PartitionID) -> LogPosition { LogPosition.start.next }
        func read(_ partition: PartitionID, from position: LogPosition, entriesMax: Int) -> [LogEntry] {
            Array(self.entries.filter { $0.position >= position }.prefix(entriesMax))
        }
        func readOutputs(_ partition: PartitionID, from position: OutputPosition, outputsMax: Int) -> [OutputEntry] {
            []
        }
    }

    /// A snapshot of an owner's state, and the owner's log.
    private static func written() throws -> (store: MemorySnapshots, log: History, newest: OutputEntry, digest: UInt64)
    {
        var log = OwnerLog(hosts: 3)
        try log.machine.start(newest: nil)
        try log.writeAll()
        let store = MemorySnapshots()
        var encoder = EngineSnapshotEncoder()
        let position = log.machine.applied.rawValue
        try store.write(Self.id(position)) { encoder.next(log.machine.engine) }
        let output = log.newestOutput
        let newest = try #require(output)
        let digest = log.machine.engine.stateDigest()
        return (store, History(entries: log.entries), newest, digest)
    }

    /// Behind the table's number and the format's version, each of a byte.
    private static func setRules(_ rules: UInt8, of id: SnapshotID, in store: MemorySnapshots) {
        store.damage(id) { $0[0][2] = rules }
    }

    private static func output(_ newest: OutputEntry, naming rules: Int) -> OutputEntry {
        OutputEntry(position: newest.position, record: RulesStanding.gate(to: rules, behind: newest.record))
    }

    @Test func `the releases say which of them brought which rules, this program's among them`() {
        #expect(Engine.releases[Engine.version] != nil)
        #expect(Engine.releases.keys.sorted() == Array(1...Engine.version))
        let releases = Engine.releases.sorted { $0.key < $1.key }.map {
            $0.value.split(separator: ".").compactMap { Int($0) }
        }
        #expect(releases.allSatisfy { $0.count == 3 })
        for (earlier, later) in zip(releases, releases.dropFirst()) {
            #expect(earlier.lexicographicallyPrecedes(later))
        }
        #expect(Engine.program(of: 1) == "Freshet 0.2.0")
        #expect(Engine.program(of: Engine.version + 1) == "another version of Freshet")
    }

    @Test
    func `the newest output and snapshot tell by which rules the log goes on, and adopting it changes nothing else`()
        throws
    {
        var (store, log, newest, digest) = try Self.written()
        let id = store.snapshots(PartitionID(0))[0]
        let own = try RulesStanding.read(id.partition, newestOutput: newest, in: log, store)
        #expect(own.step() == .goOn)
        #expect(own.entriesBehind == nil)
        #expect(
            "\(own)" == "partition 0: decided by rules \(Engine.version) (\(Engine.program(of: Engine.version)))"
        )
        Self.setRules(7, of: id, in: store)
        let named = Self.output(newest, naming: 7)
        let others = try RulesStanding.read(id.partition, newestOutput: named, in: log, store)
        #expect(others.rules == 7)
        #expect(others.step() == .adopt(id))

        let entry = OwnerLog.entry(id.position.rawValue + 1, [.tick])
        log.entries.append(entry)
        let behind = try RulesStanding.read(id.partition, newestOutput: named, in: log, store)
        #expect(behind.entriesBehind == 1)
        #expect(behind.step() == .settle)
        #expect("\(behind)".contains("1 entry behind its newest snapshot, decided by rules 7"))

        // The gate first: these rules decide all entries behind it, also those that came meanwhile.
        let gated = try RulesStanding.read(id.partition, newestOutput: newest, in: log, store)
        #expect(gated.step() == .takeOver(id))
        try RulesStanding.takeOver(id, among: 1, in: store)
        #expect(try RulesStanding.read(id.partition, newestOutput: newest, in: log, store).step() == .goOn)
        let adopted = try store.engine(id, among: 1).stateDigest()
        #expect(adopted == digest)
    }

    @Test(arguments: [
        (Self.standing(snapshot: nil, rules: nil, behind: nil), "nothing is decided yet"),
        (Self.standing(snapshot: nil, rules: 1, behind: nil), "decided by rules 1 (Freshet 0.2.0)"),
        (Self.standing(snapshot: 9, rules: 1, behind: nil), "decided by rules 1 (Freshet 0.2.0)"),
        (
            Self.standing(snapshot: 8, named: 2, rules: 1, behind: nil),
            "no snapshot since rules 2, decided by rules 1 (Freshet 0.2.0)"
        ),
        (
            Self.standing(snapshot: nil, rules: 1, behind: 4),
            "4 entries, and no snapshot, decided by rules 1 (Freshet 0.2.0)"
        ),
        (
            Self.standing(snapshot: 9, rules: 1),
            "nothing behind its newest snapshot, decided by rules 1 (Freshet 0.2.0)"
        ),
    ])
    func `a person reads how many entries there are only where they were counted`(
        _ standing: RulesStanding,
        _ text: String
    ) {
        #expect("\(standing)" == "partition 0: \(text)")
    }

    @Test func `a state of other rules is not passed over for an earlier one`() throws {
        let (store, _, newest, _) = try Self.written()
        let id = store.snapshots(PartitionID(0))[0]
        Self.setRules(7, of: id, in: store)
        let reason = "the \(id) cannot be used: \(SnapshotError.otherEngine(version: 7))"
        let refused = OwnerError.noState(partition: id.partition, reason: reason)
        #expect(throws: refused) {
            _ = try LoadedState.newest(
                of: id.partition,
                among: 1,
                in: store,
                notBeyond: newest.record.through,
                seed: 1,
                read: { try store.engine($0, among: 1) },
                refused: { _ in }
            )
        }
    }

    @Test
    func `without a snapshot the newest output tells, and a snapshot that is ahead or damaged counts for nothing`()
        throws
    {
        let (store, log, newest, _) = try Self.written()
        let id = store.snapshots(PartitionID(0))[0]
        let output = Self.output(newest, naming: 7)
        let none = try RulesStanding.read(id.partition, newestOutput: output, in: log, MemorySnapshots())
        #expect(none.snapshot == nil)
        #expect(none.entriesBehind == log.entries.count)
        #expect(none.step() == .settle)
        let ahead = try RulesStanding.read(id.partition, newestOutput: nil, in: log, store)
        #expect(ahead.snapshot == nil)
        #expect(ahead.step() == .goOn)
        store.damage(id) { $0[0] = [1] }
        #expect(try RulesStanding.read(id.partition, newestOutput: output, in: log, store).snapshot == nil)
        // A format that this program does not read at all is no damage.
        store.damage(id) { $0[0] = [1, 9, 1] }
        #expect(throws: SnapshotError.otherFormat(version: 9)) {
            try RulesStanding.read(id.partition, newestOutput: output, in: log, store)
        }
        #expect(store.aside.isEmpty)
    }
}

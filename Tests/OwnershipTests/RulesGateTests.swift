import Engine
import Journaling
import Ownership
import Testing
import WidgetModel

/// An owner that ends at an entry, so that other decision rules go on from there.
@Suite struct RulesGateTests {
    private static let other = 2

    private static func started(hosts: Int) throws -> OwnerLog {
        var log = OwnerLog(hosts: hosts)
        try log.machine.start(newest: nil)
        return log
    }

    /// The state that is to be written down; nil if something else is wanted.
    private static func closed(_ log: inout OwnerLog) throws -> OwnerCheckpoint? {
        while let action = try log.run() {
            switch action {
            case .commit(let record, _): try log.write(record)
            case .writeState(let checkpoint): return checkpoint
            default: return nil
            }
        }
        return nil
    }

    @Test func `it decides the entry that it is at and no other, and names the other rules once its state is there`()
        throws
    {
        var log = try Self.started(hosts: 3)
        let (first, _) = try #require(try log.nextOutput())
        // More comes while that is written.
        log.entries = OwnerLog(hosts: 5).entries
        log.machine.announce(LogPosition(6))
        log.machine.closeGate(to: Self.other)
        let early = try log.run()
        #expect(early == nil)
        try log.write(first)
        let closed = try Self.closed(&log)
        let checkpoint = try #require(closed)
        #expect(checkpoint == OwnerCheckpoint(through: first.through, runningHash: first.runningHash))
        #expect(checkpoint.through == LogPosition(4))
        let (waiting, isBehind, hasPassed) = (try log.run(), log.machine.isBehind, log.machine.hasPassedGate)
        #expect(waiting == nil && !isBehind && !hasPassed)

        log.machine.stateWritten()
        let (gate, expected) = try #require(try log.nextOutput())
        let newest = try #require(log.outputs.last)
        #expect(gate == RulesStanding.gate(to: Self.other, behind: newest))
        #expect(gate.through == checkpoint.through && gate.engineVersion == 2 && gate.effects == [0])
        #expect(expected == OutputPosition(UInt64(log.outputs.count)))
        try log.write(gate)
        let rest = try log.run()
        let (isPassed, isStopped, published) = (
            log.machine.hasPassedGate, log.machine.isStopped, log.published.count
        )
        #expect(rest == nil && isPassed && isStopped && published == 9)
    }

    @Test func `where nothing is to be committed there is an output as far as it is first`() throws {
        var log = OwnerLog(hosts: 0)
        try log.machine.start(newest: nil)
        let nothing = try log.run()
        #expect(nothing == nil)
        log.machine.closeGate(to: Self.other)
        let (record, _) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(1) && record.engineVersion == UInt32(Engine.version))
        try log.write(record)
        let closed = try Self.closed(&log)
        #expect(closed?.through == LogPosition(1))
    }

    /// Has a log pass the gate, with a snapshot of the state before it.
    private static func pass(_ log: inout OwnerLog) throws -> (store: MemorySnapshots, id: SnapshotID) {
        log.machine.closeGate(to: Self.other)
        let closed = try Self.closed(&log)
        let checkpoint = try #require(closed)
        let store = MemorySnapshots()
        let id = SnapshotID(partition: OwnerLog.partition, position: checkpoint.through, logTime: OwnerLog.start)
        var encoder = EngineSnapshotEncoder()
        try store.write(id) { encoder.next(log.machine.engine) }
        log.machine.stateWritten()
        try log.writeAll()
        return (store, id)
    }

    @Test func `behind the gate an owner with the rules before does not start, and one with the others goes on`() throws
    {
        var log = try Self.started(hosts: 2)
        let (store, id) = try Self.pass(&log)
        let before = log.outputs.count
        #expect(throws: OwnerError.decidedByOthers(partition: OwnerLog.partition, rules: Self.other)) {
            try log.restart()
        }
        try RulesStanding.takeOver(id, among: 1, in: store, as: Self.other)
        log.machine = OwnerMachine(try store.engine(id, among: 1, rules: Self.other), chunkBytesMax: 1 << 20)
        log.entries = OwnerLog(hosts: 4).entries
        try log.machine.start(newest: log.newestOutput)
        try log.writeAll()
        let new = log.outputs.dropFirst(before)
        #expect(!new.isEmpty && new.allSatisfy { $0.engineVersion == UInt32(Self.other) })
        // Its decisions are those of one owner with all of the log.
        var whole = try Self.started(hosts: 4)
        try whole.writeAll()
        let (mine, theirs) = (log.machine.engine.stateDigest(), whole.machine.engine.stateDigest())
        #expect(mine == theirs)
    }

    @Test(arguments: [true, false]) func `a standby does not go on behind a gate, also one that it did not hear of`(
        hasHeard: Bool
    ) throws {
        var log = try Self.started(hosts: 2)
        _ = try Self.pass(&log)
        let refused = OwnerError.decidedByOthers(partition: OwnerLog.partition, rules: Self.other)
        let (before, newest) = (log.output(log.outputs.count - 1), log.newestOutput)
        let gate = try #require(newest)
        log.machine = OwnerLog.machine()
        try log.machine.standBy(newest: before)
        let nothing = try log.run()
        let (applied, isStandingBy) = (log.machine.applied, log.machine.isStandingBy)
        #expect(nothing == nil && applied == LogPosition(3) && isStandingBy)
        #expect(throws: refused) {
            if hasHeard { try log.machine.takeOutput(gate.record) } else { try log.machine.start(newest: gate) }
        }
        let (rest, isStopped) = (try log.run(), log.machine.isStopped)
        #expect(rest == nil && isStopped == hasHeard)
        // Nor does one begin behind it.
        log.machine = OwnerLog.machine()
        #expect(throws: refused) { try log.machine.standBy(newest: gate) }
    }

    @Test func `an owner whose gate is fenced off has changed nothing`() throws {
        var log = try Self.started(hosts: 1)
        log.machine.closeGate(to: Self.other)
        _ = try Self.closed(&log)
        log.machine.stateWritten()
        _ = try #require(try log.nextOutput())
        let fenced = JournalError(.fenced, "another owner has written")
        #expect(throws: fenced) { try log.machine.committed(.failure(fenced)) }
        let (hasPassed, isStopped) = (log.machine.hasPassedGate, log.machine.isStopped)
        #expect(!hasPassed && isStopped)
        try log.restart()
        try log.writeAll()
    }

    @Test(arguments: [true, false]) func `a gate of unknown outcome is looked up`(isThere: Bool) throws {
        var log = try Self.started(hosts: 1)
        log.machine.closeGate(to: Self.other)
        _ = try Self.closed(&log)
        log.machine.stateWritten()
        let (gate, _) = try #require(try log.nextOutput())
        let unknown = JournalError(.unknownOutcome, "it may have been written")
        try log.machine.committed(.failure(unknown))
        let wanted = try log.run()
        guard case .readNewestOutput? = wanted else {
            Issue.record("it is to be looked up")
            return
        }
        if isThere {
            log.outputs.append(gate)
            try log.machine.takeNewestOutput(log.newestOutput)
            _ = try log.run()
        } else {
            #expect(throws: unknown) { try log.machine.takeNewestOutput(log.newestOutput) }
        }
        let (hasPassed, isStopped) = (log.machine.hasPassedGate, log.machine.isStopped)
        #expect(hasPassed == isThere && isStopped)
    }
}

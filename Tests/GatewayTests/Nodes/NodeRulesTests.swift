import Dispatch
import Engine
import Journaling
import Logging
import Ownership
import TestSupport
import Testing
import WidgetModel

@testable import Partitions

/// Nodes with different decision rules, one of which goes on with a partition where the other one ends.
@Suite struct NodeRulesTests {
    private static let partition = PartitionID(0)
    /// So long that no busy machine uses it up.
    private static var limits: OtherNodes.Limits {
        var limits = OtherNodes.Limits()
        (limits.question, limits.answer) = (.minutes(5), .minutes(5))
        return limits
    }
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// One partition, which the older node has.
    private struct Scene {
        let journal: MemoryJournal
        let snapshots = MemorySnapshots()
        let nodes = MemoryNodes()
        let time = FakeTime()
        let older: MemoryNode
        let newer: MemoryNode

        init() async throws {
            let time = self.time
            self.journal = MemoryJournal(partitions: 1, clock: { time.wall })
            self.older = Self.node(1, rules: 1, self.journal, self.snapshots, self.nodes, time)
            self.newer = Self.node(2, rules: 2, self.journal, self.snapshots, self.nodes, time)
            try await self.older.take(NodeRulesTests.partition)
            _ = try await self.older.log.append(.settings(Sports.settings), to: NodeRulesTests.partition)
            try await self.register("a", at: self.older)
        }

        private static func node(
            _ number: UInt64,
            rules: Int,
            _ journal: MemoryJournal,
            _ snapshots: MemorySnapshots,
            _ nodes: MemoryNodes,
            _ time: FakeTime
        ) -> MemoryNode {
            let limits = NodeRulesTests.limits
            return MemoryNode(number, journal, nodes, time, limits: limits, snapshots: snapshots, rules: rules)
        }

        func node(_ number: UInt64, rules: Int) -> MemoryNode {
            Self.node(number, rules: rules, self.journal, self.snapshots, self.nodes, self.time)
        }

        func register(_ host: String, at node: MemoryNode) async throws {
            let registration = Sports.registration(host, [Sports.instance("w")])
            _ = try await node.log.append(.register(registration), to: NodeRulesTests.partition)
        }

        func adopt(rules: Int) async throws {
            let adoption = RulesAdoption(
                journal: self.journal,
                store: self.snapshots,
                rules: rules,
                authority: .operators,
                logger: NodeRulesTests.logger
            )
            try await adoption.run()
        }

        func pass(_ node: MemoryNode, to rules: Int) async -> PartitionOwner.GateOutcome {
            await node.owners[0].passGate(to: rules, in: self.snapshots)
        }

        /// Does something while the owner's last state is being written down.
        func pass(_ node: MemoryNode, to rules: Int, _ meanwhile: () async throws -> Void) async throws
            -> PartitionOwner.GateOutcome
        {
            let store = SlowSnapshots(self.snapshots)
            async let outcome = node.owners[0].passGate(to: rules, in: store)
            await store.writing()
            do {
                try await meanwhile()
            } catch {
                store.goOn()
                throw error
            }
            store.goOn()
            return await outcome
        }

        var outputs: [OutputEntry] {
            get throws {
                try self.journal.readOutputs(NodeRulesTests.partition, from: .first, outputsMax: .max)
            }
        }

        /// The rules of all outputs, each as often as one follows another.
        var rules: [UInt32] {
            get throws {
                try self.outputs.map(\.record.engineVersion).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
            }
        }

        /// The digest of an engine with the whole log.
        func digest() throws -> UInt64 {
            var engine = Engine(partition: NodeRulesTests.partition, partitions: 1)
            for entry in try self.journal.read(NodeRulesTests.partition, from: LogPosition(1), entriesMax: 999) {
                var run = EntryRun(entry)
                try run.finish(&engine)
            }
            return engine.stateDigest()
        }
    }

    private static func isPassed(_ outcome: PartitionOwner.GateOutcome) -> Bool {
        if case .passed = outcome { true } else { false }
    }

    @Test func `what is accepted meanwhile is decided by the other rules, and no other owner starts`() async throws {
        let scene = try await Scene()
        let first = try await scene.older.owners[0].progress().applied
        let outcome = try await scene.pass(scene.older, to: 2) {
            for number in 0..<20 {
                #expect(await scene.journal.append(.push(Sports.push(UInt64(number), to: "a"))) != nil)
            }
        }
        #expect(Self.isPassed(outcome))
        #expect(scene.older.owners[0].isAway)
        for number in 20..<40 { _ = await scene.journal.append(.push(Sports.push(UInt64(number), to: "a"))) }
        let gate = try #require(try scene.outputs.last)
        #expect(gate.record.through == first && gate.record.engineVersion == 2)
        #expect(scene.snapshots.snapshots(Self.partition).first?.position == gate.record.through)

        await #expect(throws: OwnerError.decidedByOthers(partition: Self.partition, rules: 2)) {
            try await scene.older.take(Self.partition)
        }
        await scene.older.owners[0].giveUpStart()
        await #expect(throws: OwnerError.decidedByOthers(partition: Self.partition, rules: 2)) {
            try await scene.adopt(rules: 1)
        }
        try await scene.adopt(rules: 2)
        // Killed behind that, it is the same again.
        try await scene.adopt(rules: 2)
        try await scene.newer.take(Self.partition)
        try await scene.register("b", at: scene.newer)
        #expect(try scene.rules == [1, 2])
        #expect(try await scene.newer.owners[0].inspect { $0.stateDigest() } == scene.digest())

        // And back.
        #expect(Self.isPassed(await scene.pass(scene.newer, to: 1)))
        try await scene.adopt(rules: 1)
        try await scene.older.take(Self.partition)
        try await scene.register("c", at: scene.older)
        #expect(try scene.rules == [1, 2, 1])
        #expect(try await scene.older.owners[0].inspect { $0.stateDigest() } == scene.digest())
    }

    @Test func `where the state cannot be written down, the rules before go on`() async throws {
        let scene = try await Scene()
        scene.snapshots.failWrites(with: JournalError(.unavailable, "no room"))
        guard case .gaveUp = await scene.pass(scene.older, to: 2) else {
            Issue.record("it is to give up")
            return
        }
        #expect(scene.older.owners[0].isAway)
        scene.snapshots.failWrites(with: nil)
        await #expect(throws: OwnerError.decidedByOthers(partition: Self.partition, rules: 1)) {
            try await scene.adopt(rules: 2)
        }
        try await scene.older.take(Self.partition)
        try await scene.register("b", at: scene.older)
        #expect(Self.isPassed(await scene.pass(scene.older, to: 2)))
        try await scene.adopt(rules: 2)
        try await scene.newer.take(Self.partition)
        #expect(try await scene.newer.owners[0].inspect { $0.stateDigest() } == scene.digest())
    }

    @Test func `an owner that another one with its rules has followed passes no gate`() async throws {
        let scene = try await Scene()
        // The first is taken for dead while it writes.
        let other = scene.node(3, rules: 1)
        let outcome = try await scene.pass(scene.older, to: 2) {
            try await other.take(Self.partition)
            try await scene.register("b", at: other)
            _ = try await other.owners[0].checkpoint()
        }
        guard case .ended = outcome else {
            Issue.record("it is to end")
            return
        }
        #expect(try scene.rules == [1])
        try await scene.register("c", at: other)
        #expect(Self.isPassed(await scene.pass(other, to: 2)))
        #expect(try scene.rules == [1, 2])
    }

    @Test func `a standby ends at the gate, and one with the other rules follows the owner behind it`() async throws {
        let scene = try await Scene()
        let (deaf, old, new) = (scene.node(3, rules: 1), scene.node(4, rules: 1), scene.node(5, rules: 2))
        _ = try await scene.older.owners[0].checkpoint()
        for node in [deaf, old] { try await node.owners[0].standBy() }
        await #expect(throws: OwnerError.decidedByOthers(partition: Self.partition, rules: 1)) {
            try await new.owners[0].standBy()
        }
        #expect(Self.isPassed(await scene.pass(scene.older, to: 2)))
        let refused = OwnerError.decidedByOthers(partition: Self.partition, rules: 2)
        try old.hear(Self.partition)
        await #expect(throws: refused) {
            while try await old.owners[0].standbyProgress() != nil { await Task.yield() }
        }
        await #expect(throws: refused) { try await deaf.take(Self.partition) }
        await deaf.owners[0].giveUpStart()
        // Until its owner has taken the state over there is none to begin with.
        let error = await #expect(throws: OwnerError.self) { try await new.owners[0].standBy() }
        guard case .noState? = error else {
            Issue.record("there is no state yet: \(String(describing: error))")
            return
        }
        try await scene.adopt(rules: 2)
        try await scene.newer.take(Self.partition)
        try await new.owners[0].standBy()
        try await scene.register("b", at: scene.newer)
        await scene.newer.give(Self.partition)
        try await new.take(Self.partition)
        try await scene.register("c", at: new)
        #expect(try scene.rules == [1, 2])
        #expect(try await new.owners[0].inspect { $0.stateDigest() } == scene.digest())
    }

    @Test func `a program that has the log alone commits the gate before it takes the state over`() async throws {
        let scene = try await Scene()
        #expect(Self.isPassed(await scene.pass(scene.older, to: 2)))
        // Nothing is behind it: an older program goes on, too, as if the other one had ended with SIGTERM.
        let adoption = RulesAdoption(journal: scene.journal, store: scene.snapshots, logger: Self.logger)
        #expect(try await adoption.run().count == 1)
        #expect(try scene.rules == [1, 2, 1])
        #expect(try await adoption.run().isEmpty)
        try await scene.older.take(Self.partition)
        try await scene.register("b", at: scene.older)
        #expect(try await scene.older.owners[0].inspect { $0.stateDigest() } == scene.digest())
    }
}

extension MemoryJournal {
    /// Where it is.
    fileprivate func append(_ record: Record) async -> LogPosition? {
        var records = PackedRecords()
        records.append(record.bytes)
        let submission = Submission(partition: PartitionID(0), records: records)
        return await withCheckedContinuation { continuation in
            self.append(submission) { continuation.resume(returning: try? $0.get().position) }
        }
    }
}

/// Snapshots that wait in the middle of being written.
private final class SlowSnapshots: SnapshotStore {
    private let base: MemorySnapshots
    private let begins: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation
    private let gate = DispatchSemaphore(value: 0)

    init(_ base: MemorySnapshots) {
        self.base = base
        (self.begins, self.begin) = AsyncStream.makeStream()
    }

    func writing() async { for await _ in self.begins { return } }
    func goOn() { self.gate.signal() }

    func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        self.begin.yield()
        self.gate.wait()
        try self.base.write(id, next)
    }

    func snapshots(_ partition: PartitionID) -> [SnapshotID] { self.base.snapshots(partition) }
    func read(_ id: SnapshotID, wanting isWanted: (UInt8) -> Bool, _ body: ([UInt8]) throws -> Void) throws {
        try self.base.read(id, wanting: isWanted, body)
    }
    func remove(_ id: SnapshotID) { self.base.remove(id) }
    func setAside(_ id: SnapshotID) { self.base.setAside(id) }
    func firstEntry(_ partition: PartitionID) -> LogPosition { self.base.firstEntry(partition) }
    func trim(through positions: [LogPosition], loggedBefore instant: Instant) -> Int { 0 }
    var newestFile: Int { 1 }
    func endFile() {}
    func trimAll(through positions: [LogPosition]) -> Int { 0 }
    func removeDamaged() {}
}

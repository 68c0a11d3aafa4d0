import Engine
import Journaling
import Partitions
import TestSupport
import WidgetModel

/// Two nodes that share a log of two partitions: each has one.
struct NodeScene {
    static let own = PartitionID(0)
    static let other = PartitionID(1)

    let journal: MemoryJournal
    let nodes = MemoryNodes()
    let time = FakeTime()
    let first: MemoryNode
    let second: MemoryNode

    /// - Parameters:
    ///   - question: How long an owner is looked for; by default so long that no busy machine uses it up.
    ///   - answer: The same for the answers to records, and for searches.
    ///   - snapshots: The snapshots that owners begin with; nil for the log alone.
    init(
        question: Interval = .minutes(5),
        answer: Interval = .minutes(5),
        snapshots: MemorySnapshots? = nil
    ) async throws {
        var limits = OtherNodes.Limits()
        (limits.question, limits.answer) = (question, answer)
        let time = self.time
        self.journal = MemoryJournal(partitions: 2, clock: { time.wall })
        self.first = MemoryNode(1, self.journal, self.nodes, time, limits: limits, snapshots: snapshots)
        self.second = MemoryNode(2, self.journal, self.nodes, time, limits: limits, snapshots: snapshots)
        try await self.first.take(Self.own)
        try await self.second.take(Self.other)
        _ = try await self.first.log.append(.settings(Sports.settings), to: Self.own)
        _ = try await self.second.log.append(.settings(Sports.settings), to: Self.other)
    }

    func entries(_ partition: PartitionID) throws -> Int {
        try self.journal.read(partition, from: LogPosition(1), entriesMax: 99).count
    }

    /// The partition of the second node dies with it, and the first one takes it.
    func move() async throws {
        await self.second.give(Self.other, committing: false)
        try await self.first.take(Self.other)
    }
}

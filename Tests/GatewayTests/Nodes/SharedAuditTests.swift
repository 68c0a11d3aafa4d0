import Engine
import Journaling
import OperatorAPI
import Partitions
import Settings
import Synchronization
import TestSupport
import Testing
import TransportSupport
import WidgetModel

/// The changes of all nodes that share a log, in the audit of each.
@Suite(.timeLimit(.minutes(60))) struct SharedAuditTests {
    private static func asked(_ number: UInt64) -> AuditNote {
        .request(
            AuditedRequest(
                number: number,
                source: OperatorSource(caller: "me", address: "127.0.0.1", request: "r-\(number)"),
                method: "PUT",
                path: "/v1/log-levels",
                body: []
            )
        )
    }

    /// Logs a change in a node's partition.
    private static func note(_ note: AuditNote, at node: MemoryNode, _ partition: PartitionID) async throws {
        _ = try await node.log.append(.audit(note), to: partition)
    }

    /// Logs a change in the only partition of a log without an owner.
    private static func append(_ notes: AuditNote..., to journal: MemoryJournal) {
        var records = PackedRecords()
        for note in notes { records.append { Record.audit(note).encode(into: &$0) } }
        journal.append(Submission(partition: PartitionID(0), records: records)) { _ in }
    }

    private static func said(_ entries: [AuditTrail.Entry]) -> [String] {
        entries.map { "\($0.source.request) \($0.status.map(String.init) ?? "–")" }
    }

    @Test func `a change at one node is in the audit of each, and told live, once`() async throws {
        let scene = try await NodeScene()
        let nodes = [scene.first, scene.second]
        for node in nodes { #expect(try await node.audit.newest().isEmpty) }
        let followings = try nodes.map { try $0.feed.subscribe(after: nil) }
        try await Self.note(Self.asked(1), at: scene.second, NodeScene.other)
        for node in nodes { #expect(Self.said(try await node.audit.newest()) == ["r-1 –"]) }
        try await Self.note(.answer(number: 1, status: 200), at: scene.second, NodeScene.other)
        for node in nodes { #expect(Self.said(try await node.audit.newest()) == ["r-1 200"]) }
        scene.time.pass(.seconds(1))
        try await Self.note(Self.asked(2), at: scene.first, NodeScene.own)
        try await Self.note(.answer(number: 2, status: 400), at: scene.first, NodeScene.own)
        for (node, following) in zip(nodes, followings) {
            #expect(Self.said(try await node.audit.newest()) == ["r-2 400", "r-1 200"])
            var events = following.events.makeAsyncIterator()
            var told: [JSONValue?] = []
            for _ in 1...2 {
                if case .note(.order, let change)? = await events.next()?.event { told.append(change["request"]) }
            }
            #expect(told == [.string("r-1"), .string("r-2")])
        }
    }

    @Test func `between questions it is read at every beat`() async throws {
        let scene = try await NodeScene()
        await scene.first.audit.catchUp()
        let following = Task { await scene.first.audit.follow(every: .milliseconds(1)) }
        try await Self.note(Self.asked(1), at: scene.second, NodeScene.other)
        while scene.first.audit.known.isEmpty { await Task.yield() }
        following.cancel()
        await following.value
    }

    /// Its owner applies nothing of what is in the snapshot that it begins with.
    @Test func `the index says of no entry that it was read, because the partition has come here since`() async throws {
        let snapshots = MemorySnapshots()
        let scene = try await NodeScene(snapshots: snapshots)
        let snapshotter = Snapshotter(
            owners: scene.second.owners,
            journal: scene.journal,
            store: snapshots,
            settings: GatewayConfiguration.Snapshots(history: .zero),
            clock: scene.time.makeClock(),
            logger: RecordedLog().logger
        )
        await scene.first.audit.reach(scene.first.log)
        try await Self.note(Self.asked(1), at: scene.second, NodeScene.other)
        #expect(await snapshotter.makeSnapshot(of: scene.second.owners[1]) != nil)
        await snapshotter.stop()
        await scene.second.give(NodeScene.other)
        #expect(try await scene.first.take(NodeScene.other) == 0)
        await scene.first.audit.reach(scene.first.log)
        #expect(Self.said(try await scene.first.audit.newest()) == ["r-1 –"])
        #expect(Self.said(try await scene.first.restartedAudit.newest()) == ["r-1 –"])
    }

    @Test func `where the newest entries cannot be read it says so, and the next question reads them`() async throws {
        let time = FakeTime()
        let memory = MemoryJournal(partitions: 1, clock: { time.wall })
        let (journal, log) = (LateReadTests.LateJournal(memory), RecordedLog())
        let audit = OperatorAudit(
            history: { memory },
            shared: journal,
            feed: OperatorFeed(epoch: 0),
            logger: log.logger
        )
        #expect(try await audit.newest().isEmpty)
        Self.append(Self.asked(1), to: memory)
        journal.refusals.store(1, ordering: .relaxed)
        await #expect(throws: Problem.self) { try await audit.newest() }
        #expect(log.lines.count == 1 && log.lines[0].contains("the log cannot be read for the audit"))
        #expect(Self.said(try await audit.newest()) == ["r-1 –"])
        audit.close()
        #expect(Self.said(try await audit.newest()) == ["r-1 –"], "what was read is known")
    }

    @Test func `all that came since the start is told live, once, also if a reading failed before`() async throws {
        let time = FakeTime()
        let memory = MemoryJournal(partitions: 1, clock: { time.wall })
        let journal = LateReadTests.LateJournal(memory)
        let feed = OperatorFeed(epoch: 0)
        let readings = Atomic(0)
        Self.append(Self.asked(1), .answer(number: 1, status: 200), to: memory)
        let audit = OperatorAudit(
            history: {
                guard readings.add(1, ordering: .relaxed).newValue > 1 else { throw JournalError(.failing, "the disk") }
                return memory
            },
            shared: journal,
            feed: feed,
            logger: RecordedLog().logger
        )
        let following = try feed.subscribe(after: nil)
        Self.append(Self.asked(2), .answer(number: 2, status: 200), to: memory)
        await #expect(throws: Problem.self, "the first reading") { try await audit.newest() }
        #expect(Self.said(try await audit.newest()) == ["r-2 200", "r-1 200"])
        Self.append(Self.asked(3), .answer(number: 3, status: 200), to: memory)
        journal.refusals.store(1, ordering: .relaxed)
        await #expect(throws: Problem.self, "the newest entries") { try await audit.newest() }
        #expect(Self.said(try await audit.newest()) == ["r-3 200", "r-2 200", "r-1 200"])
        feed.cancel(following)
        var told: [JSONValue?] = []
        for await item in following.events {
            if case .note(.order, let change) = item.event { told.append(change["request"]) }
        }
        #expect(told == [.string("r-2"), .string("r-3")])
    }
}

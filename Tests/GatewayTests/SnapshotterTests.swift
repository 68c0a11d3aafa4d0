import Engine
import History
import Ingest
import Journaling
import Logging
import Ownership
import Partitions
import Settings
import TestSupport
import Testing
import WidgetModel

/// A state is written beside the owner, and a start reads it.
@Suite(.timeLimit(.minutes(60))) struct SnapshotterTests {
    private static func snapshotter(
        _ scene: OwnerScene,
        _ store: MemorySnapshots,
        _ settings: GatewayConfiguration.Snapshots = GatewayConfiguration.Snapshots(history: .zero)
    ) -> Snapshotter {
        Snapshotter(
            owners: scene.owners,
            journal: scene.journal,
            store: store,
            settings: settings,
            clock: scene.time.makeClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Hosts of both of two partitions.
    private static let hosts = ["a", "b", "c", "d", "e", "f", "g", "h"]

    /// Pushes to a host, until they are applied.
    private static func push(_ numbers: ClosedRange<UInt64>, to host: String, _ scene: OwnerScene) async throws {
        for number in numbers {
            _ = try await scene.log.append(.push(Sports.push(number, to: host)), for: HostKey(host))
        }
    }

    /// The owners' states are what their logs say from the first entry on; a tick may come at any time.
    private static func expectReplayed(_ scene: OwnerScene) async throws {
        for owner in scene.owners {
            let (position, digest) = try await owner.inspect { ($0.position, $0.stateDigest()) }
            var engine = Engine(partition: owner.partition, partitions: scene.owners.count)
            var output = EngineOutput()
            let entries = try scene.journal.read(owner.partition, from: .start, entriesMax: 10_000)
            for entry in entries where entry.position <= position {
                for (index, range) in entry.records.enumerated() {
                    try engine.apply(
                        entry.bytes,
                        in: range,
                        recordIndex: index,
                        at: entry.position,
                        logTime: entry.logTime,
                        into: &output
                    )
                }
            }
            #expect(engine.stateDigest() == digest)
        }
    }

    @Test func `where history has to go, two new snapshots take the place of all others and the log goes behind them`()
        async throws
    {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(partitions: 2, snapshots: store)
        // By themselves all would stay.
        let snapshotter = Self.snapshotter(scene, store, GatewayConfiguration.Snapshots(history: .days(30)))
        for host in Self.hosts { try await scene.register(host, instances: 1) }
        for owner in scene.owners { #expect(await snapshotter.makeSnapshot(of: owner) != nil) }
        let before = scene.owners.map { store.snapshots($0.partition)[0].position }
        #expect(try await snapshotter.forgetHistory().files == 1)
        for (index, owner) in scene.owners.enumerated() {
            let kept = store.snapshots(owner.partition)
            #expect(kept.count == 2)
            #expect(kept.allSatisfy { $0.position > before[index] })
            #expect(store.trims.last?.through[index] == kept[1].position)
        }
        #expect(store.newestFile > 1)
        // A state that cannot be written takes nothing with it.
        store.failWrites(with: JournalError(.full, "the disk is full"))
        await #expect(throws: ForgettingError.noSnapshot(partition: PartitionID(0))) {
            try await snapshotter.forgetHistory()
        }
        for owner in scene.owners { #expect(store.snapshots(owner.partition).count == 2) }
        try await scene.settle()
        await snapshotter.stop()
    }

    @Test func `a start reads the newest snapshot and replays only what came behind it`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(partitions: 2, snapshots: store)
        let snapshotter = Self.snapshotter(scene, store)
        for host in ["a", "b", "c", "d"] { try await scene.register(host, instances: 2) }
        try await Self.push(1...5, to: "a", scene)
        for owner in scene.owners { #expect(await snapshotter.makeSnapshot(of: owner) != nil) }
        try await Self.push(4...9, to: "b", scene)
        try await scene.settle()
        await snapshotter.stop()

        let read = scene.restarted()
        let replayed = try await read.start()
        let whole = OwnerScene(scene.journal.reopened(), scene.time)
        let all = try await whole.start()
        #expect(replayed < all)
        try await Self.expectReplayed(read)
        try await Self.expectReplayed(whole)
        #expect(read.directory.count == whole.directory.count)
        for host in ["a", "b", "c", "d"] {
            #expect(read.directory.lookup(Sports.token(host)) == whole.directory.lookup(Sports.token(host)))
            let outstanding = try await read.outstanding(HostKey(host))
            #expect(
                try await whole.outstanding(HostKey(host)) == outstanding
            )
        }
        // Effects that were handed on before the restart are not handed on again, and the next ones are.
        #expect(read.handedOn == [])
        #expect(try await read.register("a", revision: 2, instances: 3).isRegistered(adding: 1))
    }

    @Test func `the last snapshots hold all that is committed, and leave what is due to the next start`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(partitions: 2, snapshots: store)
        let snapshotter = Self.snapshotter(scene, store)
        for host in Self.hosts { try await scene.register(host, instances: 2) }
        try await Self.push(1...5, to: "a", scene)
        let made = await snapshotter.makeLastSnapshots()
        // Decisions that become due by now are not logged any more.
        scene.time.pass(.days(2))
        for (owner, id) in zip(scene.owners, made) {
            #expect(store.snapshots(owner.partition).first == id)
            let last = try #require(id)
            #expect(try scene.journal.read(owner.partition, from: last.position.next, entriesMax: 1).isEmpty)
        }
        // There is nothing to do twice.
        let again = await snapshotter.makeLastSnapshots()
        #expect(again == made)
        #expect(snapshotter.counters.written == 2)
        await snapshotter.stop()
        #expect(try await scene.restarted().start() == 0)
    }

    @Test func `where the disk is full there is no last snapshot, and the gateway goes on ending`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(partitions: 2, snapshots: store)
        let snapshotter = Self.snapshotter(scene, store)
        for host in Self.hosts { try await scene.register(host, instances: 2) }
        store.failWrites(with: JournalError(.full, "the disk is full"))
        #expect(await snapshotter.makeLastSnapshots() == [nil, nil])
        #expect(snapshotter.counters.failed == 2)
        await snapshotter.stop()
    }

    @Test func `a snapshot needs an output to be compared with, and one without effects will do`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(snapshots: store)
        let snapshotter = Self.snapshotter(scene, store)
        // Settings alone have no effects.
        let first = try #require(await snapshotter.makeSnapshot(of: scene.owners[0]))
        #expect(try scene.journal.lastOutput(PartitionID(0))?.record.through == first.position)
        #expect(try scene.outputs() == [[]])
        // Nothing new: the same output, the same snapshot.
        #expect(await snapshotter.makeSnapshot(of: scene.owners[0]) == first)
        #expect(try scene.outputs() == [[]])
        #expect(snapshotter.counters.written == 2)
        #expect(snapshotter.counters.newest == [first])
        await snapshotter.stop()
    }

    @Test func `a damaged snapshot is set aside, and the one before is read`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(snapshots: store)
        let snapshotter = Self.snapshotter(scene, store)
        try await scene.register("a", instances: 2)
        let older = try #require(await snapshotter.makeSnapshot(of: scene.owners[0]))
        try await Self.push(1...3, to: "a", scene)
        let newer = try #require(await snapshotter.makeSnapshot(of: scene.owners[0]))
        #expect(older.position < newer.position)
        await snapshotter.stop()
        // The log in front of the older one is not needed.
        store.setFirstEntry(older.position.next)

        store.damage(newer) { $0[$0.count - 1] = [] }
        let read = scene.restarted()
        #expect(try await read.start() > 0)
        #expect(store.aside == [newer])
        try await Self.expectReplayed(read)

        store.damage(older) { $0.removeLast() }
        let refused = scene.restarted()
        let fault = await #expect(throws: OwnerError.self) { try await refused.start() }
        #expect(fault?.description.contains("the log was trimmed") == true, "\(String(describing: fault))")

        // With the whole log nothing is lost.
        store.setFirstEntry(LogPosition.start.next)
        let replayed = scene.restarted()
        _ = try await replayed.start()
        try await Self.expectReplayed(replayed)
    }

    @Test func `what another engine decided is not taken, and refused where the log does not reach back`() async throws
    {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(snapshots: store)
        let snapshotter = Self.snapshotter(scene, store)
        try await scene.register("a")
        let id = try #require(await snapshotter.makeSnapshot(of: scene.owners[0]))
        await snapshotter.stop()
        // Behind the section and the format's version: the version of the rules.
        store.damage(id) { $0[0][2] -= 1 }
        store.setFirstEntry(id.position.next)
        let refused = scene.restarted()
        let fault = await #expect(throws: OwnerError.self) { try await refused.start() }
        #expect(
            fault?.description.contains(
                "decided by decision rules \(Engine.version - 1), and this program has \(Engine.version): start "
            ) == true,
            "\(String(describing: fault))"
        )
        // It is good for the program that wrote it, and stays.
        #expect(store.aside == [])
        #expect(store.snapshots(PartitionID(0)) == [id])
    }

    @Test func `a snapshot that cannot be written is counted, and nothing is let go`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(snapshots: store)
        let snapshotter = Self.snapshotter(scene, store)
        try await scene.register("a")
        store.failWrites(with: JournalError(.full, "no space left"))
        #expect(await snapshotter.makeSnapshot(of: scene.owners[0]) == nil)
        #expect(snapshotter.counters.failed == 1)
        #expect(store.trims == [])
        store.failWrites(with: nil)
        #expect(await snapshotter.makeSnapshot(of: scene.owners[0]) != nil)
        #expect(snapshotter.counters.written == 1)
        await snapshotter.stop()
    }

    @Test func `two snapshots are kept, and the log behind the older one is let go`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(partitions: 2, snapshots: store)
        let snapshotter = Self.snapshotter(scene, store, GatewayConfiguration.Snapshots(history: .hours(1)))
        var made: [SnapshotID] = []
        for round in UInt64(0)..<5 {
            scene.time.pass(.minutes(50))
            for host in Self.hosts { try await scene.register(host, revision: round + 1, instances: 1 + Int(round)) }
            for owner in scene.owners { made.append(try #require(await snapshotter.makeSnapshot(of: owner))) }
        }
        // Fifty minutes apart: the third newest is the first that is older than the hour of history.
        let kept = store.snapshots(PartitionID(0))
        #expect(kept == made.filter { $0.partition == PartitionID(0) }.suffix(3).reversed())
        let last = try #require(store.trims.last)
        #expect(last.through == [0, 1].map { store.snapshots(PartitionID($0)).last?.position })
        #expect(last.loggedBefore == scene.time.wall - .hours(1))
        // A question about the past begins with the newest state that is old enough.
        let second = try #require(kept.dropFirst().first)
        let start = HistoryStart(store)
        let log = scene.journal
        let instant = kept[0].logTime - .minutes(1)
        let past = try start.engine(of: PartitionID(0), in: log, .newest(notAfter: instant))
        #expect(past.position == second.position)
        #expect(try start.engine(of: PartitionID(0), in: log, .newest(notAfter: .epoch)).position == .start)
        // A partition without two snapshots holds the whole log.
        #expect(store.trims.first?.through == [.start, .start])
        await snapshotter.stop()
    }

    @Test func `snapshots come in time, after enough log, and of idle partitions when they hold the others up`()
        async throws
    {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(snapshots: store)
        let settings = GatewayConfiguration.Snapshots(interval: .minutes(10), logBytesMax: 10_000, history: .hours(2))
        let snapshotter = Self.snapshotter(scene, store, settings)
        await snapshotter.look()
        #expect(snapshotter.counters.written == 0)
        scene.time.pass(.minutes(10))
        await snapshotter.look()
        await snapshotter.look()
        #expect(snapshotter.counters.written == 1)
        scene.time.pass(.minutes(59))
        await snapshotter.look()
        #expect(snapshotter.counters.written == 1)
        // Half of the history: a tick, and then a snapshot of it.
        scene.time.pass(.minutes(1))
        let before = try await scene.owners[0].progress().applied
        await snapshotter.look()
        try await scene.settle()
        #expect(try await scene.owners[0].progress().applied == before.next)
        await snapshotter.look()
        #expect(snapshotter.counters.written == 2)
        #expect(store.snapshots(PartitionID(0)).first?.position == before.next)
        // Ten minutes have not passed, but there is much to replay.
        for revision in UInt64(1)...40 { try await scene.register("a", revision: revision, instances: 20) }
        await snapshotter.look()
        #expect(snapshotter.counters.written == 3)
        await snapshotter.stop()
    }

    @Test func `a partition whose snapshots fail for three intervals is overdue until there is one`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(partitions: 2, snapshots: store)
        let snapshotter = Self.snapshotter(scene, store, GatewayConfiguration.Snapshots(interval: .minutes(10)))
        for owner in scene.owners { #expect(await snapshotter.makeSnapshot(of: owner) != nil) }
        store.failWrites(with: JournalError(.full, "no space left"))
        let host = try #require(Self.hosts.first { PartitionID(of: HostKey($0), among: 2) == PartitionID(1) })
        try await scene.register(host)
        let since = scene.time.wall
        await snapshotter.look()
        for _ in 0..<2 {
            scene.time.pass(.minutes(10))
            await snapshotter.look()
        }
        scene.time.pass(.minutes(10) - .milliseconds(1))
        #expect(snapshotter.counters.overdue == [])
        scene.time.pass(.milliseconds(1))
        #expect(snapshotter.counters.overdue == [Snapshotter.Overdue(partition: PartitionID(1), since: since)])
        store.failWrites(with: nil)
        await snapshotter.look()
        #expect(snapshotter.counters.overdue == [])
        await snapshotter.stop()
    }

    @Test func `the history of the partitions that are here goes, and no other`() async throws {
        let store = MemorySnapshots()
        let scene = try await NodeScene(snapshots: store)
        let snapshotter = Snapshotter(
            owners: scene.first.owners,
            journal: scene.journal,
            store: store,
            settings: GatewayConfiguration.Snapshots(),
            clock: scene.time.makeClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let forgotten = try await snapshotter.forgetHistory()
        #expect(forgotten == ForgottenHistory(partitions: [NodeScene.own], files: 1))
        let kept = store.snapshots(NodeScene.own)
        #expect(kept.count == 2)
        #expect(store.trims.last?.through == [kept[1].position, .start])
        await snapshotter.stop()
    }

    @Test func `a partition that comes back to a node gets its snapshots, however much the node had applied before`()
        async throws
    {
        let store = MemorySnapshots()
        let scene = try await NodeScene(snapshots: store)
        let (node, partition) = (scene.first, NodeScene.own)
        let host = try #require(Self.hosts.first { PartitionID(of: HostKey($0), among: 2) == partition })
        func register(_ revisions: ClosedRange<UInt64>) async throws {
            for revision in revisions {
                let registration = Sports.registration(host, revision: revision, [Sports.instance("\(revision)")])
                _ = try await node.log.append(.register(registration), for: HostKey(host))
            }
        }
        let snapshotter = Snapshotter(
            owners: node.owners,
            journal: scene.journal,
            store: store,
            settings: GatewayConfiguration.Snapshots(interval: .minutes(10), history: .hours(2)),
            clock: scene.time.makeClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await register(1...20)
        let before = try #require(await snapshotter.makeSnapshot(of: node.owners[0]))
        await node.give(partition)
        try await node.take(partition)
        try await register(21...21)
        scene.time.pass(.minutes(10))
        await snapshotter.look()
        #expect(snapshotter.counters.written == 2)
        #expect(try #require(store.snapshots(partition).first).position > before.position)
        await snapshotter.stop()
    }
}

extension RecordAnswer.Result {
    /// Whether it says that so many instances are new.
    fileprivate func isRegistered(adding count: Int) -> Bool {
        if case .registered(let counts) = self { counts.added == count } else { false }
    }
}

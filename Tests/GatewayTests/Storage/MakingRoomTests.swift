import Engine
import Journaling
import Logging
import Partitions
import Settings
import Testing
import WidgetModel

/// A disk that is nearly full loses its history, the oldest first, and nothing that a restart needs.
@Suite(.timeLimit(.minutes(60))) struct MakingRoomTests {
    private let disk = FakeDisk()
    private let store = MemorySnapshots()
    private let scene: OwnerScene
    private let storage: StorageWatch
    private let snapshotter: Snapshotter

    init() async throws {
        self.scene = try await OwnerScene.started(partitions: 2, snapshots: self.store)
        self.storage = self.disk.watch()
        self.snapshotter = Snapshotter(
            owners: self.scene.owners,
            journal: self.scene.journal,
            store: self.store,
            // None comes by itself.
            settings: GatewayConfiguration.Snapshots(interval: .days(1), history: .hours(8)),
            clock: self.scene.time.makeClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            storage: self.storage
        )
        for host in ["a", "b", "c", "d", "e", "f"] { try await self.scene.register(host) }
    }

    /// Lets the disk be so full, and each file of the log that goes give back so much.
    private func fill(mebibytes: Int, perTrim freed: Int) {
        self.disk.use(mebibytes: mebibytes)
        self.store.whenTrimmed { [disk = self.disk] in disk.change { $0.log -= freed * FakeDisk.mebibyte } }
        self.storage.measure()
    }

    /// Snapshots an hour apart, the oldest of them nine hours old.
    private func makeHistory() async throws {
        for hour in UInt64(0)..<10 {
            if hour > 0 { self.scene.time.pass(.hours(1)) }
            for host in ["a", "b", "c", "d", "e", "f"] { try await self.scene.register(host, revision: hour + 2) }
            for owner in self.scene.owners { #expect(await self.snapshotter.makeSnapshot(of: owner) != nil) }
        }
        self.store.forgetTrims()
    }

    @Test func `nothing goes as long as there is room`() async throws {
        try await self.makeHistory()
        self.fill(mebibytes: 899, perTrim: 100)
        await self.snapshotter.look()
        #expect(self.store.trims == [])
        await self.snapshotter.stop()
    }

    @Test func `half of the history goes, if that is enough`() async throws {
        try await self.makeHistory()
        let written = self.snapshotter.counters.written
        self.fill(mebibytes: 900, perTrim: 100)
        await self.snapshotter.look()
        #expect(self.store.trims.map(\.loggedBefore) == [self.scene.time.wall - .hours(4)])
        #expect(self.snapshotter.counters.written == written)
        #expect(self.snapshotter.counters.shortened == 1)
        // There is room now.
        await self.snapshotter.look()
        #expect(self.store.trims.count == 1)
        await self.snapshotter.stop()
    }

    @Test func `more and more of it goes, until it is enough`() async throws {
        try await self.makeHistory()
        self.fill(mebibytes: 1000, perTrim: 40)
        #expect(!self.storage.admits(.traffic))
        await self.snapshotter.look()
        let now = self.scene.time.wall
        #expect(self.store.trims.map { now - $0.loggedBefore } == [.hours(4), .hours(2), .hours(1)])
        #expect(self.storage.admits(.traffic))
        await self.snapshotter.stop()
    }

    @Test func `where that is not enough a snapshot is written at once, and the log goes behind it`() async throws {
        try await self.makeHistory()
        self.fill(mebibytes: 1000, perTrim: 0)
        let before = self.scene.owners.map { self.store.snapshots($0.partition)[0].position }
        await self.snapshotter.look()
        for (index, owner) in self.scene.owners.enumerated() {
            let kept = self.store.snapshots(owner.partition)
            #expect(kept.count == 2)
            #expect(kept.allSatisfy { $0.position > before[index] })
            #expect(self.store.trims.last?.through[index] == kept[1].position)
        }
        // A trim that did not help is not tried again at once, but after a minute or when more has been logged.
        let trims = self.store.trims.count
        await self.snapshotter.look()
        #expect(self.store.trims.count == trims)
        self.storage.begin(bytes: 16_777_216)
        self.storage.end(bytes: 16_777_216, isWritten: true)
        await self.snapshotter.look()
        #expect(self.store.trims.count > trims)
        let again = self.store.trims.count
        self.scene.time.pass(.minutes(1))
        await self.snapshotter.look()
        #expect(self.store.trims.count > again)
        await self.snapshotter.stop()
    }

    @Test func `where there is little room, it is made again before anything is refused`() async throws {
        try await self.makeHistory()
        self.storage.applySettings(StorageBudget.Settings(bytesMax: 164 * FakeDisk.mebibyte))
        self.fill(mebibytes: 90, perTrim: 0)
        await self.snapshotter.look()
        let trims = self.store.trims.count
        #expect(trims > 0)
        self.storage.begin(bytes: 5_242_879)
        self.storage.end(bytes: 5_242_879, isWritten: true)
        await self.snapshotter.look()
        #expect(self.store.trims.count == trims)
        self.storage.begin(bytes: 1)
        self.storage.end(bytes: 1, isWritten: true)
        #expect(self.storage.admits(.traffic))
        await self.snapshotter.look()
        #expect(self.store.trims.count > trims)
        await self.snapshotter.stop()
    }

    @Test func `where there is no room at all it is not made each second`() async throws {
        try await self.makeHistory()
        self.storage.applySettings(StorageBudget.Settings(bytesMax: 0))
        self.fill(mebibytes: 90, perTrim: 0)
        await self.snapshotter.look()
        let trims = self.store.trims.count
        self.storage.begin(bytes: 1_048_575)
        self.storage.end(bytes: 1_048_575, isWritten: true)
        await self.snapshotter.look()
        #expect(self.store.trims.count == trims)
        self.storage.begin(bytes: 1)
        self.storage.end(bytes: 1, isWritten: true)
        await self.snapshotter.look()
        #expect(self.store.trims.count > trims)
        await self.snapshotter.stop()
    }

    @Test func `a snapshot that cannot be written is tried again, and takes nothing with it`() async throws {
        try await self.makeHistory()
        self.fill(mebibytes: 1000, perTrim: 0)
        self.store.failWrites(with: JournalError(.full, "no space left"))
        await self.snapshotter.look()
        for owner in self.scene.owners { #expect(self.store.snapshots(owner.partition).count == 2) }
        #expect(self.snapshotter.counters.failed == 1)
        #expect(self.snapshotter.counters.shortened == 0)
        self.store.failWrites(with: nil)
        self.scene.time.pass(.minutes(1))
        self.fill(mebibytes: 1000, perTrim: 200)
        await self.snapshotter.look()
        #expect(self.snapshotter.counters.shortened == 1)
        #expect(self.storage.admits(.traffic))
        await self.snapshotter.stop()
    }

    @Test func `no more than one snapshot of a partition is there beside the two that a restart needs`() async throws {
        try await self.makeHistory()
        self.fill(mebibytes: 1000, perTrim: 0)
        await self.snapshotter.look()
        #expect(self.store.mostAtOnce == 3)
        await self.snapshotter.stop()
    }
}

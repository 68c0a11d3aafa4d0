import Engine
import Journaling
import Ownership
import Partitions
import Synchronization
import Testing
import WidgetModel

/// Effects that one commit of the output log may not hold are written in pieces.
@Suite(.timeLimit(.minutes(60))) struct OutputChunksTests {
    private static let partition = PartitionID(0)
    private static let instances = 5

    /// One host whose registration reloads all its instances, and nothing else that comes out.
    private static func scene(_ bytesPerCommit: Int) async throws -> OwnerScene {
        let scene = try await OwnerScene.started(
            limits: JournalLimits(outputBytesPerCommit: bytesPerCommit)
        )
        try await scene.register("a", instances: Self.instances)
        try await Self.settle(scene, 1)
        return scene
    }

    /// Waits until the owners have nothing left to commit.
    private static func settle(_ scene: OwnerScene, _ outputsMin: Int) async throws {
        while try await scene.owners[0].progress().uncommittedEffects > 0 || scene.records().count < outputsMin {
            await Task.yield()
        }
        try await scene.settle()
    }

    /// The bytes of the whole output, its count of one byte left out, as the limit is about effects.
    private static func bytes() async throws -> Int {
        let records = try await Self.scene(1 << 20).records()
        #expect(records.count == 1)
        return (records.first?.effects.count ?? 0) - 1
    }

    @Test(arguments: [-1, 0, 1])
    func `an output is cut when it has more bytes than one commit holds, not before`(excess: Int) async throws {
        let bytes = try await Self.bytes()
        let scene = try await Self.scene(bytes - excess)
        let counts = try scene.outputs().map(\.count)
        #expect(counts == (excess > 0 ? [Self.instances - 1, 1] : [Self.instances]))
        #expect(try await scene.owners[0].progress().outputChunks == (excess > 0 ? 1 : 0))
    }

    @Test func `pieces leave the entries unfinished, and the last one ends them`() async throws {
        let whole = try await Self.scene(1 << 20)
        let scene = try await Self.scene(1)
        let records = try scene.records()
        let done = try whole.records()[0]
        #expect(records.map(\.ahead) == [1, 2, 3, 4, 0])
        #expect(records.map(\.through) == [0, 0, 0, 0, done.through.rawValue].map { LogPosition($0) })
        #expect(records.map(\.runningHash) == [0, 0, 0, 0, done.runningHash])
        #expect(try scene.outputs().flatMap { $0 } == whole.outputs().flatMap { $0 })
        #expect(scene.handedOn == whole.handedOn)
    }

    @Test func `what comes while pieces are written goes out behind them`() async throws {
        let scene = try await Self.scene(1)
        try await scene.register("b", instances: 3)
        try await scene.register("c", instances: 2)
        try await Self.settle(scene, Self.instances + 5)
        let hosts = try scene.outputs().flatMap { $0 }.map(\.host.id.rawValue)
        #expect(hosts == Array(repeating: "a", count: 5) + ["b", "b", "b", "c", "c"])
        #expect(try scene.outputs().flatMap { $0 } == scene.handedOn)
        // Each entry has its own end: the pieces of the next one begin where the one before came to.
        let throughs = try scene.records().map(\.through)
        #expect(throughs == throughs.sorted())
    }

    /// A process that dies after so many pieces, whether it was told of the last of them or not.
    @Test(arguments: 1..<4, [false, true])
    func `an owner that dies between two pieces goes on behind the last of them`(
        pieces: Int,
        isOtherSize: Bool
    ) async throws {
        let whole = try await Self.scene(1 << 20)
        let time = FakeTime()
        let journal = MemoryJournal(partitions: 1, limits: JournalLimits(), clock: { time.wall })
        let scene = OwnerScene(journal, time, outputBytesPerCommit: 1)
        let handed = Mutex(0)
        scene.tap { _ in
            let count = handed.withLock { count in
                count += 1
                return count
            }
            guard count == pieces else { return }
            journal.failNextOutput(with: JournalError(.unknownOutcome, "the power went"))
        }
        _ = try await scene.start()
        _ = try await scene.log.appendToAll(.settings(Sports.settings))
        try await scene.register("a", instances: Self.instances)
        for await failure in scene.failures {
            #expect(failure == "0: the power went")
            break
        }
        #expect(try scene.records().map(\.ahead) == (1...pieces).map { UInt64($0) })

        let again = scene.restarted(outputBytesPerCommit: isOtherSize ? 1 << 20 : 1)
        _ = try await again.start()
        try await Self.settle(again, pieces + 1)
        #expect(try again.outputs().flatMap { $0 } == whole.outputs().flatMap { $0 })
        #expect(try again.records().last?.ahead == 0)
        #expect(try again.records().last?.runningHash == whole.records()[0].runningHash)
        #expect(again.handedOn == Array(whole.handedOn[pieces...]))
        #expect(try await again.digests() == whole.digests())
        // Nothing is left over for the next one.
        try await again.register("b")
        try await Self.settle(again, 1)
        let third = again.restarted()
        _ = try await third.start()
        try await Self.settle(third, 1)
        #expect(third.handedOn == [])
    }

    @Test(arguments: [(0, 1), (Self.instances - 1, 2), (Self.instances, 1)])
    func `a piece that the engine does not give again keeps it from starting`(effect: Int, ahead: Int) async throws {
        let scene = try await Self.scene(1)
        let journal = MemoryJournal(partitions: 1, clock: { scene.time.wall })
        for entry in try scene.journal.read(Self.partition, from: .start, entriesMax: 100) {
            journal.append(Submission(partition: Self.partition, records: entry.packed)) { _ in }
        }
        // Another effect than the first, another place than the second's, and more effects than there are.
        let records = try scene.records()
        let effects = records[min(effect + 1, records.count - 1)].effects
        let record = OutputRecord(
            through: .start,
            ahead: UInt64(effect == Self.instances ? Self.instances + 1 : ahead),
            engineVersion: 1,
            runningHash: 0,
            effects: effects
        )
        journal.commitOutput(Self.partition, expected: nil, record) { _ in }
        let again = OwnerScene(journal, scene.time)
        await #expect(throws: OwnerError.engineDisagrees(partition: Self.partition, position: LogPosition(1))) {
            try await again.start()
        }
    }
}

extension OwnerScene {
    fileprivate func records() throws -> [OutputRecord] {
        try self.journal.readOutputs(PartitionID(0), from: .first, outputsMax: 1000).map(\.record)
    }
}

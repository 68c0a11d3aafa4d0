import Dispatch
import Engine
import Ingest
import Journaling
import NIOCore
import NIOPosix
import Ownership
import Partitions
import Synchronization
import TestSupport
import Testing
import WidgetModel

/// An owner that does not go on would let its test wait for ever.
@Suite(.timeLimit(.minutes(60))) struct PartitionOwnerTests {
    private static let partition = PartitionID(0)

    private static func next(_ stream: AsyncStream<some Sendable>) async -> String? {
        for await element in stream { return "\(element)" }
        return nil
    }

    /// Takes so many reloads from the stream, in order.
    private static func take(_ count: Int, _ scene: OwnerScene) async -> [ReloadEffect] {
        var taken: [ReloadEffect] = []
        guard count > 0 else { return taken }
        for await reload in scene.reloads {
            taken.append(reload)
            if taken.count == count { break }
        }
        return taken
    }

    @Test func `an answer reaches the caller that waits for it`() async throws {
        let scene = try await OwnerScene.started()
        #expect(try await scene.register("a", instances: 3) == .registered(RegistrationCounts(added: 3)))
        #expect(
            try await scene.register("a", instances: 2) == .registered(RegistrationCounts(unchanged: 2, removed: 1))
        )
        #expect(try await scene.register("a", revision: 0) == .staleRevision(current: 1))
    }

    @Test func `what is bound is told at once, what is to be reloaded once it is durable`() async throws {
        let scene = try await OwnerScene.started()
        // Registered before the owner's first entry comes: from then on outputs wait.
        scene.journal.observeAppends(Self.partition) { _ in scene.journal.hold() }
        #expect(try await scene.register("a") == .registered(RegistrationCounts(added: 1)))
        try await scene.settle()
        #expect(scene.directory.count == 1)
        #expect(scene.journal.waiting == 1)
        #expect(scene.handedOn == [])
        #expect(try scene.outputs() == [])
        scene.journal.release()
        let reloads = await Self.take(1, scene)
        #expect(reloads.map(\.causes) == [ReloadCauses(.added)])
        #expect(try scene.outputs() == [reloads])
    }

    @Test func `an output that the log does not take is tried again, and its effects come once`() async throws {
        let scene = try await OwnerScene.started()
        for code in [.unavailable, .failing, .full, .readOnly] as [JournalError.Code] {
            scene.journal.failNextOutput(with: JournalError(code, "not now"))
        }
        try await scene.register("a", instances: 2)
        let reloads = await Self.take(2, scene)
        try await scene.register("b")
        let more = await Self.take(1, scene)
        try await scene.settle()
        #expect(scene.handedOn == reloads + more)
        #expect(try scene.outputs() == [reloads, more])
    }

    @Test func `effects that come while an output is written go out behind it`() async throws {
        let scene = try await OwnerScene.started()
        scene.journal.failNextOutput(with: JournalError(.unavailable, "not now"))
        try await scene.register("a")
        try await scene.register("b")
        try await scene.register("c")
        let reloads = await Self.take(3, scene)
        #expect(reloads.map(\.host.id.rawValue) == ["a", "b", "c"])
        // How many share a record depends on when the second attempt comes; their order does not.
        #expect(try scene.outputs().flatMap { $0 } == reloads)
    }

    @Test func `a fenced output stops the partition, and waiting callers are told`() async throws {
        let scene = try await OwnerScene.started()
        let owner = scene.owners[0]
        let waiter = owner.loop.makePromise(of: RecordAnswer.Result.self)
        owner.expectAnswer(at: RecordPlace(position: LogPosition(99), index: 0), waiter)
        scene.journal.commitOutput(
            Self.partition,
            expected: nil,
            OutputRecord(through: LogPosition(1), ahead: 1, engineVersion: 1, runningHash: 0, effects: [])
        ) { _ in }
        try await scene.register("a")
        #expect(await Self.next(scene.failures)?.hasPrefix("0: ") == true)
        await #expect(throws: JournalError.self) { try await waiter.futureResult.get() }
        #expect(try await owner.progress().hasFailed)
        #expect(scene.handedOn == [])
        await #expect(
            throws: Problem(.unavailable, "the partition of this request has stopped; send it again later")
        ) {
            try await scene.register("b")
        }
        #expect(try await owner.ask(HostQuestion(HostKey("b"))) == nil)
    }

    @Test func `an output of unknown outcome that was written is taken for written`() async throws {
        let scene = try await OwnerScene.started()
        scene.journal.failNextOutput(with: JournalError(.unknownOutcome, "sync failed"), isStored: true)
        try await scene.register("a")
        let first = await Self.take(1, scene)
        try await scene.register("b")
        let second = await Self.take(1, scene)
        try await scene.settle()
        #expect(scene.handedOn == first + second)
        #expect(try scene.outputs() == [first, second])
        #expect(try await scene.owners[0].progress().hasFailed == false)
    }

    @Test func `an output of unknown outcome that is not there stops the partition, and a restart makes up for it`()
        async throws
    {
        let scene = try await OwnerScene.started()
        try await scene.register("a")
        let first = await Self.take(1, scene)
        scene.journal.failNextOutput(with: JournalError(.unknownOutcome, "sync failed"))
        try await scene.register("b")
        #expect(await Self.next(scene.failures) == "0: sync failed")
        #expect(scene.handedOn == first)

        let again = scene.restarted()
        #expect(try await again.start() == 3)
        let second = await Self.take(1, again)
        #expect(second.map(\.host.id.rawValue) == ["b"])
        #expect(try again.outputs() == [first, second])
    }

    @Test func `a restart gives the same state and hands on exactly what no output record holds`() async throws {
        let scene = try await OwnerScene.started(partitions: 3)
        for number in 0..<20 { try await scene.register("host-\(number)", instances: 2) }
        for number in 0..<5 as Range<UInt64> {
            let push = Sports.push(number, to: "host-\(number)")
            _ = try await scene.log.append(.push(push), for: HostKey("host-\(number)"))
        }
        try await scene.settle()
        let committed = try (0..<3).map { try scene.outputs($0).flatMap { $0 } }
        #expect(scene.handedOn.count == committed.joined().count)

        // From here on nothing is written but entries: the process dies before any output is.
        let journal = scene.journal
        for number in 0..<3 { journal.observeAppends(PartitionID(UInt16(number))) { _ in journal.hold() } }
        var builder = SubmissionBuilder(partitions: 3)
        let lost = Set((20..<26).map { HostKey("host-\($0)") })
        for host in lost.sorted() {
            _ = builder.append(.register(Sports.registration(host.id.rawValue, [Sports.instance("a")])), for: host)
        }
        journal.hold()
        for submission in builder.takeSubmissions() { journal.append(submission) { _ in } }
        journal.release()
        try await scene.settle()
        let again = scene.restarted()
        let before = try (0..<3).map { try again.outputs($0).flatMap { $0 }.count }
        #expect(try await again.start() > 0)
        #expect(try await again.digests() == scene.digests())
        try await again.settle()
        let after = try (0..<3).map { try again.outputs($0).flatMap { $0 } }
        #expect(again.handedOn.count == after.joined().count - before.reduce(0, +))
        #expect(Set(after.joined().map(\.id)).count == after.joined().count)
        #expect(lost.isSubset(of: Set(after.joined().map(\.host))))
        #expect(again.directory.count == scene.directory.count)
    }

    @Test func `an engine that decides differently does not start`() async throws {
        let scene = try await OwnerScene.started()
        let again = scene.restarted()
        again.journal.commitOutput(
            Self.partition,
            expected: nil,
            OutputRecord(through: LogPosition(1), engineVersion: 1, runningHash: 12, effects: [])
        ) { _ in }
        await #expect(throws: OwnerError.engineDisagrees(partition: Self.partition, position: LogPosition(1))) {
            try await again.start()
        }
    }

    @Test func `a log that no engine can read does not start`() async throws {
        let time = FakeTime()
        let journal = MemoryJournal(partitions: 1, clock: { time.wall })
        var records = PackedRecords()
        records.append([0xFF, 0xFF])
        journal.append(Submission(partition: Self.partition, records: records)) { _ in }
        await #expect(throws: EngineError.self) { try await OwnerScene(journal, time).start() }
    }

    @Test func `an entry that the engine cannot read stops a running partition`() async throws {
        let scene = try await OwnerScene.started()
        var records = PackedRecords()
        records.append([0xFF, 0xFF])
        scene.journal.append(Submission(partition: Self.partition, records: records)) { _ in }
        #expect(await Self.next(scene.failures)?.hasPrefix("0: record at position 2 cannot be read") == true)
    }

    @Test func `more entries than one turn applies are applied all the same`() async throws {
        let scene = try await OwnerScene.started()
        // Records that are appended while the owner writes join one entry: the owner waits until all are there.
        let all = DispatchSemaphore(value: 0)
        scene.owners[0].loop.execute { all.wait() }
        for number in 0..<300 {
            var builder = SubmissionBuilder(partitions: 1)
            let host = "host-\(number)"
            _ = builder.append(.register(Sports.registration(host, [Sports.instance("a")])), for: HostKey(host))
            for submission in builder.takeSubmissions() { scene.journal.append(submission) { _ in } }
        }
        all.signal()
        #expect(Set(await Self.take(300, scene).map(\.host)).count == 300)
        let applied = try await scene.owners[0].progress().applied
        #expect(applied == LogPosition(301))
        let again = scene.restarted()
        let replayed = try await again.start()
        #expect(replayed == 301)
        #expect(try await again.digests() == scene.digests())
        #expect(again.handedOn == [])
    }

    @Test func `an owner that is told to stop applies no further record, and the next start does`() async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let scene = try await OwnerScene.started(loops: loops)
        let owner = scene.owners[0]
        try await scene.register("a")
        let before = try await owner.progress().applied
        let isTold = DispatchSemaphore(value: 0)
        owner.loop.execute { isTold.wait() }
        let waiter = owner.loop.makePromise(of: RecordAnswer.Result.self)
        owner.expectAnswer(at: RecordPlace(position: before.next, index: 0), waiter)
        for host in ["b", "c"] {
            var builder = SubmissionBuilder(partitions: 1)
            _ = builder.append(.register(Sports.registration(host, [Sports.instance("a")])), for: HostKey(host))
            for submission in builder.takeSubmissions() { scene.journal.append(submission) { _ in } }
        }
        owner.stop()
        isTold.signal()
        await #expect(throws: OwnerError.shutDown(partition: Self.partition)) { try await waiter.futureResult.get() }
        let after = try await owner.progress()
        #expect(after.hasFailed && after.applied == before && after.announced > before)

        let stopped = scene.restarted()
        stopped.owners[0].stop()
        await #expect(throws: OwnerError.shutDown(partition: Self.partition)) { try await stopped.start() }
        let again = scene.restarted()
        _ = try await again.start()
        for host in ["a", "b", "c"] { #expect(try await again.owners[0].ask(HostQuestion(HostKey(host))) != nil) }
        try await loops.shutdownGracefully()
    }

    @Test func `a burst is applied in slices, and questions are answered in between`() async throws {
        let scene = try await OwnerScene.started()
        let owner = scene.owners[0]
        var builder = SubmissionBuilder(partitions: 1)
        let widgets = ["a", "b", "c"].map { Sports.instance($0) }
        for host in (0..<3000).map({ HostKey("host-\($0)") }) {
            _ = builder.append(.register(Sports.registration(host.id.rawValue, widgets)), for: host)
        }
        for submission in builder.takeSubmissions() { scene.journal.append(submission) { _ in } }
        #expect(Set(await Self.take(9000, scene).map(\.host)).count == 3000)
        scene.time.pass(.hours(1))
        var (pushes, partial) = (UInt64(0), 0)
        // The first reloads all of them; those after it wait.
        while pushes < 2 || (partial == 0 && pushes < 100) {
            pushes += 1
            var push = Sports.push(pushes, to: "")
            push.target = .app(Sports.app)
            let id = push.id
            let record = Record.push(push)
            async let answer = scene.log.appendToAll(record)
            var isApplied = false
            while !isApplied {
                guard let view = try await owner.ask(PushesQuestion([id])).first else { continue }
                isApplied = view.isApplied
                #expect(view.counts.total == view.matched)
                guard !isApplied else { break }
                partial += 1
                #expect(!view.isComplete && view.matched < 9000)
                // A question about progress waits until the entry is applied.
                #expect(try await owner.ask(ProgressQuestion()).totals.matched == Int(pushes) * 9000)
            }
            #expect(try await answer == [.push(matched: 9000, isRepeat: false)])
            if pushes == 1 { _ = await Self.take(9000, scene) }
        }
        #expect(partial > 0)
        let again = scene.restarted()
        _ = try await again.start()
        #expect(try await again.digests() == scene.digests())
    }

    @Test func `a timer that is due becomes a tick in the log`() async throws {
        let scene = try await OwnerScene.started()
        try await scene.register("a")
        try await scene.settle()
        let host = HostKey("a")
        #expect(try await scene.outstanding(host).count == 1)

        // Two days without the gateway: the reload's acknowledgement was due within one.
        scene.time.pass(.days(2))
        let again = scene.restarted()
        let (positions, position) = AsyncStream.makeStream(of: LogPosition.self)
        again.journal.observeAppends(Self.partition) { position.yield($0) }
        #expect(try await again.start() == 2)
        #expect(await Self.next(positions) == "3")
        let entries = try again.journal.read(Self.partition, from: LogPosition(3), entriesMax: 10)
        #expect(entries.map(\.bytes) == [[1] + Record.tick.bytes])
        try await again.settle()
        #expect(try await again.outstanding(host) == [])
    }

    @Test func `a timer that fires before the log's clock is there is no tick`() async throws {
        let milliseconds = Mutex<Int64>(0)
        let reads = Mutex(0)
        let clock = LogClock(
            monotonicNanoseconds: {
                reads.withLock { $0 += 1 }
                return UInt64(milliseconds.withLock { $0 }) * 1_000_000
            },
            wall: { Sports.start + .milliseconds(milliseconds.withLock { $0 }) }
        )
        let scene = try await OwnerScene.started(clock: clock)
        try await scene.register("a")
        try await scene.settle()
        let due = try #require(try await scene.owners[0].ask(ProgressQuestion()).nextTimer)
        milliseconds.withLock { $0 = (due - Sports.start).milliseconds - 1 }
        // Arms the timer anew, a millisecond ahead; the loop's time goes on, and the log's does not.
        try await scene.register("b")
        let before = reads.withLock { $0 }
        while reads.withLock({ $0 }) < before + 20 { await Task.yield() }
        #expect(try await scene.owners[0].progress().applied == LogPosition(3))

        let (positions, position) = AsyncStream.makeStream(of: LogPosition.self)
        scene.journal.observeAppends(Self.partition) { position.yield($0) }
        milliseconds.withLock { $0 += 1 }
        #expect(await Self.next(positions) == "4")
        let entries = try scene.journal.read(Self.partition, from: LogPosition(4), entriesMax: 10)
        #expect(entries.map(\.bytes) == [[1] + Record.tick.bytes])
        #expect(entries.map(\.logTime) == [due])
    }
}

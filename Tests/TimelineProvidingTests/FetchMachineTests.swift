import Engine
import Ownership
import Testing
import TimelineProviding
import Timelines
import WidgetModel

@Suite struct FetchMachineTests {
    /// A desk whose provider was asked about its widgets, and that request.
    private static func asked(
        widgets: Int = 1,
        _ change: (inout FetchLimits) -> Void = { _ in }
    ) throws -> (FetchDesk, number: Int, reloads: [ReloadID]) {
        let desk = try FetchDesk(widgets: widgets, change)
        desk.machine.takeReloads(issued: desk.issued)
        let request = try #require(desk.run().requests.first)
        return (desk, request.number, request.reloads)
    }

    @Test func `a reload is asked about, its timeline stored, and it is over`() throws {
        let (desk, number, reloads) = try Self.asked(widgets: 2)
        #expect(reloads == desk.issued)
        desk.answer(number, reloads)
        let store = try #require(desk.run().stores.first)
        #expect(store.exchange == .request(number) && store.timelines.map(\.subject.reload) == reloads)
        try desk.store(store.exchange, store.timelines)
        #expect(desk.run() == [.forget(reloads)])
        #expect(desk.machine.count == 0 && !reloads.contains(where: desk.isOut))
        #expect(desk.machine.health.lastSuccess == desk.now)
        let due = desk.machine.nextDue(desk.now)
        #expect(due == nil)
    }

    @Test func `what is taken in twice is asked about once`() throws {
        let desk = try FetchDesk(widgets: 1)
        desk.machine.takeReloads(issued: desk.issued + desk.issued)
        desk.machine.takeReloads(issued: desk.issued)
        desk.machine.lookForReloads(in: FetchDesk.partition)
        #expect(desk.run().requests.count == 1)
        desk.machine.takeReloads(issued: desk.issued)
        #expect(desk.run() == [])
        #expect(desk.machine.count == 1)
    }

    // MARK: Partitions that do not answer

    @Test func `reloads whose partition does not answer are searched for until it does`() throws {
        let desk = try FetchDesk(widgets: 3)
        desk.isSilent = true
        desk.machine.takeReloads(issued: desk.issued)
        for searched in 0...2 {
            #expect(desk.run() == [])
            #expect(desk.searches == searched)
            let due = desk.machine.nextDue(desk.now)
            #expect(due == desk.now + FetchMachine.silencePause)
            desk.now = desk.now + FetchMachine.silencePause
        }
        desk.isSilent = false
        #expect(desk.run().requests.map(\.reloads) == [desk.issued])
    }

    @Test(arguments: [false, true])
    func `a partition that does not answer keeps its reloads, before a request and behind its answer`(
        isAnswered: Bool
    ) throws {
        let desk = try FetchDesk(widgets: 2)
        desk.machine.takeReloads(issued: desk.issued)
        if isAnswered {
            let request = try #require(desk.run().requests.first)
            desk.answer(request.number, request.reloads)
        } else if case .findSubjects(let partition, let reloads)? = desk.machine.next(now: desk.now) {
            // The subjects are found, what is wanted of them is not.
            desk.machine.takeSubjects(desk.subjects(reloads), of: reloads, in: partition, now: desk.now) { _ in true }
        }
        desk.isSilent = true
        #expect(desk.run().requests.isEmpty)
        #expect(desk.machine.count == 2)
        desk.isSilent = false
        desk.now = desk.now + .seconds(2)
        #expect(desk.run().requests.map { Set($0.reloads) } == [Set(desk.issued)])
    }

    // MARK: Room

    @Test func `reloads without room are searched for when half of it is free, and none is asked about twice`() throws {
        let desk = try FetchDesk(widgets: 40) {
            $0.waitingMax = 16
            $0.batchMax = 4
            $0.inFlightMax = 1
        }
        desk.machine.takeReloads(issued: desk.issued)
        #expect(desk.machine.count == 16 && desk.machine.planner.counters.overflowed == 24)
        var asked: [ReloadID] = []
        while let request = desk.run().requests.first {
            asked += request.reloads
            desk.answer(request.number, request.reloads)
            let store = try #require(desk.run().stores.first)
            try desk.store(store.exchange, store.timelines)
        }
        #expect(asked.count == 40 && Set(asked) == Set(desk.issued))
        #expect(desk.machine.count == 0)
    }

    @Test func `a search comes to its end, also if nothing that it finds can be asked about`() throws {
        let desk = try FetchDesk(widgets: 40) { $0.waitingMax = 4 }
        desk.machine.takeReloads(issued: desk.issued)
        // Over by the machine's clock, and not by the log's.
        desk.now = desk.now + .hours(1000)
        #expect(desk.run() == [])
        #expect((20...60).contains(desk.searches), "\(desk.searches)")
        #expect(desk.machine.count == 0)
        // Those that had room are found once more.
        #expect(desk.machine.planner.counters.expired == 44)
    }

    // MARK: Answers

    @Test(arguments: [(promises: false, wait: Interval.seconds(1)), (true, .seconds(60))])
    func `of an answer with a part only, the rest is asked about again, later if a call-back is promised`(
        promises: Bool,
        wait: Interval
    ) throws {
        let (desk, number, reloads) = try Self.asked(widgets: 2)
        desk.answer(number, [reloads[0]], promises: promises)
        let store = try #require(desk.run().stores.first)
        try desk.store(store.exchange, store.timelines)
        #expect(desk.run() == [.forget([reloads[0]])])
        let due = desk.machine.nextDue(desk.now)
        #expect(due.map { $0 - desk.now <= wait && wait.milliseconds <= 2 * ($0 - desk.now).milliseconds } == true)
        desk.now = desk.now + wait
        #expect(desk.run().requests.map(\.reloads) == [[reloads[1]]])
    }

    @Test func `what cannot be stored is asked about again, and so is what the engine does not hold`() throws {
        let results: [(FetchStored, refused: Int)] = [
            (.failed("the disk is full"), 0), (.stored([:]), 0), (.stored([Fixtures.reload(0): .taken]), 0),
        ]
        for (result, refused) in results {
            let (desk, number, reloads) = try Self.asked()
            desk.answer(number, reloads)
            let store = try #require(desk.run().stores.first)
            desk.machine.takeStored(result, of: store.exchange, now: desk.now)
            desk.run()
            desk.now = desk.now + .seconds(1)
            #expect(desk.run().requests.map(\.reloads) == [reloads])
            #expect(desk.machine.timelinesRefused == refused)
        }
        let (desk, number, reloads) = try Self.asked()
        desk.answer(number, reloads)
        let store = try #require(desk.run().stores.first)
        desk.machine.takeStored(.stored([reloads[0]: .refused("too many entries")]), of: store.exchange, now: desk.now)
        #expect(desk.run() == [.tellFault("too many entries")])
        #expect(desk.machine.timelinesRefused == 1 && desk.machine.count == 1)
    }

    @Test func `of an instance a late answer is not shown over one that was asked for after it`() throws {
        let desk = try FetchDesk(widgets: 1)
        desk.machine.takeReloads(issued: desk.issued)
        let first = try #require(desk.run().requests.first)
        desk.now = desk.now + .minutes(1)
        try desk.reloadAll()
        desk.machine.takeReloads(issued: desk.issued)
        let second = try #require(desk.run().requests.first)
        #expect(first.reloads != second.reloads)
        desk.answer(second.number, second.reloads, saying: "new")
        let store = try #require(desk.run().stores.first)
        desk.answer(first.number, first.reloads, saying: "old")
        #expect(desk.run().stores.isEmpty)
        try desk.store(store.exchange, store.timelines)
        desk.run()
        // It is asked about anew.
        desk.now = desk.now + .seconds(1)
        #expect(desk.run().requests.map(\.reloads) == [first.reloads])
    }

    @Test func `an answer to a request that has an answer changes nothing`() throws {
        let (desk, number, reloads) = try Self.asked()
        let failure = TargetHealth.Answer(.failure, status: 503, reason: "status 503", at: desk.now)
        desk.machine.takeAnswer(.failure(failure, retryAfter: nil), to: number, now: desk.now)
        desk.answer(number, reloads)
        desk.machine.takeAnswer(.failure(failure, retryAfter: nil), to: number, now: desk.now)
        #expect(desk.run() == [.tellFault("status 503")])
        #expect(desk.machine.health.attempts == 1 && desk.machine.planner.counters.failedRequests == 1)
    }

    @Test func `a request that is not sent yet waits when another one fails`() throws {
        let desk = try FetchDesk(widgets: 2) {
            $0.batchMax = 1
            $0.failuresMax = 1
        }
        desk.machine.takeReloads(issued: [desk.issued[0]])
        let first = try #require(desk.run().requests.first)
        desk.machine.takeReloads(issued: [desk.issued[1]])
        var second: (FetchExchange, [ReloadID])?
        while second == nil, let action = desk.machine.next(now: desk.now) {
            if case .findWanted(let exchange, let reloads) = action { second = (exchange, reloads) }
            if case .findSubjects(let partition, let reloads) = action {
                desk.machine.takeSubjects(desk.subjects(reloads), of: reloads, in: partition, now: desk.now) { _ in true
                }
            }
        }
        let failure = TargetHealth.Answer(.failure, status: 503, reason: "status 503", at: desk.now)
        desk.machine.takeAnswer(.failure(failure, retryAfter: nil), to: first.number, now: desk.now)
        let (exchange, reloads) = try #require(second)
        desk.machine.takeWanted(FetchWanted(subjects: desk.subjects(reloads)), of: exchange, now: desk.now)
        #expect(desk.run().requests.isEmpty)
        #expect(desk.machine.count == 2 && desk.machine.planner.requestsInFlight == 0)
        desk.now = desk.now + .seconds(5)
        #expect(desk.run().requests.count == 1)
    }

    // MARK: Call-backs

    @Test func `a call-back is taken once, and only of what is out`() throws {
        let (desk, number, reloads) = try Self.asked(widgets: 2)
        desk.answer(number, [], promises: true)
        desk.run()
        let parts: [ReloadID: FetchPart] = [
            reloads[0]: .timeline(desk.timeline("1")), Fixtures.reload(99): .timeline(desk.timeline("2")),
        ]
        _ = desk.machine.callBack(parts)
        let store = try #require(desk.run().stores.first)
        #expect(store.exchange == .callBack(1) && store.timelines.map(\.subject.reload) == [reloads[0]])
        try desk.store(store.exchange, store.timelines)
        #expect(desk.run() == [.answerCallBack(1, taken: 1)])
        _ = desk.machine.callBack(parts)
        #expect(desk.run() == [.answerCallBack(2, taken: 0)])
        #expect(desk.machine.count == 1)
    }

    @Test func `two that bring the timeline of one reload store it once`() throws {
        let (desk, number, reloads) = try Self.asked()
        _ = desk.machine.callBack([reloads[0]: .timeline(desk.timeline("called"))])
        let store = try #require(desk.run().stores.first)
        desk.answer(number, reloads, saying: "answered")
        #expect(desk.run().stores.isEmpty)
        try desk.store(store.exchange, store.timelines)
        #expect(desk.run().contains(.answerCallBack(1, taken: 1)))
        #expect(desk.machine.count == 0)
    }

    // MARK: Content

    @Test(arguments: [(answer: "x", isLogged: false), ("y", true)])
    func `lost content is asked for, and logged only if it is another timeline; it costs nothing`(
        answer: String,
        isLogged: Bool
    ) throws {
        let (desk, number, reloads) = try Self.asked()
        desk.answer(number, reloads, saying: "x")
        let first = try #require(desk.run().stores.first)
        try desk.store(first.exchange, first.timelines)
        desk.run()

        let charged = try #require(desk.charged)
        desk.machine = FetchMachine(limits: FetchLimits(), name: "com.example.scores/scores")
        desk.contents = []
        desk.machine.lookForReloads(in: FetchDesk.partition)
        desk.machine.restoreContent(in: FetchDesk.partition)
        let request = try #require(desk.run().requests.first)
        desk.answer(request.number, request.reloads, saying: answer)
        let store = try #require(desk.run().stores.first)
        #expect(store.timelines.map { $0.report != nil } == [isLogged])
        try desk.store(store.exchange, store.timelines)
        #expect(desk.run() == [.forget(request.reloads)])
        #expect(desk.machine.count == 0 && desk.charged == charged)
    }

    @Test func `every hour reloads and content are looked for that no event has named`() throws {
        let desk = try FetchDesk(widgets: 2)
        desk.machine.lookForReloads(in: FetchDesk.partition)
        let first = try #require(desk.run().requests.first)
        desk.answer(first.number, first.reloads)
        let store = try #require(desk.run().stores.first)
        try desk.store(store.exchange, store.timelines)
        desk.run()
        desk.contents = []
        let next = desk.machine.nextDue(desk.now)
        let due = try #require(next)
        #expect(due > desk.now && due <= desk.now + FetchMachine.roundInterval)
        desk.now = due - .milliseconds(1)
        #expect(desk.run() == [])
        desk.now = due
        #expect(desk.run().requests.first?.reloads.count == 2)
    }

    @Test func `a call-back about content that is not asked for is not taken`() throws {
        let (desk, number, reloads) = try Self.asked()
        desk.answer(number, reloads)
        let first = try #require(desk.run().stores.first)
        try desk.store(first.exchange, first.timelines)
        desk.run()
        desk.contents = []
        _ = desk.machine.callBack([reloads[0]: .timeline(desk.timeline("other"))])
        #expect(desk.run() == [.answerCallBack(1, taken: 0)])
    }

    // MARK: Placeholders, and the end

    @Test func `timelines wait for the placeholder of their context, which is asked for once`() throws {
        let desk = try FetchDesk(widgets: 3)
        desk.hasPlaceholder = false
        desk.machine.takeReloads(issued: desk.issued)
        guard case .askForPlaceholder(let context)? = desk.run().first else {
            Issue.record("no question")
            return
        }
        #expect(desk.run() == [] && desk.machine.count == 3)
        desk.machine.takePlaceholder(of: context, isThere: false, now: desk.now)
        #expect(desk.run().requests.map(\.reloads) == [desk.issued])
    }

    @Test func `one that is closed asks nothing, and ends what it has begun`() throws {
        let (desk, number, reloads) = try Self.asked(widgets: 2)
        _ = desk.machine.callBack([reloads[0]: .timeline(desk.timeline("1"))])
        desk.machine.close()
        let store = try #require(desk.run().stores.first)
        try desk.store(store.exchange, store.timelines)
        #expect(desk.run() == [.answerCallBack(1, taken: 1)])
        let failure = TargetHealth.Answer(.failure, status: nil, reason: "cancelled", at: desk.now)
        desk.machine.takeAnswer(.failure(failure, retryAfter: nil), to: number, now: desk.now)
        desk.machine.lookForReloads(in: FetchDesk.partition)
        desk.run()
        desk.now = desk.now + .hours(1)
        #expect(desk.run() == [])
        let due = desk.machine.nextDue(desk.now)
        #expect(due == nil)
    }

    @Test func `one that asks no provider has its reloads wait`() throws {
        let desk = try FetchDesk(widgets: 2, asks: false)
        desk.machine.lookForReloads(in: FetchDesk.partition)
        #expect(desk.run() == [])
        let due = desk.machine.nextDue(desk.now)
        #expect(desk.machine.planner.count == 2 && due == nil)
    }
}

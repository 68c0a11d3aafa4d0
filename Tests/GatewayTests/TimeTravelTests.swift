import Engine
import OperatorAPI
import Partitions
import Synchronization
import TestSupport
import Testing
import WidgetModel

@Suite struct TimeTravelTests {
    private static func clock(_ time: FakeTime) -> MovableClock {
        MovableClock(monotonicNanoseconds: { 5_000_000_000 }, wall: { time.wall })
    }

    @Test func `a moved clock is ahead by what it was moved, and never takes that for a step`() {
        let time = FakeTime()
        let movable = Self.clock(time)
        let clock = movable.makeLogClock()
        #expect(clock.now() == Sports.start)
        movable.move(by: .days(3))
        movable.move(by: .zero - .hours(1))
        #expect(movable.ahead == .days(3))
        #expect(clock.now() == Sports.start + .days(3))
        #expect(!clock.isStepped)
    }

    @Test func `every timer fires at its own time, in all partitions`() async throws {
        let movable = Self.clock(FakeTime())
        let clock = movable.makeLogClock()
        let scene = try await OwnerScene.started(partitions: 2, clock: clock)
        for number in 0..<4 { try await scene.register("host-\(number)") }
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        push.notBefore = Sports.start + .hours(2)
        push.expiration = (Sports.start + .hours(3)).seconds
        _ = try await scene.log.appendToAll(.push(push))
        let travel = TimeTravel(movable, clock, scene.log)
        let between = try await travel.pass(.hours(2) - .seconds(1), stopsMax: 10_000)
        #expect(between == Sports.start + .hours(2) - .seconds(1))
        let id = push.id
        func count(_ outcome: PushOutcome) async throws -> Int {
            try await scene.log.askAll(PushesQuestion([id])).joined().reduce(0) { $0 + $1.counts[outcome] }
        }
        #expect(try await count(.deferred) == 4)
        // Two at once come one after the other.
        async let first = travel.pass(.minutes(30), stopsMax: 10_000)
        async let second = travel.pass(.hours(2), stopsMax: 10_000)
        let ends = [try await first, try await second]
        #expect(ends.max() == Sports.start + .hours(4) + .minutes(30) - .seconds(1))
        #expect(try await count(.failed) == 4, "issued at two hours, never acknowledged")
        for number in 0..<4 {
            let address = InstanceAddress(host: HostKey("host-\(number)"), instance: InstanceID("a0"))
            let view = try #require(try await scene.log.ask(InstanceQuestion(address)))
            #expect(view.decisions.first { $0.outcome == .issued }?.at == Sports.start + .hours(2))
        }
    }

    @Test func `time passes up to the end of 2099, and no further`() async throws {
        let movable = Self.clock(FakeTime(wall: MovableClock.end - .days(1)))
        let clock = movable.makeLogClock()
        let scene = try await OwnerScene.started(partitions: 2, clock: clock)
        try await scene.register("host-1")
        let travel = TimeTravel(movable, clock, scene.log)
        for beyond in [Interval.day + .milliseconds(1), .days(366), .milliseconds(.max)] {
            let refusal = await #expect(throws: Problem.self) { try await travel.pass(beyond, stopsMax: 10_000) }
            #expect(refusal?.code == .badRequest)
            #expect(refusal?.detail.contains("2100-01-01T00:00:00Z") == true)
        }
        #expect(clock.now() == MovableClock.end - .days(1))
        #expect(try await travel.pass(.day - .milliseconds(1), stopsMax: 10_000) == MovableClock.end - .milliseconds(1))
        #expect(try await travel.pass(.milliseconds(1), stopsMax: 10_000) == MovableClock.end)
        await #expect(throws: Problem.self) { try await travel.pass(.milliseconds(1), stopsMax: 10_000) }
    }

    /// Four widgets that pushes reach in one, two and three hours.
    private static func waiting() async throws -> (clock: LogClock, travel: TimeTravel) {
        let movable = Self.clock(FakeTime())
        let clock = movable.makeLogClock()
        let scene = try await OwnerScene.started(partitions: 2, clock: clock)
        for number in 0..<4 { try await scene.register("host-\(number)") }
        for hour in Int64(1)...3 {
            var push = Sports.push(UInt64(hour), to: "")
            push.target = .app(Sports.app)
            push.notBefore = Sports.start + .hours(hour)
            _ = try await scene.log.appendToAll(.push(push))
        }
        return (clock, TimeTravel(movable, clock, scene.log))
    }

    @Test func `a move stops at so many instants at most, says where the clock stands, and goes on from there`()
        async throws
    {
        let end = Sports.start + .hours(5)
        let (clock, travel) = try await Self.waiting()
        var stops = 0
        while true {
            do {
                _ = try await travel.pass(end - clock.now(), stopsMax: 1)
                break
            } catch {
                stops += 1
                #expect(error.code == .tooMuchWork)
                let now = try #require(RFC3339.text(of: clock.now()))
                #expect(error.detail.contains(now) && error.detail.contains("limits.maxClockStops"), "\(error.detail)")
            }
            try #require(stops < 1000)
        }
        #expect(stops > 1)
        #expect(clock.now() == end)
        // The last of its moves stopped once.
        for (stopsMax, isEnough) in [(stops, false), (stops + 1, true), (stops + 2, true)] {
            let (clock, travel) = try await Self.waiting()
            let now = try? await travel.pass(end - clock.now(), stopsMax: stopsMax)
            #expect((now == end) == isEnough, "\(stopsMax)")
        }
    }

    /// A widget whose timelines ask to be reloaded for ever has a timer at least every quarter of an hour.
    @Test func `a move ends when it is no longer waited for`() async throws {
        let movable = Self.clock(FakeTime())
        let clock = movable.makeLogClock()
        let scene = try await OwnerScene.started(clock: clock)
        try await scene.register("host-1")
        let travel = TimeTravel(movable, clock, scene.log)
        let move = Mutex<Task<Instant, any Error>?>(nil)
        scene.tap { _ in
            // In the midst of it: a reload that was issued by a timer.
            if clock.now() > Sports.start { move.withLock { $0?.cancel() } }
        }
        let task = move.withLock { move in
            let task = Task { try await travel.pass(.days(366), stopsMax: 10_000) }
            move = task
            return task
        }
        let result = await task.result
        #expect(throws: (any Error).self) { try result.get() }
        #expect(clock.now() < Sports.start + .days(366))
        // The rest of that move does not keep the next one waiting.
        let before = clock.now()
        #expect(try await travel.pass(.zero, stopsMax: 10_000) == before)
    }
}

import Engine
import HTTPTransport
import OperatorAPI
import Partitions
import Synchronization
import TestSupport
import Testing
import TimelineProviding
import WidgetModel

/// A day of a kind with a timeline provider, in one move of the clock.
@Suite struct ProviderTimeTravelTests {
    private struct Away: Error {}

    /// A widget's scene over a clock that can be moved, and what moves it.
    private static func started() async throws -> (world: ProviderScene, travel: TimeTravel) {
        let time = FakeTime()
        let movable = MovableClock(monotonicNanoseconds: { 5_000_000_000 }, wall: { time.wall })
        let clock = movable.makeLogClock()
        let scene = try await OwnerScene.started(partitions: 2, clock: clock)
        let world = try ProviderScene(scene, clock: clock)
        return (world, TimeTravel(movable, clock, scene.log, providers: world.providers))
    }

    /// Three entries, 20 minutes apart, that say when they are of; asked again when an hour is over.
    private static func hourly(_ question: JSONValue) throws -> HTTPClientResponse {
        guard case .array(let requests)? = question["requests"], case .string(let text)? = question["now"] else {
            throw Away()
        }
        let now = try RFC3339.parse(text)
        func date(_ minutes: Int64) -> String { RFC3339.text(of: now + .minutes(minutes)) ?? "" }
        let entries = [Int64(0), 20, 40].map { #"{"date":"\#(date($0))","content":"\#(date($0))"}"# }
        let timeline = #"{"entries":[\#(entries.joined(separator: ","))],"policy":{"after":"\#(date(60))"}}"#
        let answers = requests.compactMap { request -> String? in
            guard case .string(let id)? = request["id"] else { return nil }
            return #"{"id":"\#(id)","timeline":\#(timeline)}"#
        }
        return ProviderScene.response(200, #"{"answers":[\#(answers.joined(separator: ","))]}"#)
    }

    @Test func `entries are shown on their dates, and providers asked on theirs, before the move has ended`()
        async throws
    {
        let (world, travel) = try await Self.started()
        world.reply { try Self.hourly($0) }
        try await world.scene.register("a", instances: 1)
        _ = try await travel.pass(.hours(3) + .minutes(30), stopsMax: 10_000)
        let shown = try world.shown.map { try RFC3339.parse(String($0.dropFirst("a:a0 ".count).filter { $0 != "\"" })) }
        try #require(shown.count == 10, "\(world.shown)")
        #expect(shown[0] == Sports.start)
        for (entry, next) in zip(shown, shown.dropFirst()) {
            // Its hourly requests are a few minutes late, by smoothing.
            #expect((.minutes(20)...(.minutes(30))).contains(next - entry), "\(world.shown)")
        }
        #expect(zip(shown, shown.dropFirst()).count { $1 - $0 == .minutes(20) } == 6)
        #expect(world.asked.count == 4)
        #expect(try await world.outstanding("a") == [])
    }

    @Test func `a provider that is away is asked again while time passes`() async throws {
        let (world, travel) = try await Self.started()
        let failures = Mutex(3)
        world.reply { question in
            let isAway = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            guard !isAway else { throw Away() }
            return ProviderScene.answer(question, content: #""there""#)
        }
        try await world.scene.register("a", instances: 1)
        _ = try await travel.pass(.hours(1), stopsMax: 10_000)
        #expect(world.shown == [#"a:a0 "there""#])
        #expect(world.asked.count == 4)
    }
}

import Delivery
import Engine
import HTTPTransport
import Ownership
import Serving
import Testing
import TimelineProviding
import TransportSupport
import WidgetModel

/// A fetcher's knowledge of its timeline provider's health.
@Suite struct ProviderHealthTests {
    private struct Unreachable: Error {}

    private static func started(_ change: (inout FetchLimits) -> Void = { _ in }) async throws -> ProviderScene {
        try ProviderScene(try await OwnerScene.started(partitions: 2), change)
    }

    @Test func `a provider that answers is well, and nothing waits`() async throws {
        let world = try await Self.started()
        #expect(await world.fetcher.view.target.health == TargetHealth())
        world.reply { ProviderScene.answer($0, content: "1") }
        try await world.add("a")
        try await world.eventually("it is shown") { world.shown.count == 1 }
        let target = await world.fetcher.view.target
        #expect(target.health.lastAnswer?.status == 200 && target.health.lastSuccess != nil)
        #expect(target.waiting == 0 && target.oldest == nil && target.heldUntil == nil)
        #expect(world.log.lines == [])
    }

    @Test func `a provider that is down is in trouble, told once; so is the end of it`() async throws {
        let world = try await Self.started()
        world.reply { _ in throw Unreachable() }
        try await world.add("a")
        let issued = world.scene.time.wall
        try await world.eventually("the request has failed") { await world.fetcher.view.target.health.isFailing }
        world.scene.time.pass(.seconds(31))
        await world.fetcher.fetch([])
        try await world.eventually("it is in trouble") { await world.fetcher.view.target.health.isInTrouble }
        let target = await world.fetcher.view.target
        #expect(target.waiting == 1 && target.oldest.map { $0 <= issued } == true)
        #expect(target.health.lastAnswer?.detail?.contains("Unreachable") == true)
        let trouble = world.log.lines.filter { $0.hasPrefix("error a timeline provider is in trouble") }
        #expect(trouble.count == 1 && trouble[0].contains("kind=scores"), "\(world.log.lines)")
        world.reply { ProviderScene.answer($0, content: "1") }
        world.scene.time.pass(.minutes(10))
        await world.fetcher.fetch([])
        try await world.eventually("it is shown") { world.shown.count == 1 }
        world.scene.time.pass(TargetHealth.relief)
        await world.fetcher.fetch([])
        #expect(world.log.lines.last?.hasPrefix("notice a timeline provider is well again") == true)
    }

    @Test func `a breaker that is open for half a minute is trouble at once`() async throws {
        let world = try await Self.started {
            $0.failuresMax = 1
            $0.breaker = Backoff(first: .minutes(1), max: .minutes(1))
        }
        world.reply { _ in ProviderScene.response(500, "") }
        try await world.add("a")
        try await world.eventually("it is in trouble") { await world.fetcher.view.target.health.isInTrouble }
        let target = await world.fetcher.view.target
        #expect(target.heldUntil != nil && target.health.lastAnswer?.reason == "status 500")
    }

    @Test func `a provider that knows none of its widgets has answered`() async throws {
        let world = try await Self.started()
        world.reply { _ in ProviderScene.response(200, #"{"answers":[]}"#) }
        try await world.add("a")
        try await world.eventually("it was asked") { await world.fetcher.view.target.health.attempts == 1 }
        let health = await world.fetcher.view.target.health
        #expect(!health.isFailing && health.lastSuccess == nil && health.lastAnswer?.meaning == .refusal)
    }

    @Test func `tried now, a provider that was left alone is asked at once`() async throws {
        let world = try await Self.started { $0.failuresMax = 1 }
        world.reply { _ in ProviderScene.response(503, "", ["retry-after": "600"]) }
        try await world.add("a")
        try await world.eventually("it is in trouble") { await world.fetcher.view.target.health.isInTrouble }
        world.reply { ProviderScene.answer($0, content: "1") }
        await world.fetcher.tryNow()
        try await world.eventually("it is shown") { world.shown.count == 1 }
        #expect(await world.fetcher.view.target.heldUntil == nil)
    }
}

import APNSWire
import Delivery
import Engine
import HTTPTransport
import Partitions
import Serving
import TestSupport
import Testing
import TimelineProviding
import WidgetModel

/// WidgetKit's order for a widget that was added: a placeholder, then its timeline.
@Suite struct PlaceholderTests {
    private struct Unreachable: Error {}

    private static let grey = #"{"answers":[{"id":"1","entry":{"content":"grey"}}]}"#

    /// A provider whose timelines say 1.
    private static func started(_ change: (inout FetchLimits) -> Void = { _ in }) async throws -> ProviderScene {
        let world = try ProviderScene(try await OwnerScene.started(), change)
        world.reply { ProviderScene.answer($0, content: "1") }
        world.replyWithPlaceholder { ProviderScene.response(200, Self.grey) }
        return world
    }

    private static func register(_ world: ProviderScene, _ registration: HostRegistration) async throws {
        let host = registration.host
        _ = try await world.scene.log.append(.register(registration), for: host)
        try await world.scene.settle()
        await world.fetcher.fetch(try await world.outstanding(host.id.rawValue))
    }

    @Test func `a widget that is added shows a placeholder, then its timeline; the next one without a question`()
        async throws
    {
        let world = try await Self.started()
        try await world.add("a")
        try await world.eventually("it is shown") { world.shown.count == 2 }
        #expect(world.shown == [#"placeholder of a:a0 "grey""#, "a:a0 1"])
        try await world.add("b")
        try await world.eventually("the other is shown") { world.shown.count == 4 }
        #expect(world.shown.suffix(2) == [#"placeholder of b:a0 "grey""#, "b:a0 1"])
        #expect(world.askedForPlaceholders.count == 1)
    }

    @Test func `it is asked for with what the host said of itself, and shared by hosts of all time zones`()
        async throws
    {
        let world = try await Self.started()
        for (host, zone) in [("a", "Europe/Berlin"), ("b", "Asia/Tokyo")] {
            var registration = Sports.registration(host, [Sports.instance("a0")])
            registration.context = HostContext(
                width: 170,
                height: 180,
                environmentVariants: [HostContext.Variant(name: "colorScheme", values: ["dark"])],
                locale: "de-DE",
                timeZone: zone
            )
            try await Self.register(world, registration)
            try await world.eventually("it is shown") { world.shown.last == "\(host):a0 1" }
        }
        #expect(world.askedForPlaceholders.count == 1)
        guard case .array(let requests)? = world.askedForPlaceholders.first?["requests"] else {
            Issue.record("no requests in \(world.askedForPlaceholders)")
            return
        }
        let told = [
            #"{"family":"systemSmall","isPreview":false,"displaySize":{"width":170.0,"height":180.0},"#,
            #""environmentVariants":{"colorScheme":["dark"]},"locale":"de-DE"}"#,
        ]
        #expect(requests.map { String(decoding: $0["context"]?.jsonText ?? [], as: UTF8.self) } == [told.joined()])
        #expect(requests.map { $0["configuration"] } == [.object([])])
    }

    @Test(arguments: [(200, "nonsense"), (200, #"{"answers":[{"id":"1","entry":{}}]}"#), (404, ""), (500, ""), (0, "")])
    func `one that fails holds no timeline up, and is not asked for again within a minute`(status: Int, body: String)
        async throws
    {
        let world = try await Self.started()
        world.replyWithPlaceholder {
            guard status > 0 else { throw Unreachable() }
            return ProviderScene.response(status, body)
        }
        for host in ["a", "b"] {
            try await world.add(host)
            try await world.eventually("it is shown") { world.shown.last == "\(host):a0 1" }
        }
        #expect(world.shown == ["a:a0 1", "b:a0 1"])
        #expect(world.askedForPlaceholders.count == 1)
        #expect(await world.fetcher.view.counters.failedRequests == 0)

        world.replyWithPlaceholder { ProviderScene.response(200, Self.grey) }
        world.scene.time.pass(.minutes(1))
        try await world.add("c")
        try await world.eventually("it is shown") { world.shown.last == "c:a0 1" }
        #expect(world.shown.suffix(2) == [#"placeholder of c:a0 "grey""#, "c:a0 1"])
    }

    @Test func `all that come while it is asked for wait for the one answer`() async throws {
        let world = try await Self.started()
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        world.replyWithPlaceholder {
            for await _ in answers { break }
            return ProviderScene.response(200, Self.grey)
        }
        // More than may be asked about at once, and some of them twice.
        let hosts = (0..<8).map { "h\($0)" }
        for host in hosts + hosts.prefix(2) { try await world.add(host) }
        #expect(world.shown == [])
        answer.yield()
        try await world.eventually("all are shown") { world.shown.count == 2 * hosts.count }
        #expect(world.askedForPlaceholders.count == 1)
        for host in hosts {
            let shown = world.shown.filter { $0.contains("\(host):a0") }
            #expect(shown == [#"placeholder of \#(host):a0 "grey""#, "\(host):a0 1"])
        }
    }

    @Test func `it costs nothing and is no reload`() async throws {
        let world = try await Self.started()
        try await world.add("a")
        try await world.eventually("it is shown") { world.shown.count == 2 }
        let address = InstanceAddress(host: HostKey("a"), instance: InstanceID("a0"))
        let view = try #require(try await world.scene.log.ask(InstanceQuestion(address)))
        #expect(view.budget.charged == 0)
        #expect(view.timeline?.entries == 1)
        #expect(await world.fetcher.view.counters.requests == 1)
    }

    @Test func `a reload of a widget that is there shows none`() async throws {
        let world = try await Self.started()
        try await world.add("a")
        try await world.eventually("it is shown") { world.shown.count == 2 }
        world.reply { ProviderScene.answer($0, content: "2") }
        let changed = Sports.registration("a", revision: 2, [Sports.instance("a0", team: "rams")])
        world.scene.time.pass(.minutes(5))
        try await Self.register(world, changed)
        try await world.eventually("it is shown anew") { world.shown.last == "a:a0 2" }
        #expect(world.shown.count == 3)
    }

    @Test func `one that is removed and added again shows both again, though its content is what it was`() async throws
    {
        let world = try await Self.started()
        let (here, gone) = ([Sports.instance("a0")], [InstanceRegistration]())
        try await Self.register(world, Sports.registration("a", here))
        try await world.eventually("it is shown") { world.shown.count == 2 }
        world.scene.time.pass(.minutes(5))
        try await Self.register(world, Sports.registration("a", revision: 2, gone))
        try await Self.register(world, Sports.registration("a", revision: 3, here))
        try await world.eventually("it is shown again") { world.shown.count == 4 }
        #expect(world.shown.suffix(2) == [#"placeholder of a:a0 "grey""#, "a:a0 1"])
    }

    @Test func `a provider that is left alone is asked for none`() async throws {
        let world = try await Self.started { $0.failuresMax = 1 }
        world.replyWithPlaceholder { throw Unreachable() }
        world.reply { _ in throw Unreachable() }
        try await world.add("a")
        try await world.eventually("it is open") {
            if case .open = await world.fetcher.view.breaker { true } else { false }
        }
        // Longer than placeholders are paused, and shorter than the provider says to be left alone.
        world.reply { _ in ProviderScene.response(429, "", ["retry-after": "600"]) }
        world.scene.time.pass(.seconds(59))
        await world.fetcher.fetch([])
        try await world.eventually("it has failed again") { await world.fetcher.view.counters.failedRequests == 2 }
        world.scene.time.pass(.seconds(61))
        try await world.add("b")
        #expect(world.askedForPlaceholders.count == 1)
    }
}

import APNSWire
import Delivery
import Engine
import HTTPTransport
import Journaling
import Partitions
import Serving
import TestSupport
import Testing
import TimelineProviding
import WidgetModel

@Suite struct TimelineFetcherTests {
    private struct Unreachable: Error {}

    private static func started(_ change: (inout FetchLimits) -> Void = { _ in }) async throws -> ProviderScene {
        try ProviderScene(try await OwnerScene.started(partitions: 2), change)
    }

    private static func content(_ text: String) -> @Sendable (JSONValue) throws -> HTTPClientResponse {
        { ProviderScene.answer($0, content: text) }
    }

    private static func text(_ value: JSONValue?) -> String {
        String(decoding: value?.jsonText ?? [], as: UTF8.self)
    }

    @Test func `a reload is answered by the provider: the instance shows its entry, and nothing is out any more`()
        async throws
    {
        let world = try await Self.started()
        world.reply(Self.content(#"{"us":7}"#))
        try await world.add("a", instances: 2)
        try await world.eventually("both are shown") { world.shown.count == 2 }
        #expect(world.shown.sorted() == [#"a:a0 {"us":7}"#, #"a:a1 {"us":7}"#])
        #expect(try await world.outstanding("a") == [])
        #expect(world.asked.count == 1)
        let question = try #require(world.asked.first)
        #expect(question["question"] == .string("timeline"))
        #expect(question["kind"] == .string("scores"))
        guard case .array(let requests)? = question["requests"] else {
            Issue.record("no requests in \(question)")
            return
        }
        #expect(requests.map { $0["instance"] } == [.string("a:a0"), .string("a:a1")])
        #expect(requests[0]["configuration"]?["team"] == .string("seahawks"))
        #expect(requests[0]["context"]?["family"] == .string("systemSmall"))
        #expect(requests[0]["causes"] == .array([.string("added")]))
        #expect(requests[0]["push"] == nil)
        let address = InstanceAddress(host: HostKey("a"), instance: InstanceID("a0"))
        let view = try await world.scene.log.ask(InstanceQuestion(address))
        #expect(view?.timeline?.entries == 1)
        #expect(view?.timeline?.digest?.starts(with: Array("sha256:".utf8)) == true)
    }

    @Test func `the provider is told what the host said of itself`() async throws {
        let world = try await Self.started()
        world.reply(Self.content("1"))
        var registration = Sports.registration("a", [Sports.instance("a0")])
        registration.context = HostContext(
            width: 170,
            height: 180,
            environmentVariants: [HostContext.Variant(name: "colorScheme", values: ["light", "dark"])],
            locale: "de-DE",
            timeZone: "Europe/Berlin"
        )
        _ = try await world.scene.log.append(.register(registration), for: HostKey("a"))
        try await world.scene.settle()
        await world.fetcher.fetch(try await world.outstanding("a"))
        try await world.eventually("it is shown") { world.shown.count == 1 }
        guard case .array(let requests)? = world.asked.first?["requests"] else {
            Issue.record("no requests in \(world.asked)")
            return
        }
        let told = [
            #"{"family":"systemSmall","isPreview":false,"displaySize":{"width":170.0,"height":180.0},"#,
            #""environmentVariants":{"colorScheme":["light","dark"]},"locale":"de-DE","timeZone":"Europe/Berlin"}"#,
        ]
        #expect(Self.text(requests[0]["context"]) == told.joined())
    }

    @Test func `each widget of a kind is asked about with what the user chose for it`() async throws {
        let world = try await Self.started()
        world.reply { question in
            guard case .array(let requests)? = question["requests"] else { throw Unreachable() }
            let answers = requests.map { request in
                let (id, team) = (Self.text(request["id"]), Self.text(request["configuration"]?["team"]))
                let entry = #"{"date":"2026-11-02T17:00:00Z","content":\#(team)}"#
                return #"{"id":\#(id),"timeline":{"entries":[\#(entry)],"policy":"never"}}"#
            }
            return ProviderScene.response(200, #"{"answers":[\#(answers.joined(separator: ","))]}"#)
        }
        let chosen = [Sports.instance("a0", team: "seahawks"), Sports.instance("a1", team: "rams")]
        _ = try await world.scene.log.append(.register(Sports.registration("a", chosen)), for: HostKey("a"))
        try await world.scene.settle()
        await world.fetcher.fetch(try await world.outstanding("a"))
        try await world.eventually("both are shown") { world.shown.count == 2 }
        #expect(world.shown.sorted() == [#"a:a0 "seahawks""#, #"a:a1 "rams""#])
    }

    @Test func `what fails is asked again later, and the instance keeps what it has`() async throws {
        let world = try await Self.started()
        world.reply { _ in throw Unreachable() }
        let ids = try await world.add("a")
        try await world.eventually("the request has failed") { await world.fetcher.view.counters.failedRequests == 1 }
        #expect(try await world.outstanding("a") == ids)
        #expect(await world.fetcher.view.lastFault?.text.contains("Unreachable") == true)
        world.reply(Self.content("1"))
        world.scene.time.pass(.seconds(1))
        await world.fetcher.fetch([])
        try await world.eventually("it is shown") { world.shown == ["a:a0 1"] }
        #expect(try await world.outstanding("a") == [])
    }

    @Test(
        arguments: [
            (200, "nonsense"), (200, #"{"answers":5}"#), (200, #"{"other":[]}"#), (500, ""), (404, "{}"), (301, ""),
        ]
    )
    func `an answer that is none has failed as a whole`(status: Int, body: String) async throws {
        let world = try await Self.started()
        world.reply { _ in ProviderScene.response(status, body) }
        let ids = try await world.add("a")
        try await world.eventually("the request has failed") { await world.fetcher.view.counters.failedRequests == 1 }
        #expect(try await world.outstanding("a") == ids)
    }

    @Test(
        arguments: [
            "9223372036854775807", "9223372036854776", "99999999999999999999", "-9223372036854775808", "soon", "",
        ]
    )
    func `a provider that asks for any wait is asked again after ten minutes at the latest`(wait: String) async throws {
        let world = try await Self.started()
        world.reply { _ in ProviderScene.response(503, "", ["retry-after": wait]) }
        try await world.add("a")
        try await world.eventually("the request has failed") { await world.fetcher.view.counters.failedRequests == 1 }
        world.reply(Self.content("1"))
        world.scene.time.pass(.minutes(10))
        await world.fetcher.fetch([])
        try await world.eventually("it is shown") { world.shown == ["a:a0 1"] }
    }

    @Test(
        arguments: [
            #""error":"no such team""#, #""timeline":5"#, #""timeline":{"entries":[{"content":1}]}"#,
            #""timeline":{"entries":[{"date":"2026-11-02T17:00:00Z"}]}"#, #""timeline":{"entries":[],"colour":1}"#,
        ]
    )
    func `of a batch, what cannot be told or is no timeline is asked again, the others are done`(part: String)
        async throws
    {
        let world = try await Self.started()
        world.reply { question in
            guard case .array(let requests)? = question["requests"], case .string(let id)? = requests.last?["id"] else {
                throw Unreachable()
            }
            guard requests.count == 2 else { return ProviderScene.answer(question, content: "2") }
            let good = ProviderScene.answer(question, only: 1, content: "1").text.dropLast(2)
            return ProviderScene.response(200, good + #",{"id":"\#(id)",\#(part)}]}"#)
        }
        try await world.add("a", instances: 2)
        try await world.eventually("one is shown") { world.shown == ["a:a0 1"] }
        try await world.eventually("one waits") { await world.fetcher.view.waiting == 1 }
        world.scene.time.pass(.seconds(1))
        await world.fetcher.fetch([])
        try await world.eventually("both are shown") { world.shown == ["a:a0 1", "a:a1 2"] }
        #expect(await world.fetcher.view.counters.failedRequests == 0)
    }

    @Test func `a provider that says 202 calls back; once, and for no other widget`() async throws {
        let world = try await Self.started()
        world.reply { ProviderScene.answer($0, status: 202, only: 1, content: "1") }
        let ids = try await world.add("a", instances: 2)
        try await world.eventually("one is shown, one waits") {
            let waiting = await world.fetcher.view.waiting
            return world.shown == ["a:a0 1"] && waiting == 1
        }
        let body = try json(
            #"{"answers":[{"id":"\#(ids[1])","timeline":{"entries":[{"date":"2026-11-02T17:00:00Z","content":2}]}},"#
                + #"{"id":"0-99-1-00000000","error":"never heard of it"}]}"#
        )
        let first = try await world.fetcher.callBack(body)
        #expect(first.taken == 1 && first.unknown == 1)
        #expect(world.shown == ["a:a0 1", "a:a1 2"])
        let second = try await world.fetcher.callBack(body)
        #expect(second.taken == 0 && second.unknown == 2)
        #expect(await world.fetcher.view.waiting == 0)
    }

    @Test func `after failures in a row the provider is left alone, then asked about one`() async throws {
        let world = try await Self.started { $0.failuresMax = 2 }
        world.reply { _ in ProviderScene.response(503, "") }
        for host in ["a", "b", "c"] { try await world.add(host) }
        try await world.eventually("it is open") {
            if case .open = await world.fetcher.view.breaker { return true }
            world.scene.time.pass(.milliseconds(1))
            await world.fetcher.fetch([])
            return false
        }
        let before = world.asked.count
        await world.fetcher.fetch([])
        #expect(world.asked.count == before)
        world.reply(Self.content("1"))
        world.scene.time.pass(.minutes(5))
        await world.fetcher.fetch([])
        try await world.eventually("all are shown") {
            world.scene.time.pass(.milliseconds(10))
            await world.fetcher.fetch([])
            return world.shown.count == 3
        }
        #expect(await world.fetcher.view.breaker == .closed(failures: 0))
    }

    @Test func `what was peculiar is told with the next request, once`() async throws {
        let world = try await Self.started()
        world.reply { question in
            guard case .array(let requests)? = question["requests"], case .string(let id)? = requests.first?["id"]
            else {
                throw Unreachable()
            }
            return ProviderScene.response(200, #"{"answers":[{"id":"\#(id)","timeline":{"entries":[]}}]}"#)
        }
        for host in ["a", "b"] {
            try await world.add(host)
            try await world.eventually("it is answered") { try await world.outstanding(host) == [] }
            try await world.eventually("it is noted") {
                world.states[ProviderScene.key].recent.count >= (host == "a" ? 1 : 2)
            }
        }
        #expect(world.told.count == 2 && world.told[0] == nil)
        #expect(world.told[1]?.contains("empty=1") == true)
        #expect(world.states[ProviderScene.key].counts.first { $0.code == "empty" }?.count == 2)
    }

    @Test func `after a restart what was out is asked about, and what was shown is shown`() async throws {
        let archive = MemoryArchive()
        let first = try ProviderScene(try await OwnerScene.started(), archive: archive)
        first.reply(Self.content("1"))
        try await first.add("a")
        try await first.eventually("it is shown") { first.shown.count == 1 }
        first.reply { _ in throw Unreachable() }
        try await first.add("b")
        await first.fetcher.close()

        let scene = first.scene.restarted()
        _ = try await scene.start()
        let second = try ProviderScene(scene, archive: archive)
        second.reply(Self.content("2"))
        await second.fetcher.refill()
        try await second.eventually("the other one is shown") { second.shown == ["b:a0 2"] }
        var shown: [String] = []
        for host in ["a", "b"] {
            let contents = try await second.providers.contents(of: HostKey(host), hasTimelines: false)
            for case .entry(let due) in contents.drawings { shown.append(ProviderScene.text(due.entry)) }
        }
        #expect(shown == ["1", "2"])
    }

    @Test func `content that is lost is asked for again, in no reload`() async throws {
        let first = try ProviderScene(try await OwnerScene.started())
        first.reply(Self.content("1"))
        try await first.add("a")
        try await first.eventually("it is shown") { first.shown.count == 1 }
        await first.fetcher.close()

        let scene = first.scene.restarted()
        _ = try await scene.start()
        let second = try ProviderScene(scene)
        second.reply(Self.content("1"))
        let showing = Task { await second.providers.run() }
        try await second.eventually("it is shown again") { second.shown == ["a:a0 1"] }
        showing.cancel()
        guard case .array(let requests)? = second.asked.first?["requests"] else {
            Issue.record("\(second.asked)")
            return
        }
        #expect(requests.count == 1 && requests[0]["causes"] == .array([]))
        #expect(requests[0]["digest"] != nil && requests[0]["push"] == nil)
        await showing.value
    }

    @Test func `an instance that is gone or configured anew shows nothing old`() async throws {
        let world = try await Self.started()
        world.reply(Self.content("1"))
        try await world.add("a", instances: 2)
        try await world.eventually("both are shown") { world.shown.count == 2 }
        func count() async throws -> Int {
            try await world.providers.contents(of: HostKey("a"), hasTimelines: true).timelines.count
        }
        #expect(try await count() == 2)
        _ = try await world.scene.log.append(
            .register(Sports.registration("a", revision: 2, [Sports.instance("a1", team: "rams")])),
            for: HostKey("a")
        )
        #expect(try await count() == 0)
    }
}

import APNSWire
import Delivery
import Engine
import HTTPTransport
import Journaling
import Partitions
import Serving
import Synchronization
import TestSupport
import Testing
import TimelineProviding
import Timelines
import WidgetModel

/// Timelines from providers at nodes that share a log.
@Suite struct NodeProviderTests {
    private static let host = (0...).lazy.map { "host-\($0)" }.first {
        PartitionID(of: HostKey($0), among: 2) == NodeScene.other
    }!

    private static let address = InstanceAddress(host: HostKey(Self.host), instance: InstanceID("a"))

    /// Two nodes, and a host of the second one's partition.
    private static func started() async throws -> (NodeScene, first: NodeProvider, second: NodeProvider) {
        let scene = try await NodeScene()
        let first = NodeProvider(scene.first, scene.time)
        let second = NodeProvider(scene.second, scene.time)
        let registration = Sports.registration(Self.host, [Sports.instance("a")])
        _ = try await scene.second.log.append(.register(registration), for: HostKey(Self.host))
        return (scene, first, second)
    }

    private static func instance(_ scene: NodeScene) async throws -> InstanceView {
        try #require(try await scene.first.log.ask(InstanceQuestion(Self.address)))
    }

    /// Asks again until a condition holds; it gives up after minutes only, for a machine may be slow.
    private static func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < end {
            if try await condition() { return }
            await Task.yield()
        }
        Issue.record("never happened: \(what)")
    }

    /// The partition dies with the second node, and the first one takes it.
    private static func move(_ scene: NodeScene, to provider: NodeProvider) async throws {
        try await scene.move()
        await provider.providers.refill()
        await provider.providers.restore(NodeScene.other)
    }

    @Test func `the node that takes a partition shows the later entries of its timelines, and logs nothing`()
        async throws
    {
        let (scene, first, second) = try await Self.started()
        for provider in [first, second] { provider.reply(from: scene.time.wall, "1", "2") }
        await second.providers.refill()
        try await Self.eventually("it is shown") { second.shown == ["1"] }
        let before = try await Self.instance(scene)
        scene.time.pass(.minutes(5))
        try await Self.move(scene, to: first)
        try await Self.eventually("its content is there") { first.shown == ["1"] }
        // With the time of its receipt.
        let after = try await Self.instance(scene)
        #expect(after.timeline == before.timeline && after.budget.charged == before.budget.charged)
        scene.time.pass(.hours(1))
        for provider in [first, second] { _ = await provider.providers.settle() }
        #expect(first.shown == ["1", "2"] && second.shown == ["1"])
        // What is there is not asked for once more.
        await first.providers.restore(NodeScene.other)
        _ = await first.providers.settle()
        #expect(first.asked == 1)
    }

    /// The contents that a node tells of the host's widgets, placeholders first.
    private static func told(by provider: NodeProvider) async throws -> [String] {
        let contents = try await provider.providers.contents(of: HostKey(Self.host), hasTimelines: false)
        #expect(contents.timelines == [])
        return contents.drawings.compactMap { drawing in
            switch drawing {
            case .placeholder(let placeholder): String(decoding: placeholder.content.jsonText, as: UTF8.self)
            case .entry(let due): String(decoding: due.entry.content, as: UTF8.self)
            case .reload, .invalidation: nil
            }
        }
    }

    /// How many entries a node tells of each of the host's timelines.
    private static func entries(by provider: NodeProvider) async throws -> [Int] {
        try await provider.providers.contents(of: HostKey(Self.host), hasTimelines: true).timelines.map(\.entries.count)
    }

    @Test func `any node tells the content that widgets show`() async throws {
        let (scene, first, second) = try await Self.started()
        await second.providers.refill()
        try await Self.eventually("it is asked") { second.asked == 1 }
        for provider in [first, second] {
            #expect(try await Self.told(by: provider) == [#""grey""#])
            #expect(try await Self.entries(by: provider) == [])
        }
        second.reply(from: scene.time.wall, "1", "2")
        scene.time.pass(.minutes(1))
        await second.providers.tryNow([ProviderScene.key])
        try await Self.eventually("it is shown") { second.shown == ["1"] }
        for provider in [first, second] {
            #expect(try await Self.told(by: provider) == ["1"])
            #expect(try await Self.entries(by: provider) == [2])
        }
        scene.time.pass(.hours(1))
        for provider in [first, second] { #expect(try await Self.told(by: provider) == ["2"]) }
        #expect(first.asked == 0 && first.contents.counts.timelines == 0)
        scene.nodes.silence(scene.second.node)
        let impatient = NodeProvider(scene.first, scene.time, log: scene.first.impatientLog)
        let problem = await #expect(throws: Problem.self) {
            try await impatient.providers.contents(of: HostKey(Self.host), hasTimelines: true)
        }
        #expect(problem?.code == .partitionAway)
    }

    @Test func `a provider that gives another timeline by then has it accepted, uncharged`() async throws {
        let (scene, first, second) = try await Self.started()
        second.reply(from: scene.time.wall, "1", "2")
        await second.providers.refill()
        try await Self.eventually("it is shown") { second.shown == ["1"] }
        let before = try await Self.instance(scene)
        scene.time.pass(.minutes(5))
        first.reply(from: scene.time.wall, "3", "4")
        try await Self.move(scene, to: first)
        try await Self.eventually("the other one is shown") { first.shown == ["3"] }
        let after = try await Self.instance(scene)
        #expect(after.timeline?.firstDate == scene.time.wall && after.budget.charged == before.budget.charged)
        #expect(after.outstanding == before.outstanding)
        scene.time.pass(.hours(1))
        _ = await first.providers.settle()
        #expect(first.shown == ["3", "4"])
    }

    @Test func `a reload that was answered elsewhere while it waited is asked about for its content`() async throws {
        let (scene, first, second) = try await Self.started()
        second.reply(from: scene.time.wall, "1", "2")
        let reloads = try await scene.second.log.ask(NodeScene.other, ReloadsQuestion(.host(HostKey(Self.host))))
            .reloads
        await scene.second.give(NodeScene.other)
        try await scene.first.take(NodeScene.other)
        // The provider fails, and meanwhile the former owner's answer is applied.
        await first.providers.refill()
        try await Self.eventually("it is asked") { first.asked == 1 }
        let timeline = Timeline(entries: [TimelineEntry(date: scene.time.wall)], policy: .never, digest: [1])
        let report = TimelineReport(
            host: HostKey(Self.host),
            instance: InstanceID("a"),
            reload: reloads.first?.id,
            timeline: timeline
        )
        _ = try await scene.first.log.append(.timeline(report), for: HostKey(Self.host))
        first.reply(from: scene.time.wall, "1", "2")
        scene.time.pass(.seconds(10))
        await first.providers.tryNow([ProviderScene.key])
        try await Self.eventually("its content is there") { first.shown == ["1"] }
    }

    @Test func `a call-back at any node comes to the one that has the partition`() async throws {
        let (scene, first, second) = try await Self.started()
        let question = Mutex<JSONValue?>(nil)
        second.reply { asked in
            question.withLock { $0 = asked }
            return ProviderScene.response(202, "")
        }
        await second.providers.refill()
        try await Self.eventually("it is asked") { question.withLock { $0 } != nil }
        let asked = try #require(question.withLock { $0 })
        let body = try json(NodeProvider.answers(to: asked, from: scene.time.wall, "1", "2"))
        let result = try await first.providers.callBack(body, of: ProviderScene.key)
        #expect(result == CallBack.Result(taken: 1))
        #expect(second.shown == ["1"] && first.shown == [])
        #expect(second.contents.counts.timelines == 1 && first.contents.counts.timelines == 0)
        #expect(try await first.providers.callBack(body, of: ProviderScene.key) == CallBack.Result(unknown: 1))
        scene.time.pass(.hours(1))
        for provider in [first, second] { _ = await provider.providers.settle() }
        #expect(second.shown == ["1", "2"] && first.shown == [])
        #expect(second.asked == 1)
    }

    @Test(arguments: [1, 2])
    func `a call-back is handed on in as many parts as it needs`(halves: Int) async throws {
        let (scene, first, second) = try await Self.started()
        second.reply { _ in ProviderScene.response(202, "") }
        await second.providers.refill()
        let reloads = try await scene.second.log.ask(NodeScene.other, ReloadsQuestion(.host(HostKey(Self.host))))
            .reloads
        let content = String(repeating: "x", count: halves * 500_000)
        func answer(_ id: String) -> String {
            let date = RFC3339.text(of: scene.time.wall) ?? ""
            return #"{"id":"\#(id)","timeline":{"entries":[{"date":"\#(date)","content":"\#(content)"}]}}"#
        }
        let unknown = "1-99-1-00000000"
        let text = #"{"answers":[\#(([unknown] + reloads.map(\.id.description)).map(answer).joined(separator: ","))]}"#
        let body = try JSONReader().parse(Array(text.utf8), limits: JSONLimits(bytesMax: 10_000_000))
        do {
            let result = try await first.providers.callBack(body, of: ProviderScene.key)
            #expect(halves == 1 && result == CallBack.Result(taken: 1, unknown: 1))
            #expect(second.contents.counts.timelines == 1)
        } catch {
            #expect(halves == 2 && error.code == .tooLarge && second.contents.counts.timelines == 0)
        }
    }

    @Test func `a call-back whose owner says nothing is to be sent again`() async throws {
        let (scene, first, _) = try await Self.started()
        scene.nodes.silence(scene.second.node)
        let impatient = NodeProvider(scene.first, scene.time, log: scene.first.impatientLog)
        let body = try json(#"{"answers":[{"id":"1-99-1-00000000","error":"late"}]}"#)
        let problem = await #expect(throws: Problem.self) {
            try await impatient.providers.callBack(body, of: ProviderScene.key)
        }
        #expect(problem?.code == .partitionAway && problem?.retryAfter == 1)
        #expect(first.asked == 0)
    }
}

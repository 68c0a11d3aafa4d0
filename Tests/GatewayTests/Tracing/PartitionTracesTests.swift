import Engine
import Journaling
import Logging
import Partitions
import Settings
import Telemetry
import TestSupport
import Testing
import Tracing
import WidgetModel

/// The spans of what partitions do about traced pushes.
@Suite(.timeLimit(.minutes(60))) struct PartitionTracesTests {
    /// A tracer, and what it has recorded.
    private struct Trace {
        let queue = SpanQueue(max: 1000)
        let tracing: GatewayTracing

        init(_ settings: GatewayConfiguration.Tracing = GatewayConfiguration.Tracing()) {
            let sampler = SpanSampler(perMillion: 0, perSecondMax: 0)
            self.tracing = GatewayTracing(SpanTracer(queue: self.queue, sampler: sampler), settings)
        }

        /// So many spans, once they are there.
        func take(_ count: Int, _ scene: OwnerScene) async throws -> [RecordedSpan] {
            while self.queue.count < count { try await scene.settle() }
            return self.queue.take(max: 1000)
        }
    }

    private static func place(_ number: UInt64) -> TraceContext? {
        TraceContext(high: 1, low: number, spanID: 100 + number, isSampled: true)
    }

    /// A push that is traced, in the same entry as its trace.
    private static func push(
        _ number: UInt64,
        to host: String,
        notBefore: Instant? = nil,
        _ scene: OwnerScene
    ) async throws {
        var push = Sports.push(number, to: host)
        push.notBefore = notBefore
        let trace = PushTrace(push: push.id, context: try #require(Self.place(number)))
        _ = try await scene.log.append([(.push(push), HostKey(host)), (.trace(trace), HostKey(host))])
    }

    /// Hosts whose first reloads are acknowledged, an hour later.
    private static func hosts(_ hosts: [String], instances: Int = 1, _ scene: OwnerScene) async throws {
        for host in hosts { try await scene.register(host, instances: instances) }
        for host in hosts {
            for reload in try await scene.outstanding(HostKey(host)) {
                let report = DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)
                _ = try await scene.log.append(.delivery(report), for: HostKey(host))
            }
        }
        scene.time.pass(.hours(1))
    }

    /// An attribute of a span, as text; empty if it has no such one.
    private static func text(_ span: RecordedSpan, _ name: String) -> String {
        guard let value = span.attributes.get(name) else { return "" }
        switch value {
        case .int64(let value): return "\(value)"
        case .string(let value): return value
        default: return "\(value)"
        }
    }

    @Test func `a decision and its reload are below the push`() async throws {
        let trace = Trace()
        let scene = try await OwnerScene.started(tracing: trace.tracing)
        try await Self.hosts(["a"], scene)
        try await Self.push(1, to: "a", scene)
        let spans = try await trace.take(2, scene)
        #expect(spans.map(\.name) == ["decide", "reload"])
        #expect(spans.map(\.parent) == [101, 101])
        #expect(spans.allSatisfy { $0.context.high == 1 && $0.context.low == 1 })
        #expect(Self.text(spans[0], "freshet.matched") == "1")
        #expect(Self.text(spans[1], "freshet.kind") == "scores")
        // A repeat is told of as one, and is no other trace.
        try await Self.push(1, to: "a", scene)
        #expect(try await trace.take(1, scene).map { Self.text($0, "freshet.repeat") } == ["true"])
    }

    @Test func `a push that is not traced has no spans`() async throws {
        let trace = Trace()
        let scene = try await OwnerScene.started(tracing: trace.tracing)
        try await Self.hosts(["a"], scene)
        _ = try await scene.log.append(.push(Sports.push(1, to: "a")), for: HostKey("a"))
        try await scene.settle()
        #expect(trace.queue.counters == SpanQueue.Counters())
    }

    @Test(arguments: [false, true])
    func `a reload is below its push also after a restart`(fromSnapshot: Bool) async throws {
        let store = MemorySnapshots()
        let first = Trace()
        let scene = try await OwnerScene.started(snapshots: store, tracing: first.tracing)
        try await Self.hosts(["a"], scene)
        try await Self.push(1, to: "a", notBefore: scene.time.wall + .hours(2), scene)
        #expect(try await first.take(1, scene).map(\.name) == ["decide"])
        if fromSnapshot {
            let snapshotter = Snapshotter(
                owners: scene.owners,
                journal: scene.journal,
                store: store,
                settings: GatewayConfiguration.Snapshots(history: .hours(1)),
                clock: scene.time.makeClock(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            _ = try #require(await snapshotter.makeSnapshot(of: scene.owners[0]))
            await snapshotter.stop()
        }
        let second = Trace()
        let restarted = scene.restarted(tracing: second.tracing)
        _ = try await restarted.start()
        #expect(second.queue.counters == SpanQueue.Counters())
        scene.time.pass(.hours(3))
        try await restarted.register("b")
        let spans = try await second.take(1, restarted)
        #expect(spans.map(\.name) == ["reload"])
        #expect(spans.map(\.parent) == [101])
        // The push waited for two hours at least.
        let waited = try #require(Int(Self.text(spans[0], "freshet.waited_ms")))
        #expect(waited >= 7_200_000)
    }

    @Test func `more pushes than are remembered are found in the log`() async throws {
        var settings = GatewayConfiguration.Tracing()
        settings.pushesMax = 2
        let trace = Trace(settings)
        let scene = try await OwnerScene.started(tracing: trace.tracing)
        let hosts = ["a", "b", "c"]
        try await Self.hosts(hosts, scene)
        let later = scene.time.wall + .hours(2)
        for (index, host) in hosts.enumerated() {
            try await Self.push(UInt64(index + 1), to: host, notBefore: later, scene)
            #expect(trace.tracing.counters.pushesForgotten == max(0, index - 1))
        }
        _ = try await trace.take(3, scene)
        scene.time.pass(.hours(3))
        try await scene.register("d")
        #expect(Set(try await trace.take(3, scene).map(\.parent)) == [101, 102, 103])
    }

    @Test(arguments: [(2, 3), (3, 3), (4, 3)])
    func `so many reloads of a push are traced`(max: Int, instances: Int) async throws {
        var settings = GatewayConfiguration.Tracing()
        settings.reloadsPerPushMax = max
        let trace = Trace(settings)
        let scene = try await OwnerScene.started(tracing: trace.tracing)
        try await Self.hosts(["a"], instances: instances, scene)
        try await Self.push(1, to: "a", scene)
        let traced = min(max, instances)
        let spans = try await trace.take(1 + traced, scene)
        try await scene.settle()
        #expect(spans.filter { $0.name == "reload" }.count == traced)
        #expect(trace.tracing.counters.reloadsBeyond == instances - traced)
    }

    @Test(arguments: [(2, 2), (3, 0)])
    func `a request is below the reloads that it is for, as long as there is room`(
        max: Int,
        forgotten: Int
    ) async throws {
        var settings = GatewayConfiguration.Tracing()
        settings.reloadsMax = max
        let trace = Trace(settings)
        let scene = try await OwnerScene.started(tracing: trace.tracing)
        try await Self.hosts(["a"], instances: 3, scene)
        try await Self.push(1, to: "a", scene)
        let reloads = try await trace.take(4, scene).filter { $0.name == "reload" }
        let ids = scene.handedOn.suffix(3).map(\.id)
        #expect(trace.tracing.counters.reloadsForgotten == forgotten / 2)
        let request = try #require(trace.tracing.request("deliver", for: Array(ids)))
        trace.tracing.forget(Array(ids))
        #expect(trace.tracing.request("deliver", for: Array(ids)) == nil)
        #expect(request.context.high == 1)
        #expect(reloads.count == 3)
    }
}

import Telemetry
import Testing
import Tracing
import WidgetModel

@Suite struct `The tracer` {
    private struct Headers: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private struct At: TracerInstant {
        let nanosecondsSinceEpoch: UInt64
        static func < (left: At, right: At) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
    }

    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static var place: TraceContext? { TraceContext(traceparent: Self.parent.utf8.span) }
    private static let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

    private func tracer(perMillion: Int = 0, perSecond: Int = 1000, queue: Int = 100) -> SpanTracer {
        SpanTracer(
            queue: SpanQueue(max: queue),
            sampler: SpanSampler(perMillion: perMillion, perSecondMax: perSecond)
        )
    }

    private func context(_ tracer: SpanTracer, _ traceparent: String?) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        tracer.extract(traceparent.map { ["traceparent": $0] } ?? [:], into: &context, using: Headers())
        return context
    }

    @Test func `makes children of the sender's span, and theirs`() throws {
        let tracer = self.tracer()
        let push = tracer.startSpan("push", context: self.context(tracer, Self.parent), ofKind: .server)
        let reload = tracer.startSpan("reload", context: push.context)
        var headers: [String: String] = [:]
        tracer.inject(reload.context, into: &headers, using: Headers())
        reload.attributes["freshet.kind"] = "scores"
        reload.end()
        push.end()
        let spans = tracer.queue.take(max: 10)
        #expect(spans.map(\.name) == ["reload", "push"])
        #expect(Set(spans.map(\.context.traceID)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
        #expect(spans.map(\.parent) == [spans[1].context.spanID, 0x00f0_67aa_0ba9_02b7])
        #expect(headers == ["traceparent": spans[0].context.traceparent])
    }

    @Test func `goes on below a span that is known by its place alone`() throws {
        let tracer = self.tracer(perSecond: 0)
        let place = try #require(Self.place)
        tracer.startSpan("reload", context: .below(place)).end()
        #expect(tracer.queue.take(max: 10).map(\.parent) == [place.spanID])
    }

    @Test func `follows a sender that does not record, whatever its own rate`() {
        let tracer = self.tracer(perMillion: 1_000_000)
        let span = tracer.startSpan("push", context: self.context(tracer, Self.unsampled))
        #expect(!span.isRecording)
        span.attributes["a"] = 1
        span.addEvent("nothing")
        span.end()
        #expect(tracer.queue.counters == SpanQueue.Counters())
        var headers: [String: String] = [:]
        tracer.inject(span.context, into: &headers, using: Headers())
        #expect(headers == [:])
    }

    @Test(arguments: [(0, false), (1_000_000, true)])
    func `records its part of the traces that begin here`(perMillion: Int, isRecorded: Bool) {
        let tracer = self.tracer(perMillion: perMillion)
        #expect(tracer.startSpan("push", context: self.context(tracer, nil)).isRecording == isRecorded)
    }

    @Test func `begins so many traces in a second and counts the others`() {
        let tracer = self.tracer(perSecond: 2)
        let context = self.context(tracer, Self.parent)
        func isRecorded(_ nanoseconds: UInt64) -> Bool {
            tracer.startSpan("push", context: context, at: At(nanosecondsSinceEpoch: nanoseconds)).isRecording
        }
        #expect([isRecorded(5), isRecorded(6), isRecorded(7), isRecorded(1_000_000_000)] == [true, true, false, true])
        #expect(tracer.sampler.limited == 1)
    }

    @Test func `keeps as many spans as its queue and counts the others`() {
        let tracer = self.tracer(queue: 2)
        let context = self.context(tracer, Self.parent)
        for _ in 0..<3 { tracer.startSpan("push", context: context).end() }
        #expect(tracer.queue.counters == SpanQueue.Counters(recorded: 3, dropped: 1))
        #expect(tracer.queue.take(max: 1).count == 1)
        tracer.startSpan("push", context: context).end()
        #expect(tracer.queue.count == 2)
    }

    @Test func `ends a span once, with what was said of it before`() {
        struct Refused: Error {}
        let tracer = self.tracer()
        let span = tracer.startSpan(
            "push",
            context: self.context(tracer, Self.parent),
            at: At(nanosecondsSinceEpoch: 9)
        )
        span.recordError(Refused())
        span.setStatus(SpanStatus(code: .error, message: "refused"))
        span.addLink(SpanLink(context: span.context, attributes: [:]))
        span.end(at: At(nanosecondsSinceEpoch: 3))
        span.end()
        span.setStatus(SpanStatus(code: .ok))
        let spans = tracer.queue.take(max: 10)
        #expect(spans.count == 1)
        #expect(spans.map(\.endedAt) == [9])
        #expect(spans.map(\.events.count) == [1])
        #expect(spans.map(\.links) == [spans.map(\.context)])
        #expect(spans.map(\.status?.message) == ["refused"])
    }
}

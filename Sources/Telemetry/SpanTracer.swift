package import Tracing
package import WidgetModel

/// A tracer of swift-distributed-tracing whose spans end in a ``SpanQueue``, with W3C Trace Context between processes.
package struct SpanTracer: Tracer {
    package let queue: SpanQueue
    package let sampler: SpanSampler

    package init(queue: SpanQueue, sampler: SpanSampler) {
        self.queue = queue
        self.sampler = sampler
    }

    /// The span's parent is the context's, if it has one; a trace that is not recorded gives a span that records nothing.
    package func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> InstrumentationContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> QueuedSpan {
        let context = context()
        let begunAt = instant().nanosecondsSinceEpoch
        var dice = SystemRandomNumberGenerator()
        let parent = context.trace
        let (high, low): (UInt64, UInt64) = parent.map { ($0.high, $0.low) } ?? (dice.next(), dice.next())
        // A parent of this process has been chosen already.
        let isLocal = context.isLocal && parent != nil
        guard isLocal || self.sampler.takes(isSampled: parent?.isSampled, traceID: low, at: begunAt),
            let own = TraceContext(high: high, low: low, spanID: dice.next(), isSampled: true)
        else { return QueuedSpan.silent }
        return QueuedSpan(
            RecordedSpan(name: operationName, kind: kind, context: own, parent: parent?.spanID, begunAt: begunAt),
            in: context,
            queue: self.queue
        )
    }

    /// Spans are exported as they come; nothing here can wait for that.
    package func forceFlush() {}

    package func extract<Carrier, Extract>(
        _ carrier: Carrier,
        into context: inout InstrumentationContext,
        using extractor: Extract
    ) where Extract: Extractor, Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: Self.header, from: carrier),
            let trace = TraceContext(traceparent: text.utf8.span)
        else { return }
        context.trace = trace
        context.isLocal = false
    }

    package func inject<Carrier, Inject>(
        _ context: InstrumentationContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject: Injector, Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent, forKey: Self.header, into: &carrier)
    }

    /// The header that carries a ``TraceContext``.
    package static let header = "traceparent"
}

/// A span's place in its trace.
private enum TraceContextKey: InstrumentationContextKey {
    typealias Value = TraceContext
}

/// Whether the trace was chosen by this gateway: now, or before it was written to the log.
private enum LocalTraceKey: InstrumentationContextKey {
    typealias Value = Bool
}

extension InstrumentationContext {
    /// The span that one which begins now is a child of.
    package internal(set) var trace: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    var isLocal: Bool {
        get { self[LocalTraceKey.self] ?? false }
        set { self[LocalTraceKey.self] = newValue }
    }

    /// The context below a span of this gateway that is known by its place alone, as from the log.
    package static func below(_ trace: TraceContext) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        context.trace = trace
        context.isLocal = true
        return context
    }
}

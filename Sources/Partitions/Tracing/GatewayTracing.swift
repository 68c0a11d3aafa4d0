package import Engine
package import HTTP2
package import Settings
import Synchronization
import Telemetry
package import Tracing
import WidgetModel

/// The spans of pushes and of their reloads and deliveries, through swift-distributed-tracing's API.
///
/// There is no value where traces are off: a maker of spans looks for that alone. A push's span is in the log
/// (``PushTrace``), so the spans below it need nothing of the process that accepted it.
package final class GatewayTracing: Sendable {
    /// Where the limits bite.
    package struct Counters: Hashable, Sendable {
        /// Reloads beyond ``GatewayConfiguration/Tracing/reloadsPerPushMax``.
        package var reloadsBeyond = 0
        /// Pushes that are looked for in the log from now on, since more were traced than are remembered.
        package var pushesForgotten = 0
        /// Reloads whose delivery will not be traced, since too many waited for theirs.
        package var reloadsForgotten = 0
    }

    let tracer: any Tracer
    package let settings: GatewayConfiguration.Tracing
    private let state = Mutex(State())

    private struct State {
        var counters = Counters()
        var reloads: [ReloadID: TraceContext] = [:]
        /// The ids of ``reloads`` in the order in which they came, with those that have gone meanwhile.
        var order: [ReloadID] = []
    }

    package init(_ tracer: any Tracer, _ settings: GatewayConfiguration.Tracing) {
        self.tracer = tracer
        self.settings = settings
    }

    package var counters: Counters { self.state.withLock { $0.counters } }

    func count(_ change: (inout Counters) -> Void) { self.state.withLock { change(&$0.counters) } }

    /// A span that begins, nil if it is not recorded.
    func begin(
        _ name: String,
        below context: InstrumentationContext,
        _ kind: SpanKind,
        at instant: DefaultTracerClock.Timestamp = DefaultTracerClock.now
    ) -> TracedSpan? {
        let span = self.tracer.startSpan(name, context: context, ofKind: kind, at: instant)
        guard span.isRecording else { return nil }
        var header: String?
        self.tracer.inject(span.context, into: &header, using: TraceparentField())
        guard let header, let place = TraceContext(traceparent: header.utf8.span) else {
            // Of a tracer that sends no such header on: nothing can be said below its spans.
            span.end()
            return nil
        }
        return TracedSpan(span, place)
    }

    /// A span below one that is known by its place, as from the log.
    func begin(
        _ name: String,
        below parent: TraceContext,
        _ kind: SpanKind = .internal,
        at instant: DefaultTracerClock.Timestamp = DefaultTracerClock.now
    ) -> TracedSpan? {
        self.begin(name, below: .below(parent), kind, at: instant)
    }
}

// MARK: - Requests

extension GatewayTracing {
    private static let headerName = Array(SpanTracer.header.utf8)

    /// The span of a push that has just come, nil if its trace is not recorded.
    ///
    /// - Parameter fields: Its header fields, which lie in `bytes`.
    package func begin(_ fields: Swift.Span<RequestBatch.Field>, in bytes: Swift.Span<UInt8>) -> TracedSpan? {
        var header: String?
        var isTwice = false
        for index in fields.indices {
            let field = fields[index]
            guard field.name.length == Self.headerName.count,
                Self.isHeader(bytes.extracting(field.name.indices))
            else { continue }
            isTwice = header != nil
            header = String(decoding: Array(copying: bytes.extracting(field.value.indices)), as: UTF8.self)
        }
        var context = InstrumentationContext.topLevel
        // Two are as good as none: it is not known which was meant.
        self.tracer.extract(isTwice ? nil : header, into: &context, using: TraceparentField())
        let span = self.begin("push", below: context, .server)
        span?.set("http.request.method", "POST")
        return span
    }

    private static func isHeader(_ name: Swift.Span<UInt8>) -> Bool {
        for index in name.indices where name[index] != Self.headerName[index] { return false }
        return true
    }

    /// The span of a request that the gateway sends for reloads, nil if none of them is traced.
    ///
    /// It is below the first of them that is, and linked to the others.
    package func request(_ name: String, for reloads: [ReloadID]) -> TracedSpan? {
        let places = self.state.withLock { state in reloads.compactMap { state.reloads[$0] } }
        guard let first = places.first, let span = self.begin(name, below: first, .client) else { return nil }
        span.set("http.request.method", "POST")
        span.set("freshet.reloads", reloads.count)
        for place in places.dropFirst() { span.span.addLink(SpanLink(context: .below(place), attributes: [:])) }
        return span
    }

    /// Reloads need no more requests.
    package func forget(_ reloads: [ReloadID]) {
        self.state.withLock { state in
            for reload in reloads { state.reloads[reload] = nil }
        }
    }

    /// Remembers the spans of reloads until ``forget(_:)``.
    func remember(_ reload: ReloadID, _ place: TraceContext) {
        self.state.withLock { state in
            if state.reloads.count >= self.settings.reloadsMax || state.order.count >= 2 * self.settings.reloadsMax {
                // Half of them at once, so that each costs little.
                let old = state.order.prefix(max(1, state.order.count / 2))
                for reload in old where state.reloads.removeValue(forKey: reload) != nil {
                    state.counters.reloadsForgotten += 1
                }
                state.order.removeFirst(old.count)
            }
            state.reloads[reload] = place
            state.order.append(reload)
        }
    }
}

/// A carrier that is the header's value and nothing else.
struct TraceparentField: Extractor, Injector {
    func extract(key: String, from carrier: String?) -> String? { key == SpanTracer.header ? carrier : nil }

    func inject(_ value: String, forKey key: String, into carrier: inout String?) {
        if key == SpanTracer.header { carrier = value }
    }
}

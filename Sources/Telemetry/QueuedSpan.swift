import Synchronization
package import Tracing
import WidgetModel

/// A span of ``SpanTracer``: goes to its queue when it ends, and records nothing afterwards.
package final class QueuedSpan: Tracing.Span {
    package let context: InstrumentationContext
    private let queue: SpanQueue?
    /// Nil once it has ended, and for one that records nothing.
    private let state: Mutex<RecordedSpan?>

    /// Of a trace that is not recorded: one for all, so that none has to be made.
    static let silent = QueuedSpan()

    private init() {
        self.context = .topLevel
        self.queue = nil
        self.state = Mutex(nil)
    }

    init(_ span: RecordedSpan, in context: InstrumentationContext, queue: SpanQueue) {
        var context = context
        context.trace = span.context
        context.isLocal = true
        self.context = context
        self.queue = queue
        self.state = Mutex(span)
    }

    package var isRecording: Bool { self.state.withLock { $0 != nil } }

    package var operationName: String {
        get { self.state.withLock { $0?.name } ?? "" }
        // A span's name is given when it begins; nothing here changes it.
        set {}
    }

    package var attributes: SpanAttributes {
        get { self.state.withLock { $0?.attributes } ?? SpanAttributes() }
        set { self.state.withLock { $0?.attributes = newValue } }
    }

    package func setStatus(_ status: SpanStatus) {
        self.state.withLock { $0?.status = status }
    }

    package func addEvent(_ event: SpanEvent) {
        self.state.withLock { $0?.events.append(event) }
    }

    package func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.message"] = "\(error)"
        let event = SpanEvent(name: "exception", at: instant(), attributes: attributes)
        self.addEvent(event)
    }

    package func addLink(_ link: SpanLink) {
        guard let trace = link.context.trace else { return }
        self.state.withLock { $0?.links.append(trace) }
    }

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let ended = self.state.withLock { state in
            defer { state = nil }
            return state
        }
        guard var span = ended else { return }
        // A wall clock that was set back makes no span that ends before it begins.
        span.endedAt = max(span.begunAt, instant().nanosecondsSinceEpoch)
        self.queue?.add(span)
    }
}

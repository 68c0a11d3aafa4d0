package import Tracing
package import WidgetModel

/// A span that has ended.
package struct RecordedSpan: Sendable {
    package let name: String
    package let kind: SpanKind
    package let context: TraceContext
    /// The span it is a child of, of this process or another; nil for the first of its trace.
    package let parent: UInt64?
    /// Nanoseconds since 1970.
    package let begunAt: UInt64
    package var endedAt: UInt64 = 0
    package var attributes = SpanAttributes()
    package var status: SpanStatus?
    package var events: [SpanEvent] = []
    package var links: [TraceContext] = []
}

import Tracing
package import WidgetModel

/// A span that is being recorded, and its place in the trace, for the log and for requests to others.
package final class TracedSpan: Sendable {
    let span: any Span
    package let context: TraceContext

    init(_ span: any Span, _ context: TraceContext) {
        self.span = span
        self.context = context
    }

    package func set(_ name: String, _ value: String) {
        self.span.updateAttributes { $0.set(name, value: .string(value)) }
    }

    func set(_ name: String, _ value: Int) {
        self.span.updateAttributes { $0.set(name, value: .int64(Int64(value))) }
    }

    /// Ends the span of a request with its answer's status.
    ///
    /// - Parameter errorsFrom: The first status that is an error: 500 of a server's span, 400 of a client's (OpenTelemetry's
    ///   semantic conventions for HTTP).
    package func end(status: Int, errorsFrom: Int) {
        self.set("http.response.status_code", status)
        if status >= errorsFrom { self.span.setStatus(SpanStatus(code: .error)) }
        self.span.end()
    }

    /// Ends the span of a request that got no answer.
    package func fail(_ reason: String) {
        self.span.setStatus(SpanStatus(code: .error, message: reason))
        self.span.end()
    }

    func end() { self.span.end() }
}

import APNSWire
import Settings
package import Telemetry
import Tracing
package import WidgetModel

/// Spans as OpenTelemetry's protocol has them in JSON (OTLP 1.x, `ExportTraceServiceRequest`; ids are hex, 64-bit integers are
/// strings).
package enum OTLPText {
    /// One request, or one line of a file (OpenTelemetry's file exporter), with all the spans.
    package static func request(_ spans: [RecordedSpan]) -> JSONValue {
        let resource = JSONValue.object(of: [
            (
                "attributes",
                .array([
                    Self.attribute("service.name", .string("freshet")),
                    Self.attribute("service.version", .string(FreshetVersion.current)),
                ])
            )
        ])
        let scope = JSONValue.object(of: [
            ("name", .string("freshet")), ("version", .string(FreshetVersion.current)),
        ])
        let scoped = JSONValue.object(of: [("scope", scope), ("spans", .array(spans.map { Self.span($0) }))])
        let all = JSONValue.object(of: [("resource", resource), ("scopeSpans", .array([scoped]))])
        return .object(of: [("resourceSpans", .array([all]))])
    }

    private static func span(_ span: RecordedSpan) -> JSONValue {
        JSONValue.object(of: [
            ("traceId", .string(span.context.traceID)),
            ("spanId", .string(Base16.text(of: span.context.spanID))),
            ("parentSpanId", span.parent.map { .string(Base16.text(of: $0)) }),
            ("name", .string(span.name)),
            ("kind", .count(Self.number(of: span.kind))),
            ("startTimeUnixNano", .string("\(span.begunAt)")),
            ("endTimeUnixNano", .string("\(span.endedAt)")),
            ("attributes", Self.attributes(span.attributes)),
            ("events", span.events.isEmpty ? nil : .array(span.events.map { Self.event($0) })),
            ("links", span.links.isEmpty ? nil : .array(span.links.map { Self.link($0) })),
            ("status", span.status.map { Self.status($0) }),
        ])
    }

    private static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    private static func event(_ event: SpanEvent) -> JSONValue {
        JSONValue.object(of: [
            ("timeUnixNano", .string("\(event.nanosecondsSinceEpoch)")), ("name", .string(event.name)),
            ("attributes", Self.attributes(event.attributes)),
        ])
    }

    private static func link(_ place: TraceContext) -> JSONValue {
        JSONValue.object(of: [
            ("traceId", .string(place.traceID)), ("spanId", .string(Base16.text(of: place.spanID))),
        ])
    }

    private static func status(_ status: SpanStatus) -> JSONValue {
        JSONValue.object(of: [
            ("code", .count(status.code == .ok ? 1 : 2)), ("message", status.message.map { .string($0) }),
        ])
    }

    /// In the order of their names; nil if there are none.
    private static func attributes(_ attributes: SpanAttributes) -> JSONValue? {
        var all: [(name: String, value: SpanAttribute)] = []
        attributes.forEach { all.append(($0, $1)) }
        guard !all.isEmpty else { return nil }
        return .array(all.sorted { $0.name < $1.name }.map { Self.attribute($0.name, $0.value) })
    }

    private static func attribute(_ name: String, _ value: SpanAttribute) -> JSONValue {
        JSONValue.object(of: [("key", .string(name)), ("value", Self.value(value))])
    }

    private static func value(_ value: SpanAttribute) -> JSONValue {
        switch value {
        case .int32(let value): .object(of: [("intValue", .string("\(value)"))])
        case .int64(let value): .object(of: [("intValue", .string("\(value)"))])
        case .double(let value): .object(of: [("doubleValue", .double(value))])
        case .bool(let value): .object(of: [("boolValue", .bool(value))])
        case .string(let value): .object(of: [("stringValue", .string(value))])
        case .stringConvertible(let value): .object(of: [("stringValue", .string("\(value)"))])
        case .stringArray(let values): Self.list(values)
        case .stringConvertibleArray(let values): Self.list(values.map { "\($0)" })
        case .int32Array(let values): Self.list(values.map { "\($0)" })
        case .int64Array(let values): Self.list(values.map { "\($0)" })
        case .doubleArray(let values): Self.list(values.map { "\($0)" })
        case .boolArray(let values): Self.list(values.map { "\($0)" })
        default: .object(of: [("stringValue", .string("\(value)"))])
        }
    }

    private static func list(_ values: [String]) -> JSONValue {
        let elements = values.map { JSONValue.object(of: [("stringValue", .string($0))]) }
        return .object(of: [("arrayValue", .object(of: [("values", .array(elements))]))])
    }
}

import APNSWire
import FoundationEssentials
import Logging
import NIOPosix
import Partitions
import Settings
import Telemetry
import Testing
import Tracing
import WidgetModel

/// Spans on their way out.
@Suite struct SpanExporterTests {
    private struct At: TracerInstant {
        let nanosecondsSinceEpoch: UInt64
        static func < (left: At, right: At) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
    }

    private static let parent = TraceContext(
        high: 0x4bf9_2f35_77b3_4da6,
        low: 0xa3ce_929d_0e0e_4736,
        spanID: 0xb7,
        isSampled: true
    )

    /// A tracer with one span that has ended.
    private static func queue(spans: Int = 1) throws -> SpanQueue {
        let queue = SpanQueue(max: 100)
        let tracer = SpanTracer(queue: queue, sampler: SpanSampler(perMillion: 0, perSecondMax: 0))
        let parent = try #require(Self.parent)
        for _ in 0..<spans {
            let span = tracer.startSpan(
                "push",
                context: .below(parent),
                ofKind: .server,
                at: At(nanosecondsSinceEpoch: 1_793_638_800_000_000_001)
            )
            span.attributes["http.response.status_code"] = 200
            span.attributes["freshet.app"] = "com.example.scores"
            span.setStatus(SpanStatus(code: .error, message: "why"))
            span.end(at: At(nanosecondsSinceEpoch: 1_793_638_800_000_000_002))
        }
        return queue
    }

    private static func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-spans-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func exporter(_ queue: SpanQueue, _ settings: GatewayConfiguration.Tracing) throws -> SpanExporter {
        try SpanExporter(
            queue,
            settings,
            on: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    @Test func `are what a collector of OpenTelemetry's reads`() throws {
        let spans = try Self.queue().take(max: 1)
        let text = String(decoding: OTLPText.request(spans).jsonText, as: UTF8.self)
        let id = Base16.text(of: try #require(spans.first).context.spanID)
        let span =
            #"{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"\#(id)","#
            + #""parentSpanId":"00000000000000b7","name":"push","kind":2,"#
            + #""startTimeUnixNano":"1793638800000000001","endTimeUnixNano":"1793638800000000002","#
            + #""attributes":[{"key":"freshet.app","value":{"stringValue":"com.example.scores"}},"#
            + #"{"key":"http.response.status_code","value":{"intValue":"200"}}],"status":{"code":2,"message":"why"}}"#
        #expect(
            text.hasPrefix(
                #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"freshet"}}"#
            )
        )
        #expect(text.hasSuffix(#""spans":[\#(span)]}]}]}"#))
    }

    @Test func `are lines of a file, and a file that is full is put aside`() async throws {
        let folder = try Self.folder()
        var settings = GatewayConfiguration.Tracing()
        settings.file = "\(folder)/spans.jsonl"
        let line = OTLPText.request(try Self.queue().take(max: 1)).jsonText.count + 1
        // Two lines fit, the second fills it.
        settings.fileBytesMax = 2 * line
        let queue = SpanQueue(max: 100)
        let exporter = try Self.exporter(queue, settings)
        func export() async throws -> [Int] {
            for span in try Self.queue().take(max: 1) { queue.add(span) }
            await exporter.flush()
            return ["spans.jsonl", "spans.jsonl.1"].map { name in
                let text = (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
                return text.split(separator: "\n").count
            }
        }
        #expect(try await export() == [1, 0])
        #expect(try await export() == [0, 2])
        #expect(try await export() == [1, 2])
        #expect(try await export() == [0, 2])
        #expect(exporter.counters.exported == 4)
        await exporter.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `that cannot be brought anywhere are counted and let go`() async throws {
        var settings = GatewayConfiguration.Tracing()
        settings.file = "/nowhere/spans.jsonl"
        let queue = try Self.queue(spans: 3)
        let exporter = try Self.exporter(queue, settings)
        await exporter.flush()
        #expect(exporter.counters.failed == 3)
        #expect(queue.count == 0)
        await exporter.close()
    }
}

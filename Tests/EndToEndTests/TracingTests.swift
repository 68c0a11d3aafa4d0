import Foundation
import Testing

/// Traces of pushes, as a sender with `traceparent` and a collector see them.
@Suite struct TracingTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"
    private static let traceparent = "traceparent: 00-\(trace)-\(parent)-01"

    /// One exported span.
    private struct Span {
        let name: String
        let trace: String
        let id: String
        let parent: String
        let attributes: [String: String]

        init?(_ json: [String: Any]) {
            guard let name = json["name"] as? String, let trace = json["traceId"] as? String,
                let id = json["spanId"] as? String
            else { return nil }
            self.name = name
            self.trace = trace
            self.id = id
            self.parent = json["parentSpanId"] as? String ?? ""
            var attributes: [String: String] = [:]
            for attribute in json["attributes"] as? [[String: Any]] ?? [] {
                guard let key = attribute["key"] as? String, let value = attribute["value"] as? [String: Any] else {
                    continue
                }
                attributes[key] = value["stringValue"] as? String ?? value["intValue"] as? String ?? ""
            }
            self.attributes = attributes
        }
    }

    /// The spans of a file of OTLP requests, a line each.
    private static func spans(in file: String) throws -> [Span] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        var spans: [Span] = []
        for line in text.split(separator: "\n") {
            let request = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            for resource in request?["resourceSpans"] as? [[String: Any]] ?? [] {
                for scope in resource["scopeSpans"] as? [[String: Any]] ?? [] {
                    spans += (scope["spans"] as? [[String: Any]] ?? []).compactMap { Span($0) }
                }
            }
        }
        return spans
    }

    private static func body(_ freshet: String = "") -> String {
        #"{"aps":{"content-changed":true}\#(freshet)}"#
    }

    @Test func `a push, its decision and its reload are below the sender's span, across a crash`() async throws {
        let folder = try TestGateway.makeFolder()
        let file = "\(folder)/spans.jsonl"
        let extra = "tracing: {enabled: true, file: \"\(file)\", exportInterval: 100ms}"
        let first = try await TestGateway.start(in: folder, extra: extra)
        let bearer = try await first.providerToken()
        _ = try await first.register(1, teams: ["seahawks"], bearer: bearer)
        // Far enough ahead that it waits while the gateway is killed, most of the time; the expectations hold anyway.
        let due = Int(Date().timeIntervalSince1970) + 20
        let answer = try await first.push(
            to: 1,
            headers: [Self.traceparent],
            bearer: bearer,
            body: Self.body(#","freshet":{"not-before":\#(due)}"#)
        )
        try #require(answer.status == 200, "\(answer.body)")
        let accepted = try await first.eventually("the push is exported") { () -> [Span]? in
            let spans = try Self.spans(in: file)
            return spans.contains { $0.name == "push" } && spans.contains { $0.name == "decide" } ? spans : nil
        }
        await first.crash()
        let push = try #require(accepted.first { $0.name == "push" })
        #expect(push.trace == Self.trace)
        #expect(push.parent == Self.parent)
        #expect(push.attributes["http.response.status_code"] == "200")

        let second = try await TestGateway.start(in: folder, extra: extra)
        let spans = try await second.eventually("its reloads are exported") { () -> [Span]? in
            let spans = try Self.spans(in: file)
            return spans.filter { $0.name == "reload" }.count >= 2 ? spans : nil
        }
        let below = spans.filter { $0.name != "push" }
        #expect(below.allSatisfy { $0.trace == Self.trace && $0.parent == push.id })
        // The host shows a score and a character.
        #expect(Set(below.compactMap { $0.attributes["freshet.kind"] }) == ["scores", "character"])
        #expect(!(try String(contentsOfFile: file, encoding: .utf8)).contains(TestGateway.token(1)))
        await second.stop()
    }

    @Test func `a collector gets what is sampled, and is told to whom a reload was fetched`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder, ["--topic", TestGateway.topic])
        let file = "\(folder)/collected.jsonl"
        let script = "\(TestGateway.root)/Tests/EndToEndTests/Clients/collector.py"
        let collector = try Command("python3", [script, "--spans", file])
        defer { collector.killHard() }
        var endpoint = ""
        for await line in collector.lines where line.hasPrefix("listening on ") {
            endpoint = String(line.dropFirst("listening on ".count))
            break
        }
        let provider = try await ExampleProvider(in: folder)
        let gateway = try await TestGateway.start(
            in: folder,
            extra: "tracing: {enabled: true, endpoint: \"\(endpoint)\", exportInterval: 100ms}",
            timelineProvider: provider.url
        )
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        // Not sampled, not valid, none: three pushes that are not traced.
        for header in ["traceparent: 00-\(Self.trace)-\(Self.parent)-00", "traceparent: 00-nonsense", "x: y"] {
            let answer = try await gateway.push(to: 1, headers: [header], bearer: bearer, body: Self.body())
            try #require(answer.status == 200, "\(answer.body)")
        }
        let answer = try await gateway.push(to: 1, headers: [Self.traceparent], bearer: bearer, body: Self.body())
        try #require(answer.status == 200, "\(answer.body)")
        let refused = try await gateway.push(
            to: 1,
            headers: [Self.traceparent, "apns-priority: 7"],
            bearer: bearer,
            body: Self.body()
        )
        try #require(refused.status == 400)
        let spans = try await gateway.eventually("everything is collected") { () -> [Span]? in
            let spans = try Self.spans(in: file)
            return spans.filter { $0.name == "push" }.count == 2 && spans.contains { $0.name == "decide" } ? spans : nil
        }
        #expect(Set(spans.map(\.trace)) == [Self.trace])
        let statuses = spans.filter { $0.name == "push" }.compactMap { $0.attributes["http.response.status_code"] }
        #expect(statuses.sorted() == ["200", "400"])
        #expect(spans.compactMap { $0.attributes["freshet.reason"] } == ["BadPriority"])
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics")
        #expect(metrics.body.contains(#"freshet_trace_spans_total{result="failed"} 0"#))
        #expect(metrics.body.contains("freshet_log_commit_seconds_count "))
        await gateway.stop()
    }
}

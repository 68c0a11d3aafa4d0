import Foundation
import Testing

/// Findings about timelines, from the report to the counts.
@Suite struct TimelineFindingTests {
    /// How often the kind of scores had too much content, by the two places that count it.
    private static func counts(_ gateway: TestGateway) async throws -> [Int] {
        let name = #"freshet_timeline_findings_total{app="\#(TestGateway.app)",kind="scores",code="manyBytes"} "#
        var counts = [0, 0]
        // Of several gateways each counts those that it found.
        for url in gateway.opsURLs {
            let kinds = try await gateway.curl("GET", "\(url)/v1/kinds/scores").json
            let kind = (kinds["kinds"] as? [[String: Any]])?.first
            let metrics = try await gateway.curl("GET", "\(url)/metrics").body
            let line = metrics.split(separator: "\n").first { $0.hasPrefix(name) }
            counts[0] += (kind?["findings"] as? [String: Int])?["manyBytes"] ?? 0
            counts[1] += line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
        }
        return counts
    }

    @Test func `a host that says how much its entries show hears if it is more than devices keep`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        for (bytes, isFound) in [(9_999_999, false), (10_000_000, false), (10_000_001, true)] {
            let answer = try await gateway.curl(
                "PUT",
                "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets/scores-0/timeline",
                bearer: bearer,
                body: #"{"entries":[{"date":"2026-11-22T12:00:00Z"}],"contentBytes":\#(bytes)}"#
            )
            #expect(answer.status == 200, "\(answer.body)")
            let codes = (answer.json["findings"] as? [[String: Any]] ?? []).compactMap { $0["code"] as? String }
            #expect(codes.contains("manyBytes") == isFound, "\(bytes): \(answer.body)")
            #expect(try await Self.counts(gateway) == (isFound ? [1, 1] : [0, 0]))
        }
        await gateway.stop()
    }

    @Test func `of a provider's answer the content is counted; what is above the limit of the configuration is found`()
        async throws
    {
        // {"type":"score","team":"seahawks","opponent":"rams","us":14,"them":10,"minute":52}
        let bytes = 82
        for (advised, count) in [(bytes - 1, 1), (bytes, 0), (bytes + 1, 0)] {
            let folder = try TestGateway.makeFolder()
            let provider = try await ExampleProvider(in: folder)
            try provider.set(us: 14, them: 10)
            let gateway = try await TestGateway.start(
                in: folder,
                extra: "limits: {advisedContentBytes: \(advised)}",
                timelineProvider: provider.url
            )
            let bearer = try await gateway.providerToken()
            _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
            _ = try await gateway.eventually("it is shown") {
                let state = try await gateway.curl(
                    "GET",
                    "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/state",
                    bearer: bearer
                )
                let entries = state.json["entries"] as? [[String: Any]] ?? []
                return entries.first { $0["instance"] as? String == "scores-0" }
            }
            #expect(try await Self.counts(gateway) == [count, count], "\(advised)")
            await provider.stop()
            await gateway.stop()
        }
    }
}

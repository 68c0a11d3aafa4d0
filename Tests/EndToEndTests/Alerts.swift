import Foundation
import Testing

/// The shipped alert rules, judged by Prometheus' own tool on what a gateway says of itself.
enum Alerts {
    /// How often an alert fires if the gateway says the same for so many minutes.
    static func firing(_ name: String, _ gateway: TestGateway, afterMinutes minutes: Int) async throws -> Int {
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        return try await Self.firing(name, metrics, afterMinutes: minutes)
    }

    static func firing(_ name: String, _ metrics: String, afterMinutes minutes: Int) async throws -> Int {
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let series = metrics.split(separator: "\n").filter { $0.hasPrefix("freshet_") }.compactMap { line -> String? in
            guard let space = line.lastIndex(of: " ") else { return nil }
            let value = line[line.index(after: space)...]
            return "      - {series: '\(line[..<space])', values: '\(value)x\(minutes)'}"
        }
        // A question that no answer fits: the tool says what it found.
        let test = """
            rule_files: ["\(TestGateway.root)/deploy/prometheus/alerts.yml"]
            evaluation_interval: 15s
            tests:
              - interval: 1m
                input_series:
            \(series.joined(separator: "\n"))
                promql_expr_test:
                  - expr: count(ALERTS{alertname="\(name)",alertstate="firing"})
                    eval_time: \(minutes)m
                    exp_samples: [{labels: "{}", value: -1}]
            """
        let file = "\(folder)/alerts.test.yml"
        try test.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await Command.run("promtool", ["test", "rules", file])
        let said = result.output + result.errors
        if let found = said.firstMatch(of: /got:\s*(?:\{\}|Labels:\s*\{\}\s*Sample:)\s*([0-9]+)/) {
            return try #require(Int(found.output.1))
        }
        try #require(said.contains(/got:\s*nil/), "\(said)")
        return 0
    }
}

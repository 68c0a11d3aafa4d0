import Foundation
import Testing

/// The shipped alert rules, judged by Prometheus' own tool on a gateway's metrics.
///
/// For rules about present values; rules about growth take a ``Prometheus``, which goes on scraping.
enum Alerts {
    /// How often an alert fires if the gateway, and each that shares its log, says the same for so many minutes.
    static func firing(_ name: String, _ gateway: TestGateway, afterMinutes minutes: Int) async throws -> Int {
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var series: [String] = []
        for (number, url) in gateway.opsURLs.enumerated() {
            let metrics = try await gateway.curl("GET", "\(url)/metrics").body
            series += metrics.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
                line.lastIndex(of: " ").map { space in
                    let name = Self.named(line[..<space], number)
                    return "      - {series: '\(name)', values: '\(line[line.index(after: space)...])x\(minutes)'}"
                }
            }
        }
        // A question that no answer fits: the tool says what it found.
        let test = """
            rule_files: ["\(TestGateway.root)/deploy/prometheus/alerts.yml"]
            evaluation_interval: 1m
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
        let found = try #require(
            said.firstMatch(of: /got:\s*(?:nil|(?:\{\}|Labels:\s*\{\}\s*Sample:)\s*([0-9]+))/),
            "\(said)"
        )
        return found.output.1.flatMap { Int($0) } ?? 0
    }

    /// A series with the labels that Prometheus adds, for one of the gateways.
    static func named(_ series: Substring, _ number: Int) -> String {
        let labels = #"instance="gateway-\#(number)",job="freshet""#
        return series.hasSuffix("}") ? "\(series.dropLast()),\(labels)}" : "\(series){\(labels)}"
    }
}

import Foundation
import Testing

/// The shipped alert rules, judged by Prometheus' own tool on what gateways say of themselves.
enum Alerts {
    /// What a gateway answered to one scrape.
    struct Scrape: Sendable {
        /// Nil where it did not answer.
        let metrics: String?
        let at = Date()
    }

    static func scrape(_ gateway: TestGateway) async -> Scrape {
        let answer = try? await gateway.curl("GET", "\(gateway.opsURL)/metrics")
        return Scrape(metrics: answer?.status == 200 ? answer?.body : nil)
    }

    /// How often an alert fires if the gateway says the same for so many minutes.
    static func firing(_ name: String, _ gateway: TestGateway, afterMinutes minutes: Int) async throws -> Int {
        try await Self.firing(name, [Self.scrape(gateway)], minutes: minutes)[0]
    }

    static func firing(_ name: String, _ metrics: String, afterMinutes minutes: Int) async throws -> Int {
        try await Self.firing(name, [Scrape(metrics: metrics)], minutes: minutes)[0]
    }

    /// How often an alert fires at the end of each of several times, one after the other: through each of them the gateway goes on
    /// as it did when it was scraped. A gauge keeps its value, and a counter grows each minute by what it had grown since the
    /// scrape before.
    static func firing(_ name: String, _ scrapes: [Scrape], minutes: Int = 90) async throws -> [Int] {
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let questions = scrapes.indices.map { index in
            // A question that no answer fits: the tool says what it found.
            """
                  - expr: count(ALERTS{alertname="\(name)",alertstate="firing"})
                    eval_time: \(Self.end(of: index, minutes))m
                    exp_samples: [{labels: "{}", value: -1}]
            """
        }
        let test = """
            rule_files: ["\(TestGateway.root)/deploy/prometheus/alerts.yml"]
            evaluation_interval: 15s
            tests:
              - interval: 1m
                input_series:
            \(try Self.series(scrapes, minutes).joined(separator: "\n"))
                promql_expr_test:
            \(questions.joined(separator: "\n"))
            """
        let file = "\(folder)/alerts.test.yml"
        try test.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await Command.run("promtool", ["test", "rules", file])
        let said = result.output + result.errors
        let found = said.matches(of: /got:\s*(?:nil|(?:\{\}|Labels:\s*\{\}\s*Sample:)\s*([0-9]+))/).map { match in
            match.output.1.flatMap { Int($0) } ?? 0
        }
        try #require(found.count == scrapes.count, "\(said)")
        return found
    }

    /// The last minute of a time: each has a sample at its beginning and one at the end of each of its minutes.
    private static func end(of index: Int, _ minutes: Int) -> Int { (minutes + 1) * (index + 1) - 1 }

    /// The metrics that the rules ask for.
    private static func asked() throws -> Set<String> {
        let rules = try String(contentsOfFile: "\(TestGateway.root)/deploy/prometheus/alerts.yml", encoding: .utf8)
        return Set(rules.matches(of: /(freshet|process)_[a-z_]+/).map { String($0.output.0) })
    }

    /// Each series as `promtool` takes it, with the labels that Prometheus adds.
    private static func series(_ scrapes: [Scrape], _ minutes: Int) throws -> [String] {
        let asked = try Self.asked()
        var values: [String: [Double?]] = [:]
        var counters: Set<Substring> = []
        for (index, scrape) in scrapes.enumerated() {
            for line in scrape.metrics?.split(separator: "\n") ?? [] {
                if line.hasPrefix("# TYPE "), line.hasSuffix(" counter") || line.hasSuffix(" histogram") {
                    counters.insert(line.split(separator: " ")[2])
                }
                guard !line.hasPrefix("#"), let space = line.lastIndex(of: " "),
                    asked.contains(String(line.prefix { $0 != "{" && $0 != " " })),
                    var value = Double(line[line.index(after: space)...])
                else { continue }
                if line.contains("_timestamp_seconds") {
                    // The tool's clock begins at 0: an instant is as far from the end of this time as it was from the scrape.
                    value += Double(Self.end(of: index, minutes) * 60) - scrape.at.timeIntervalSince1970
                }
                values[Self.named(line[..<space]), default: scrapes.map { _ in Double?.none }][index] = value
            }
        }
        values[Self.named("up")] = scrapes.map { $0.metrics == nil ? 0 : 1 }
        return values.keys.sorted().map { name in
            let family = name.prefix { $0 != "{" }
            let isCounter = counters.contains { family == $0 || family.hasPrefix("\($0)_") }
            return "      - {series: '\(name)', values: '\(Self.values(values[name] ?? [], isCounter, minutes))'}"
        }
    }

    private static func named(_ series: Substring) -> String {
        let labels = #"instance="gateway",job="freshet""#
        return series.hasSuffix("}") ? "\(series.dropLast()),\(labels)}" : "\(series){\(labels)}"
    }

    private static func values(_ values: [Double?], _ isCounter: Bool, _ minutes: Int) -> String {
        var last: Double?
        var reached = 0.0
        return values.map { value in
            guard let value else { return "_x\(minutes)" }
            let grown = isCounter ? max(0, value - (last ?? (values[0] == nil ? 0 : value))) : 0
            // What had grown when the times before it were stretched stays.
            let start = isCounter ? (last == nil ? value - grown : reached) + grown : value
            reached = start + grown * Double(minutes)
            last = value
            return "\(start)+\(grown)x\(minutes)"
        }.joined(separator: " ")
    }
}

import Foundation
import Synchronization
import Testing

/// A Prometheus for one gateway: its metrics are scraped again and again, and Prometheus' own engine judges them by the shipped rules.
///
/// Its time is counted in scrapes: each is a minute after the one before it, however long it took. So a condition that must hold for a
/// quarter of an hour must hold for 15 scrapes, and which alerts fire depends on what the gateway says, not on how fast or how busy the
/// machine is. Nothing of a rule is changed, and none is left out.
final class Prometheus: Sendable {
    /// So many minutes are kept: more than any rule looks back, with the time for which it has to hold.
    private static let minutesMax = 90
    /// So many scrapes are waited for, at least: twice as many as the slowest rule takes.
    private static let looksMin = 200
    /// After so many scrapes each rule has held for as long as it has to.
    private static let heldMin = 16

    /// Where the gateway is.
    private struct Target {
        let url: String
        let ca: String
        let token: String?

        init(_ gateway: TestGateway) {
            (self.url, self.ca, self.token) = (gateway.opsURL, gateway.ca, gateway.operatorToken)
        }
    }

    /// What the gateway said, by series.
    private struct Scrape {
        var values: [String: String] = [:]
        /// Points in time, in seconds from the scrape.
        var times: [String: Double] = [:]

        /// A series' value, if the scrape was at a time in seconds.
        func text(_ series: String, at time: Double) -> String? {
            self.values[series] ?? self.times[series].map { "\($0 + time)" }
        }
    }

    private let folder: String
    /// Every name in the rules: no other series matters.
    private let names: Set<String>
    private let target: Mutex<Target>
    private let scrapes = Mutex<[Scrape]>([])

    /// Starts one that has scraped the gateway: what grows is seen from then on.
    static func start(watching gateway: TestGateway) async throws -> Prometheus {
        let prometheus = try Prometheus(gateway)
        try await prometheus.scrape()
        return prometheus
    }

    private init(_ gateway: TestGateway) throws {
        let rules = try String(contentsOfFile: Self.rules, encoding: .utf8)
        self.names = Set(rules.matches(of: /[a-zA-Z_][a-zA-Z0-9_]*/).map { String($0.output) })
        self.target = Mutex(Target(gateway))
        self.folder = try TestGateway.makeFolder()
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    private static var rules: String { "\(TestGateway.root)/deploy/prometheus/alerts.yml" }

    /// Scrapes another process of the gateway in place of the one before.
    func watch(_ gateway: TestGateway) { self.target.withLock { $0 = Target(gateway) } }

    /// Scrapes once more, and waits for the answer: one that comes late is as good as another.
    private func scrape() async throws {
        let target = self.target.withLock { $0 }
        let credential = target.token.map { ["--header", "authorization: bearer \($0)"] } ?? []
        let options = ["--silent", "--fail", "--max-time", "300", "--cacert", target.ca]
        let answer = try await Command.run("curl", options + credential + ["\(target.url)/metrics"])
        let isUp = answer.status == 0
        let newest = self.read(isUp ? answer.output : "", isUp: isUp, now: Date().timeIntervalSince1970)
        self.scrapes.withLock { $0 = Array($0.suffix(Self.minutesMax - 1)) + [newest] }
    }

    /// What metrics say of the series that the rules know.
    private func read(_ metrics: String, isUp: Bool, now: Double) -> Scrape {
        var scrape = Scrape()
        scrape.values[Alerts.named("up", 0)] = isUp ? "1" : "0"
        for line in metrics.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            let series = line[..<space]
            let value = String(line[line.index(after: space)...])
            let name = String(series.prefix { $0 != "{" })
            guard self.names.contains(name) else { continue }
            if name.hasSuffix("_timestamp_seconds"), let seconds = Double(value) {
                scrape.times[Alerts.named(series, 0)] = seconds - now
            } else {
                scrape.values[Alerts.named(series, 0)] = value
            }
        }
        return scrape
    }

    /// The names of the alerts that would fire if all stayed as it is: by so many more scrapes that no rule still waits.
    func firingIfHeld() async throws -> Set<String> {
        for _ in 1..<Self.heldMin { try await self.scrape() }
        return try await self.firing()
    }

    /// The names of the alerts that fire, by one more scrape.
    func firing() async throws -> Set<String> {
        try await self.scrape()
        let file = "\(self.folder)/alerts.test.yml"
        try Self.question(self.scrapes.withLock { $0 }).write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await Command.run("promtool", ["test", "rules", file])
        // The question expects that none fires: the tool is content, or says which do.
        guard result.status != 0 else { return [] }
        let said = result.output + result.errors
        let found = try #require(said.firstRange(of: "got:"), "\(said)")
        return Set(said[found.upperBound...].matches(of: /alertname="([A-Za-z]+)"/).map { String($0.output.1) })
    }

    /// What `promtool` is asked: which alerts fire at the last of these scrapes.
    private static func question(_ scrapes: [Scrape]) -> String {
        let all = Set(scrapes.flatMap { Array($0.values.keys) + Array($0.times.keys) })
        let rows = all.sorted().map { series -> String in
            var wasThere = false
            let values = scrapes.enumerated().map { minute, scrape -> String in
                let text = scrape.text(series, at: Double(minute * 60))
                defer { wasThere = text != nil }
                return text ?? (wasThere ? "stale" : "_")
            }
            let name = series.replacingOccurrences(of: "'", with: "''")
            return "      - {series: '\(name)', values: '\(values.joined(separator: " "))'}"
        }
        return """
            rule_files: ["\(Self.rules)"]
            evaluation_interval: 1m
            tests:
              - interval: 1m
                input_series:
            \(rows.joined(separator: "\n"))
                promql_expr_test:
                  - expr: count by (alertname) (ALERTS{alertstate="firing"})
                    eval_time: \(scrapes.count - 1)m
                    exp_samples: []
            """
    }

    /// Waits until alerts fire, all of them.
    ///
    /// - Parameter again: Keeps up a condition that would end by itself; done before each scrape.
    func waitUntilFiring(_ alerts: [String], again: () async throws -> Void = {}) async throws {
        try await self.wait("\(alerts)", again: again) { $0.isSuperset(of: alerts) }
    }

    /// Scrapes until the firing alerts are as they should be.
    ///
    /// - Parameter again: Keeps up a condition that would end by itself; done before each scrape.
    func wait(
        _ what: String,
        again: () async throws -> Void = {},
        until isSo: (Set<String>) -> Bool
    ) async throws {
        var attempts = Attempts(Self.looksMin)
        var firing: Set<String> = []
        while attempts.isAnother() {
            try await again()
            firing = try await self.firing()
            if isSo(firing) { return }
        }
        throw TestGateway.Failure("never so: \(what); these fire: \(firing.sorted())")
    }
}

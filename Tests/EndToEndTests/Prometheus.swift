import Foundation
import Testing

/// A real Prometheus that scrapes one gateway by the shipped configuration and judges it by the shipped rules, and the alerts that it sends
/// to an Alertmanager.
///
/// Its time is scaled: where a rule says a minute, here it is a second, so that a condition that must hold for a quarter of an hour must
/// hold for 15 seconds. Nothing else of a rule is changed, and none is left out.
final class Prometheus: Sendable {
    private let folder: String
    private let server: Command
    private let receiver: Command
    /// A rule of the tests, which fires as long as the gateway is scraped.
    private static let scraped = "GatewayIsScraped"

    /// Starts one and waits until it has scraped the gateway: what grows is seen from then on.
    static func start(watching gateway: TestGateway) async throws -> Prometheus {
        let shipped = "\(TestGateway.root)/deploy/prometheus"
        let folder = try TestGateway.makeFolder()
        let receiver = try Command("python3", ["\(TestGateway.root)/Tests/EndToEndTests/Clients/alert_receiver.py"])
        var lines = receiver.lines.makeAsyncIterator()
        let port = try #require(await lines.next().flatMap { Int($0) })
        let rules = try Self.scaled(String(contentsOfFile: "\(shipped)/alerts.yml", encoding: .utf8))
        try (rules + "      - {alert: \(Self.scraped), expr: 'up == 1'}\n")
            .write(toFile: "\(folder)/alerts.yml", atomically: true, encoding: .utf8)
        var configuration = try String(contentsOfFile: "\(shipped)/prometheus.yml", encoding: .utf8)
        for (from, to) in [
            ("scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s"),
            ("/etc/freshet/certs/ca.pem", gateway.ca),
            ("/etc/prometheus/freshet.token", "\(folder)/token"),
            // A gateway that is started again has other ports.
            (
                #"static_configs:\#n      - targets: ["127.0.0.1:9443"]"#,
                "file_sd_configs:\n      - files: [targets.json]"
            ),
        ] {
            try #require(configuration.contains(from), "deploy/prometheus/prometheus.yml has no \(from)")
            configuration.replace(from, with: to)
        }
        configuration += "alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:\(port)']}]}]}\n"
        try configuration.write(toFile: "\(folder)/prometheus.yml", atomically: true, encoding: .utf8)
        try Self.write(targetOf: gateway, in: folder)
        let server = try Command(
            "prometheus",
            [
                "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/data", "--log.level=warn",
                "--web.listen-address=127.0.0.1:0", "--rules.alert.resend-delay=1s",
            ]
        )
        let prometheus = Prometheus(folder: folder, server: server, receiver: receiver)
        try await prometheus.wait("the gateway is scraped") { $0.contains(Self.scraped) }
        return prometheus
    }

    private init(folder: String, server: Command, receiver: Command) {
        self.folder = folder
        self.server = server
        self.receiver = receiver
    }

    /// A test that has failed leaves no process behind.
    deinit {
        self.server.killHard()
        self.receiver.killHard()
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// Rules of which a minute is a second, and an hour a minute.
    static func scaled(_ rules: String) -> String {
        rules.replacing(/(for: |\[|offset )([0-9]+)([mh])/) { match in
            "\(match.output.1)\(match.output.2)\(match.output.3 == "m" ? "s" : "m")"
        }
    }

    /// Scrapes another process of the gateway in place of the one before.
    func watch(_ gateway: TestGateway) throws { try Self.write(targetOf: gateway, in: self.folder) }

    private static func write(targetOf gateway: TestGateway, in folder: String) throws {
        try (gateway.operatorToken ?? "").write(toFile: "\(folder)/token", atomically: true, encoding: .utf8)
        try #"[{"targets": ["127.0.0.1:\#(gateway.opsPort)"], "labels": {"instance": "gateway"}}]"#
            .write(toFile: "\(folder)/targets.json", atomically: true, encoding: .utf8)
    }

    /// The names of the alerts that fire, by what it has told of each last.
    var firing: Set<String> {
        var last: [Substring: Bool] = [:]
        for line in self.receiver.written.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            if words.count == 2 { last[words[1]] = words[0] == "fires" }
        }
        return Set(last.filter(\.value).compactMap { $0.key.split(separator: " ").first.map(String.init) })
    }

    /// Waits until alerts fire, all of them.
    ///
    /// - Parameter again: Keeps up a condition that would end by itself.
    func waitUntilFiring(_ alerts: [String], again: () async throws -> Void = {}) async throws {
        try await self.wait("\(alerts)", again: again) { $0.isSuperset(of: alerts) }
    }

    /// Waits until the firing alerts are as they should be. Prometheus tells them once a second, so this looks as
    /// often.
    ///
    /// - Parameter again: Keeps up a condition that would end by itself.
    func wait(
        _ what: String,
        again: () async throws -> Void = {},
        until isSo: (Set<String>) -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(600)
        while !isSo(self.firing) {
            guard ContinuousClock.now < end else { break }
            try await again()
            for await _ in self.receiver.lines { break }
        }
        guard isSo(self.firing) else {
            throw TestGateway.Failure("never so: \(what); these fire: \(self.firing.sorted())\n\(self.server.written)")
        }
    }
}

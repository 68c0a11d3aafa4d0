import Foundation
import Testing

/// Prometheus itself, with what is shipped for it. Which alerts fire when is what ``Prometheus`` is for.
@Suite(.timeLimit(.minutes(60))) struct PrometheusTests {
    @Test func `it scrapes a gateway by the shipped configuration, and tells an Alertmanager of an alert`() async throws
    {
        let gateway = try await TestGateway.start()
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let receiver = try Command("python3", ["\(TestGateway.root)/Tests/EndToEndTests/Clients/alert_receiver.py"])
        defer { receiver.killHard() }
        var lines = receiver.lines.makeAsyncIterator()
        let port = try #require(await lines.next().flatMap { Int($0) })
        try Self.configure(gateway, alertmanager: port, in: folder)
        let server = try Command(
            "prometheus",
            [
                "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/data", "--log.level=warn",
                "--web.listen-address=127.0.0.1:0",
            ]
        )
        defer { server.killHard() }
        // One that ends tells nothing any more.
        Task {
            _ = await server.wait()
            receiver.killHard()
        }
        // On a busy machine scrapes may come too late; one that does not is enough.
        while let line = await lines.next(), !line.hasPrefix("fires GatewayIsReady") {}
        #expect(receiver.written.contains("fires GatewayIsReady"), "\(server.written)")
        await gateway.stop()
    }

    /// Writes the shipped configuration and rules, with this gateway's files and address, and an alert that a gateway fires that is well.
    private static func configure(_ gateway: TestGateway, alertmanager port: Int, in folder: String) throws {
        let shipped = "\(TestGateway.root)/deploy/prometheus"
        let rules = try String(contentsOfFile: "\(shipped)/alerts.yml", encoding: .utf8)
        let alert = #"      - {alert: GatewayIsReady, expr: 'freshet_ready_condition{job="freshet"} == 1'}"#
        try "\(rules)\(alert)\n".write(toFile: "\(folder)/alerts.yml", atomically: true, encoding: .utf8)
        try (gateway.operatorToken ?? "").write(toFile: "\(folder)/token", atomically: true, encoding: .utf8)
        var configuration = try String(contentsOfFile: "\(shipped)/prometheus.yml", encoding: .utf8)
        for (from, to) in [
            ("scrape_interval: 15s", "scrape_interval: 15s\n  evaluation_interval: 1s"),
            ("/etc/freshet/certs/ca.pem", gateway.ca),
            ("/etc/prometheus/freshet.token", "\(folder)/token"),
            ("127.0.0.1:9443", "127.0.0.1:\(gateway.opsPort)"),
        ] {
            try #require(configuration.contains(from), "deploy/prometheus/prometheus.yml has no \(from)")
            configuration.replace(from, with: to)
        }
        configuration += "alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:\(port)']}]}]}\n"
        try configuration.write(toFile: "\(folder)/prometheus.yml", atomically: true, encoding: .utf8)
    }
}

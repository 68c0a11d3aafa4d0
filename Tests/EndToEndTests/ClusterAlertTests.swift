#if JetStream
import BrokerSupport
import Foundation
import Testing

/// The alerts about brokers, streams, clocks and standbys.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterAlertTests {
    /// The metric's line while all is well, and its value when it is not.
    private static let alerts = [
        (name: "FreshetStreamsLeaderless", series: #"freshet_cluster_streams{which="leaderless"}"#, value: "1"),
        (name: "FreshetStreamsLagging", series: #"freshet_cluster_streams{which="lagging"}"#, value: "1"),
        (name: "FreshetBrokerUnsafe", series: "freshet_cluster_brokers_unsafe", value: "1"),
        (
            name: "FreshetClocksDisagree", series: #"freshet_cluster_clock_disagreements_total{partition="0"}"#,
            value: "0+1"
        ),
    ]

    @Test func `brokers and clocks that are not well fire alerts`() async throws {
        let brokers = try Brokers()
        let own = "node: {name: gateway-a, address: \"gateway-a:443\"}"
        let gateway = try await TestGateway.start(
            partitions: 2,
            extra: try JetStreamGatewayTests.journal(brokers, more: own)
        )
        let metrics = try await gateway.eventually("the brokers are looked at") {
            let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
            return metrics.contains("freshet_cluster_brokers_unsafe") ? metrics : nil
        }
        for (name, series, value) in Self.alerts {
            // What it takes is hard to come by: the number is as it would be then.
            #expect(metrics.contains("\(series) 0\n"), "\(series)")
            let ill = metrics.replacing("\(series) 0\n", with: "\(series) \(value)\n")
            #expect(try await Alerts.firing(name, metrics, afterMinutes: 15) == 0, "\(name)")
            #expect(try await Alerts.firing(name, ill, afterMinutes: 15) == 1, "\(name)")
        }
        // It is alone, and follows no other one.
        let behind = metrics + "freshet_partition_standby_lag_entries{partition=\"0\"} "
        #expect(try await Alerts.firing("FreshetStandbyLags", behind + "100\n", afterMinutes: 10) == 0)
        #expect(try await Alerts.firing("FreshetStandbyLags", behind + "101\n", afterMinutes: 10) == 1)
        await gateway.stop()
    }
}
#endif

#if JetStream
import BrokerSupport
import Foundation
import Testing

/// The changes of all gateways that share a log, at each of them.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterAuditTests {
    /// A list that a gateway answers with.
    private static func list(_ path: String, _ key: String, at gateway: TestGateway) async throws -> [[String: Any]] {
        let answer = try await gateway.curl("GET", "\(gateway.opsURL)\(path)")
        #expect(answer.status == 200, "\(answer.body)")
        return answer.json[key] as? [[String: Any]] ?? []
    }

    private static func change(
        _ gateway: TestGateway,
        _ method: String,
        _ path: String,
        _ body: String,
        as name: String
    ) async throws {
        let url = "\(gateway.opsURL)\(path)"
        let answer = try await gateway.curl(method, url, headers: ["x-request-id: \(name)"], body: body)
        #expect(answer.status == 200, "\(answer.body)")
    }

    /// Waits until the audit of a gateway has these requests alone, each with its answer.
    private static func awaitChanges(_ names: Set<String>, at gateway: TestGateway) async throws {
        _ = try await gateway.eventually("it has all changes") {
            let requests = try await Self.list("/v1/audit", "requests", at: gateway)
            let known = requests.filter { $0["status"] as? Int == 200 }.compactMap { $0["request"] as? String }
            return requests.count == names.count && Set(known) == names ? true : nil
        }
    }

    @Test func `a change at one gateway is in the audit of the other, and one that was away reads it later`()
        async throws
    {
        let pair = try await ClusterGatewayTests.pair()
        // Both have read the log as it was when they started.
        for gateway in pair.gateways { try await Self.awaitChanges([], at: gateway) }
        var names: Set<String> = []
        for (index, gateway) in pair.gateways.enumerated() {
            let name = "levels-\(index)"
            try await Self.change(gateway, "PUT", "/v1/log-levels", #"{"levels":{}}"#, as: name)
            names.insert(name)
        }
        // These are in the partitions of both gateways.
        for number in 1...8 {
            let name = "grant-\(number)"
            let body =
                #"{"action":"grant","count":1,"of":{"instance":"\#(TestGateway.app)/host-\#(number):scores-0"}}"#
            try await Self.change(pair.gateways[number % 2], "POST", "/v1/orders", body, as: name)
            names.insert(name)
        }
        for gateway in pair.gateways {
            try await Self.awaitChanges(names, at: gateway)
            _ = try await gateway.eventually("charts mark them") {
                let marks = try await Self.list("/v1/history/marks", "marks", at: gateway)
                return marks.count { $0["kind"] as? String == "order" } == names.count ? true : nil
            }
        }

        #expect(await pair.second.drain() == 0)
        let pause = #"{"action":"pause","of":{"app":"\#(TestGateway.app)"}}"#
        try await Self.change(pair.first, "POST", "/v1/orders", pause, as: "pause")
        names.insert("pause")
        let again = try await ClusterGatewayTests.start("gateway-b", pair.brokers, in: pair.second.folder)
        for gateway in [pair.first, again] {
            try await Self.awaitChanges(names, at: gateway)
            await gateway.stop()
        }
    }
}
#endif

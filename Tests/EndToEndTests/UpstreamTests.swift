import Foundation
import Testing

/// Two gateways over real sockets: what A decides goes as a push to B, its APNs, and on to a host's stream there.
@Suite struct UpstreamTests {
    /// A host with two widgets of the app, delivered this way.
    private static func register(_ gateway: TestGateway, _ delivery: String) async throws -> TestGateway.Answer {
        let bearer = try await gateway.providerToken()
        let instances = ["seahawks", "rams"].map {
            #"{"id":"\#($0)","kind":"scores","family":"systemSmall","configuration":{"team":"\#($0)"}}"#
        }
        return try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer,
            body: #"{"app":"\#(TestGateway.app)","host":"phone","delivery":"\#(delivery)","#
                + #""instances":[\#(instances.joined(separator: ","))]}"#
        )
    }

    private static func push(
        _ gateway: TestGateway,
        type: String = "widgets",
        topic: String = TestGateway.topic,
        headers: [String] = [],
        body: String = #"{"aps":{"content-changed":true}}"#
    ) async throws -> TestGateway.Answer {
        try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            bearer: try await gateway.providerToken(),
            headers: ["apns-push-type: \(type)", "apns-topic: \(topic)"] + headers,
            body: body
        )
    }

    @Test func `a push goes through A and B to the host's stream, and comes to count as reloaded at A`() async throws {
        // In developer mode no reload waits for a budget, only for 15 s between two reloads.
        let far = try await TestGateway.start(appSettings: "    developerMode: true")
        let near = try await TestGateway.start(before: far)
        try #require(try await Self.register(far, "stream").status == 200)
        let registered = try await Self.register(near, "apns")
        try #require(registered.status == 200, "\(registered.body)")

        let bearer = try await far.providerToken()
        // The reloads of the registrations are settled first.
        let before = try await far.eventually("the hosts' first reloads") { () -> [String]? in
            let outstanding = try await far.outstanding(1, bearer: bearer)
            return outstanding.count >= 2 ? outstanding : nil
        }
        try await far.acknowledge(before, bearer: bearer)

        let answer = try await Self.push(near, headers: ["apns-priority: 10"])
        try #require(answer.status == 200, "\(answer.body)")
        let id = try #require(answer.headers["apns-id"])
        let settled = try await near.settled(id)
        #expect(settled.json["matched"] as? Int == 2)
        let outcomes = settled.json["outcomes"] as? [String: Int] ?? [:]
        let final = ["reloaded", "exempt", "coalesced", "deferred"].reduce(0) { $0 + (outcomes[$1] ?? 0) }
        #expect(final == 2)
        let offered = try await far.eventually("B offers the reloads") { () -> [String]? in
            let outstanding = try await far.outstanding(1, bearer: bearer).filter { !before.contains($0) }
            return outstanding.count >= 2 ? outstanding : nil
        }
        #expect(offered.count >= 2)
        var minted = 0
        for url in near.opsURLs {
            let deliveries = try await near.curl("GET", "\(url)/v1/stats").json["deliveries"] as? [String: Any]
            let apns = deliveries?["apns"] as? [String: Any]
            #expect(apns?["refused"] as? Int == 0)
            minted += deliveries?["providerTokensMinted"] as? Int ?? 0
        }
        #expect(minted == 1)
        await near.stop()
        await far.stop()
    }

    @Test func `delivery by APNs is refused where the app has no upstream`() async throws {
        let gateway = try await TestGateway.start()
        let answer = try await Self.register(gateway, "apns")
        #expect([400, 501].contains(answer.status))
        #expect(answer.reason == "not-supported")
        await gateway.stop()
    }

    @Test(arguments: ["sender", "gateway"])
    func `pushes of other types are relayed, and the answer comes back as it is`(credentials: String) async throws {
        let far = try await TestGateway.start()
        // A's senders sign with A's key; B knows only its own, which A holds for itself.
        let near = try await TestGateway.start(before: far, relay: credentials)
        let id = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
        let answer = try await Self.push(
            near,
            type: "alert",
            topic: TestGateway.app,
            headers: ["apns-id: \(id)"],
            body: #"{"aps":{"alert":"touchdown"}}"#
        )
        // B handles widgets only: it refuses the type where it knows the sender, else the sender.
        #expect(answer.reason == (credentials == "gateway" ? "InvalidPushType" : "InvalidProviderToken"))
        #expect(answer.headers["apns-id"] == id)
        let ordinary = try await TestGateway.start()
        let refused = try await Self.push(ordinary, type: "alert", topic: TestGateway.app, body: #"{"aps":{}}"#)
        #expect(refused.status == 400)
        await ordinary.stop()
        await near.stop()
        await far.stop()
    }
}

extension TestGateway {
    /// A gateway whose upstream is another one.
    static func start(
        before upstream: TestGateway,
        relay: String = "none"
    ) async throws -> TestGateway {
        try await TestGateway.start(
            appSettings: """
                    developerMode: true
                    upstream:
                      url: https://localhost:\(upstream.pushPort)
                      keyID: \(TestGateway.kid)
                      key: \(upstream.key)
                      ca: \(upstream.ca)
                      relay: \(relay)
                """
        )
    }
}

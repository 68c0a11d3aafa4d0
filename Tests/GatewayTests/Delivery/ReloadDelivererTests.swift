import Delivery
import Engine
import HTTP2
import HTTPTransport
import Ownership
import Partitions
import ScriptedServer
import Settings
import Synchronization
import TLS
import Testing
import WidgetModel

/// Reloads that go to an upstream which fails in every way that is known of APNs: nothing is lost, nothing is delivered
/// after its expiration, and nothing again that was acknowledged.
@Suite struct ReloadDelivererTests {
    private typealias Step = ScriptedServer.Step

    private static func reason(_ text: String) -> String { #"{"reason":"\#(text)"}"# }

    /// The requests of each delivery, by its id, in the order in which the server saw them.
    private static func byID(_ server: ScriptedServer) -> [String: Int] {
        server.requests.reduce(into: [:]) { $0[$1.fields["apns-id"] ?? "", default: 0] += 1 }
    }

    @Test func `one push per token, however many instances matched`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(200)] }) { scene in
            try await scene.register("phone", instances: 5)
            try await scene.until(acknowledged: 5)
            let requests = scene.server.requests
            #expect(requests.count == 1)
            let request = try #require(requests.first)
            #expect(request.method == "POST")
            #expect(request.path == "/3/device/\(Sports.token("phone").hex)")
            #expect(request.text == #"{"aps":{"content-changed":true}}"#)
            #expect(request.fields["apns-topic"] == "com.example.scores.push-type.widgets")
            #expect(request.fields["apns-push-type"] == "widgets")
            #expect(request.fields["authorization"]?.hasPrefix("bearer ") == true)
            let expiration = try #require(request.fields["apns-expiration"].flatMap { Int64($0) })
            #expect(expiration > Sports.start.seconds)
            let counters = try await scene.idleCounters()
            #expect(counters[.apns]?.tries == 1)
            #expect(counters[.apns]?.delivered == 1)
        }
    }

    @Test func `all hosts of a team share one provider token and one connection`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(200)] }) { scene in
            for number in 0..<50 { try await scene.register("phone-\(number)") }
            try await scene.until(acknowledged: 50)
            #expect(Set(scene.server.requests.map { $0.fields["authorization"] ?? "" }).count == 1)
            #expect(scene.server.connections == 1)
            #expect(Self.byID(scene.server).count == 50)
        }
    }

    @Test func `priority and collapse id of the push go along`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(200)] }) { scene in
            try await scene.register("phone")
            try await scene.until(acknowledged: 1)
            scene.scene.time.pass(.minutes(6))
            try await scene.push(to: "phone", collapseID: "final score")
            try await scene.until(acknowledged: 2)
            let request = try #require(scene.server.requests.last)
            #expect(request.fields["apns-priority"] == "10")
            #expect(request.fields["apns-collapse-id"] == "final score")
        }
    }

    @Test func `a push that is now or never is not kept by the upstream either`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(200)] }) { scene in
            try await scene.register("phone", instances: 2)
            try await scene.until(acknowledged: 2)
            for (number, expiration) in [Int64(0), 1].enumerated() {
                scene.scene.time.pass(.hours(1))
                try await scene.push(to: "phone", expiration: expiration)
                try await scene.until(acknowledged: 4 + 2 * number)
            }
            let expirations = scene.server.requests.map { $0.fields["apns-expiration"] ?? "" }
            #expect(expirations.count == 3)
            #expect(expirations[0] != "0")
            #expect(expirations.dropFirst().allSatisfy { $0 == "0" }, "\(expirations)")
        }
    }

    /// Each of 60 deliveries meets the fault once or more; afterwards the server is well.
    @Test(
        arguments: [
            ("503", [.answer(503, [:], ReloadDelivererTests.reason("ServiceUnavailable"))]),
            ("429 storm", [.answer(429, ["retry-after": "1"], ReloadDelivererTests.reason("TooManyRequests"))]),
            ("500", [.answer(500, [:], ReloadDelivererTests.reason("InternalServerError"))]),
            ("REFUSED_STREAM", [.reset(.refusedStream)]), ("reset", [.reset(.internalError)]), ("hang-up", [.hangUp]),
            ("GOAWAY mid-flight", [.hold, .goAway(last: 0, .noError, debug: ReloadDelivererTests.reason("Shutdown"))]),
            ("GOAWAY after this", [.goAway(), .answer(503)]), ("stream limit lowered", [.streamsMax(1), .answer(503)]),
        ] as [(String, [ScriptedServer.Step])]
    )
    func `a fault that passes loses nothing`(name: String, steps: [ScriptedServer.Step]) async throws {
        let faults = Mutex(40)
        try await UpstreamScene.with(script: { request in
            let isFaulty = faults.withLock { left in
                guard left > 0, request.number % 2 == 0 else { return false }
                left -= 1
                return true
            }
            return isFaulty ? steps : [.answer(200)]
        }) { scene in
            for number in 0..<60 { try await scene.register("phone-\(number)") }
            try await scene.until(acknowledged: 60)
            #expect(Self.byID(scene.server).count == 60, "\(name)")
            let counters = try await scene.idleCounters()
            #expect(counters[.apns]?.delivered == 60, "\(name)")
        }
    }

    @Test func `half the answers are lost: every delivery is repeated with its id until one answer comes`() async throws
    {
        let answered = Mutex<[String: Int]>([:])
        try await UpstreamScene.with(script: { request in
            guard request.number % 2 == 0 else { return [.reset(.cancel)] }
            answered.withLock { $0[request.fields["apns-id"] ?? "", default: 0] += 1 }
            return [.answer(200)]
        }) { scene in
            for number in 0..<60 { try await scene.register("phone-\(number)") }
            try await scene.until(acknowledged: 60)
            // Once acknowledged, an id is never sent again.
            #expect(answered.withLock { $0.values.allSatisfy { $0 == 1 } && $0.count == 60 })
        }
    }

    @Test func `silence is noticed and the delivery goes over another connection`() async throws {
        try await UpstreamScene.with(
            {
                $0.pingAfter = .milliseconds(50)
                // The other connection answers within this however busy the machine is.
                $0.pingAnswer = .seconds(5)
            },
            script: { $0.connection == 1 ? [.fallSilent] : [.answer(200)] }
        ) { scene in
            try await scene.register("phone")
            try await scene.until(acknowledged: 1)
            #expect(scene.server.connections >= 2)
            #expect(scene.client.counters().limits[.ping] >= 1)
        }
    }

    @Test func `nothing is sent after its expiration`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(503)] }) { scene in
            try await scene.register("phone")
            var expires: Instant?
            try await scene.until("the reload is issued") {
                let owner = scene.scene.owners[0]
                expires = try await owner.ask(ReloadsQuestion(.undelivered, limit: 1)).reloads.first?.expiresAt
                return expires != nil
            }
            let expiresAt = try #require(expires)
            try await scene.until("it was tried") { scene.server.requests.count >= 3 }
            scene.scene.time.pass(expiresAt - scene.scene.time.wall)
            _ = try await scene.idleCounters()
            let count = scene.server.requests.count
            try await scene.register("another")
            try await scene.until("the other one is tried") { scene.server.requests.count > count + 2 }
            #expect(!scene.server.requests.dropFirst(count).contains { $0.path.hasSuffix(Sports.token("phone").hex) })
        }
    }

    @Test func `410 later than the registration removes the token and the host with its last one`() async throws {
        let since = (Sports.start + .hours(1)).milliseconds
        try await UpstreamScene.with(script: { _ in
            [.answer(410, [:], #"{"reason":"Unregistered","timestamp":\#(since)}"#)]
        }) { scene in
            try await scene.register("phone", instances: 2)
            try await scene.until("the host is gone") { try await scene.stats.hosts == 0 }
            #expect(scene.server.requests.count == 1)
            let stats = await scene.deliverer.stats()
            #expect(stats.counters[.apns]?.gone == 1)
            #expect(stats.counters[.apns]?.lastRefusal?.reason == "Unregistered")
        }
    }

    @Test func `410 older than the registration leaves the token, and the push is refused`() async throws {
        let since = (Sports.start - .hours(1)).milliseconds
        try await UpstreamScene.with(script: { _ in
            [.answer(410, [:], #"{"reason":"Unregistered","timestamp":\#(since)}"#)]
        }) { scene in
            try await scene.register("phone", instances: 2)
            try await scene.until(refused: 2)
            #expect(try await scene.stats.hosts == 1)
            #expect(scene.server.requests.count == 1)
        }
    }

    @Test(arguments: ["BadDeviceToken", "DeviceTokenNotForTopic", "PayloadTooLarge"])
    func `what APNs says never to retry is refused once`(reason: String) async throws {
        try await UpstreamScene.with(script: { _ in
            [.answer(reason == "PayloadTooLarge" ? 413 : 400, [:], Self.reason(reason))]
        }) { scene in
            try await scene.register("phone")
            try await scene.until(refused: 1)
            #expect(scene.server.requests.count == 1)
            #expect(try await scene.stats.hosts == 1)
        }
    }

    @Test func `what memory has no room for is fetched when there is`() async throws {
        try await UpstreamScene.with(
            {
                $0.knownMax = 5
                $0.inWorkMax = 2
            },
            script: { _ in [.answer(200)] }
        ) { scene in
            for number in 0..<40 { try await scene.register("phone-\(number)") }
            try await scene.until(acknowledged: 40)
            #expect(Self.byID(scene.server).count == 40)
            #expect(scene.server.openStreamsMax <= 2)
        }
    }

    @Test func `after a restart what is out is taken up, with the same id`() async throws {
        let isWell = Mutex(false)
        try await UpstreamScene.with(script: { _ in isWell.withLock { $0 } ? [.answer(200)] : [.hold] }) { scene in
            try await scene.register("phone", instances: 3)
            try await scene.until("it was sent") { scene.server.heldCount == 1 }
            let again = try scene.restartedDeliverer()
            isWell.withLock { $0 = true }
            await again.catchUp()
            try await scene.until(acknowledged: 3)
            #expect(Self.byID(scene.server).values.sorted() == [2])
            await again.stop()
        }
    }

    @Test func `a webhook gets the reloads, signed, and its 2xx is evidence`() async throws {
        try await UpstreamScene.with(script: { request in
            request.number == 1 ? [.answer(500)] : request.number == 2 ? [.answer(429)] : [.answer(204)]
        }) { scene in
            try await scene.register("panel", .webhook, instances: 2)
            try await scene.until(acknowledged: 2)
            let requests = scene.server.requests
            #expect(requests.map(\.path) == Array(repeating: "/hook?of=scores", count: 3))
            #expect(Set(requests.map { $0.fields["freshet-id"] ?? "" }).count == 1)
            for request in requests {
                let signature = try #require(request.fields["freshet-signature"])
                let seconds = try #require(signature.dropFirst(2).split(separator: ",").first.flatMap { Int64($0) })
                let expected = WebhookSignature.value(
                    secret: Array("asecretofthewebhook".utf8),
                    id: request.fields["freshet-id"] ?? "",
                    body: request.body,
                    at: Instant(seconds: seconds)
                )
                #expect(signature == expected)
            }
            let body = try json(requests[0].text)
            #expect(body["type"] == .string("reload"))
        }
    }

    @Test func `a webhook on an address that is not public is refused, and not connected to`() async throws {
        try await UpstreamScene.with({ $0.allowedNetworks = [] }, script: { _ in [.answer(204)] }) { scene in
            try await scene.register("panel", .webhook)
            try await scene.until(refused: 1)
            #expect(scene.server.connections == 0)
        }
    }

    @Test(arguments: [301, 302, 307, 308])
    func `a webhook's redirect is not followed`(status: Int) async throws {
        try await UpstreamScene.with(script: { _ in [.answer(status, ["location": "https://localhost/other"])] }) {
            scene in
            try await scene.register("panel", .webhook)
            try await scene.until(refused: 1)
            #expect(scene.server.requests.count == 1)
        }
    }
}

import APNSWire
import Delivery
import Engine
import HTTP2
import HTTPTransport
import Ownership
import ScriptedServer
import Settings
import Synchronization
import TestSupport
import Testing
import TransportSupport
import WidgetModel

/// A deliverer's knowledge of the health of an upstream and a webhook.
@Suite struct DeliveryHealthTests {
    private static func reason(_ text: String) -> String { #"{"reason":"\#(text)"}"# }

    /// Lines of the log about targets in trouble, without their origins and times.
    private static func told(_ scene: UpstreamScene) -> [String] {
        scene.log.lines.filter { $0.contains(" in trouble") || $0.contains(" well again") }.map { line in
            line.split(separator: " ").filter { !$0.hasPrefix("origin=") && !$0.hasPrefix("inTroubleFor") }
                .filter { !$0.hasPrefix("heldUntil=") }.joined(separator: " ")
        }
    }

    @Test func `an upstream that answers well is well`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(200)] }) { scene in
            #expect(try await scene.upstream.health == TargetHealth())
            try await scene.register("phone")
            try await scene.until(acknowledged: 1)
            let view = try await scene.upstream
            #expect(view.health.attempts == 1 && view.health.failuresByReason.isEmpty)
            #expect(view.health.lastAnswer?.status == 200 && view.health.lastSuccess != nil)
            #expect(view.heldUntil == nil && view.oldest == nil && view.waiting == 0)
            #expect(Self.told(scene) == [])
        }
    }

    @Test func `an upstream that answers 503 to everything is in trouble, and told once; so is the end of it`()
        async throws
    {
        let isWell = Atomic(false)
        try await UpstreamScene.with(script: { _ in
            isWell.load(ordering: .relaxed)
                ? [.answer(200)] : [.answer(503, [:], Self.reason("ServiceUnavailable"))]
        }) { scene in
            for number in 0..<5 { try await scene.register("phone-\(number)") }
            try await scene.until("it has failed") { try await scene.upstream.health.isFailing }
            #expect(try await scene.upstream.health.lastAnswer?.status == 503)
            scene.scene.time.pass(.seconds(31))
            try await scene.until("it is in trouble") { try await scene.upstream.health.isInTrouble }
            let view = try await scene.upstream
            #expect(view.waiting == 5 && view.heldUntil == nil)
            #expect(view.oldest.map { $0 <= scene.scene.time.wall - .seconds(31) } == true)
            #expect(view.health.failuresByReason.map(\.reason) == ["ServiceUnavailable"])
            let trouble = "error an upstream is in trouble apps=com.example.scores reason=ServiceUnavailable status=503"
            #expect(Self.told(scene) == [trouble])
            isWell.store(true, ordering: .relaxed)
            try await scene.until(acknowledged: 5)
            scene.scene.time.pass(TargetHealth.relief)
            // In service a timer wakes it up.
            await scene.deliverer.applySettings(scene.configuration.deliveries)
            #expect(Self.told(scene) == [trouble, "notice an upstream is well again apps=com.example.scores"])
            #expect(try await !scene.upstream.health.isInTrouble)
        }
    }

    @Test func `an upstream that refuses the gateway's credentials is held back, and in trouble at once`() async throws
    {
        try await UpstreamScene.with(
            { $0.retryMax = .minutes(15) },
            script: { _ in [.answer(403, [:], Self.reason("InvalidProviderToken"))] }
        ) { scene in
            try await scene.register("phone")
            try await scene.until("it is in trouble") { try await scene.upstream.health.isInTrouble }
            let view = try await scene.upstream
            #expect(view.heldUntil != nil && view.waiting == 1)
            #expect(view.health.lastAnswer?.status == 403 && view.health.lastSuccess == nil)
            #expect(
                Self.told(scene)
                    == [
                        "error an upstream is in trouble apps=com.example.scores reason=InvalidProviderToken status=403"
                    ]
            )
        }
    }

    @Test func `tried now, an upstream that was held back gets what waits for it at once`() async throws {
        let isMended = Atomic(false)
        try await UpstreamScene.with(
            { $0.retryMax = .days(1) },
            script: { _ in
                isMended.load(ordering: .relaxed)
                    ? [.answer(200)] : [.answer(403, [:], Self.reason("InvalidProviderToken"))]
            }
        ) { scene in
            for number in 0..<3 { try await scene.register("phone-\(number)") }
            try await scene.until("it is in trouble") { try await scene.upstream.health.isInTrouble }
            isMended.store(true, ordering: .relaxed)
            let webhook = DeliveryTarget(kind: .webhook, app: Sports.app)
            await scene.deliverer.tryNow([webhook])
            #expect(try await scene.upstream.heldUntil != nil)
            await scene.deliverer.tryNow([.init(kind: .upstream, app: Sports.app)])
            try await scene.until(acknowledged: 3)
            #expect(try await scene.upstream.heldUntil == nil)
        }
    }

    @Test func `a refusal of a push that was sent before an upstream is tried now holds nothing back`() async throws {
        let refusal = ScriptedServer.Step.answer(403, [:], Self.reason("InvalidProviderToken"))
        try await UpstreamScene.with(
            { $0.retryMax = .days(1) },
            script: { request in
                // A connection is proven by its first answer; then the others come.
                request.number == 2 ? [.hold] : request.number <= 3 ? [refusal] : [.answer(200)]
            }
        ) { scene in
            for number in 0..<3 { try await scene.register("phone-\(number)") }
            try await scene.until("one is held, and it is in trouble") {
                guard scene.server.heldCount == 1 else { return false }
                return try await scene.upstream.health.isInTrouble
            }
            await scene.deliverer.tryNow([.init(kind: .upstream, app: Sports.app)])
            scene.server.release(refusal)
            try await scene.until(acknowledged: 3)
            #expect(try await scene.upstream.heldUntil == nil)
        }
    }

    @Test func `with another key what was held back is sent at once`() async throws {
        let refused = Mutex<String?>(nil)
        try await UpstreamScene.with(
            { $0.retryMax = .days(1) },
            script: { request in
                let token = request.fields["authorization"]
                let isRefused = refused.withLock { refused in
                    refused = refused ?? token
                    return refused == token
                }
                return isRefused ? [.answer(403, [:], Self.reason("InvalidProviderToken"))] : [.answer(200)]
            }
        ) { scene in
            for number in 0..<3 { try await scene.register("phone-\(number)") }
            try await scene.until("it is in trouble") { try await scene.upstream.health.isInTrouble }
            // The same key again changes nothing.
            await scene.deliverer.usePlans(changed: try scene.plans.replace(scene.configuration))
            #expect(try await scene.upstream.heldUntil != nil)
            try scene.renewKey()
            await scene.deliverer.usePlans(changed: try scene.plans.replace(scene.configuration))
            try await scene.until(acknowledged: 3)
            #expect(try await scene.upstream.heldUntil == nil)
            #expect(try await !scene.upstream.health.isInTrouble)
        }
    }

    @Test func `what the old key's last push is answered holds nothing back`() async throws {
        try await UpstreamScene.with(
            { $0.retryMax = .days(1) },
            script: { $0.number == 1 ? [.hold] : [.answer(200)] }
        ) { scene in
            try await scene.register("phone")
            try await scene.until("it is on its way") { scene.server.heldCount == 1 }
            try scene.renewKey()
            await scene.deliverer.usePlans(changed: try scene.plans.replace(scene.configuration))
            scene.server.release(.answer(403, [:], Self.reason("InvalidProviderToken")))
            try await scene.until(acknowledged: 1)
            #expect(scene.log.lines == [])
        }
    }

    @Test func `what waits for an upstream that has moved goes to the new place at once`() async throws {
        try await UpstreamScene.with(
            { $0.retryMax = .days(1) },
            script: { _ in [.answer(403, [:], Self.reason("InvalidProviderToken"))] }
        ) { scene in
            try await scene.register("phone")
            try await scene.until("it is in trouble") { try await scene.upstream.health.isInTrouble }
            var moved = scene.configuration
            // The same server by another name.
            moved.apps[0].upstream?.url = "https://127.0.0.1:\(scene.server.port)"
            let count = scene.server.requests.count
            await scene.deliverer.usePlans(changed: try scene.plans.replace(moved))
            try await scene.until("it is tried there") { scene.server.requests.count > count }
            // The one before is forgotten, and the new one has a health of its own.
            try await scene.until("it is in trouble, too") { try await scene.upstream.health.isInTrouble }
            #expect(try await scene.upstream.health.attempts == 1)
        }
    }

    @Test func `what the old place answers late says nothing of the new one`() async throws {
        try await UpstreamScene.with(
            { $0.retryMin = .days(1) },
            script: { $0.number == 1 ? [.hold] : [.answer(200)] }
        ) { scene in
            try await scene.register("phone")
            try await scene.until("it is on its way") { scene.server.heldCount == 1 }
            var moved = scene.configuration
            moved.apps[0].upstream?.url = "https://127.0.0.1:\(scene.server.port)"
            await scene.deliverer.usePlans(changed: try scene.plans.replace(moved))
            scene.server.release(.answer(503, [:], Self.reason("ServiceUnavailable")))
            try await scene.until(acknowledged: 1)
            scene.scene.time.pass(.seconds(31))
            await scene.deliverer.applySettings(scene.configuration.deliveries)
            #expect(scene.log.lines == [])
            #expect(try await scene.upstream.health.attempts == 1)
        }
    }

    @Test func `all that has failed is tried again, and nothing else`() async throws {
        try await UpstreamScene.with(
            {
                $0.retryMin = .days(1)
                $0.retryMax = .days(1)
            },
            script: { $0.number == 1 ? [.answer(503)] : [.answer(200)] }
        ) { scene in
            try await scene.register("phone")
            try await scene.until("it has failed") { try await scene.upstream.health.isFailing }
            await scene.deliverer.tryFailing()
            try await scene.until(acknowledged: 1)
            await scene.deliverer.tryFailing()
            #expect(scene.server.requests.count == 2)
        }
    }

    @Test func `an upstream that refuses one device is well`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(400, [:], Self.reason("BadDeviceToken"))] }) { scene in
            try await scene.register("phone")
            try await scene.until(refused: 1)
            scene.scene.time.pass(.seconds(31))
            let health = try await scene.upstream.health
            #expect(!health.isFailing && health.lastSuccess == nil)
            #expect(health.lastAnswer?.reason == "BadDeviceToken" && health.lastAnswer?.status == 400)
        }
    }

    @Test func `a webhook that cannot be reached is in trouble with no answer needed for it`() async throws {
        try await UpstreamScene.with(
            // The next try comes long after it is in trouble.
            {
                $0.retryMin = .hours(1)
                $0.retryMax = .hours(1)
            },
            script: { _ in [.reset(.internalError)] }
        ) { scene in
            try await scene.register("phone", .webhook)
            let target = DeliveryTarget(kind: .webhook, app: Sports.app)
            try await scene.until("it has failed") { await scene.deliverer.targets()[target]?.health.isFailing == true }
            scene.scene.time.pass(.seconds(31))
            // In service a timer wakes it up.
            await scene.deliverer.applySettings(scene.configuration.deliveries)
            let health = try #require(await scene.deliverer.targets()[target]?.health)
            #expect(health.isInTrouble && health.lastAnswer?.status == nil)
            #expect(health.lastAnswer?.reason == "stream reset")
            #expect(Self.told(scene).count == 1)
            #expect(Self.told(scene).first?.hasPrefix("error a webhook is in trouble apps=com.example.scores") == true)
            #expect(try await !scene.upstream.health.isFailing)
        }
    }
}

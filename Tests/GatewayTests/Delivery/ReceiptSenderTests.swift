import APNSWire
import Delivery
import Engine
import Gateway
import HTTPTransport
import Journaling
import Ownership
import ScriptedServer
import Serving
import Synchronization
import TLS
import Testing
import TransportSupport
import WidgetModel

/// Receipts over a real connection: signed, told again until they are taken, and from the stored place on after a restart.
@Suite struct ReceiptSenderTests {
    /// The receipts among what a server was told, as their ids in the order of arrival.
    private static func told(_ scene: UpstreamScene) -> [String] {
        var ids: [String] = []
        for request in scene.server.requests where request.path == "/receipts" {
            guard let body = try? JSONReader().parse(Array(request.text.utf8)),
                case .array(let receipts)? = body["receipts"]
            else { continue }
            for receipt in receipts {
                if case .string(let id)? = receipt["id"] { ids.append(id) }
            }
        }
        return ids
    }

    /// A sender on the scene's log, which has looked for the first time.
    private static func started(_ scene: UpstreamScene, _ archive: MemoryArchive) async throws
        -> (sender: ReceiptSender, followers: PushFollowers, running: Task<Void, Never>)
    {
        let sender = scene.makeReceipts(archive)
        let followers = PushFollowers(max: 1)
        await sender.begin()
        let running = Task { await sender.run(followers) }
        return (sender, followers, running)
    }

    private static func end(_ followers: PushFollowers, _ running: Task<Void, Never>) async {
        followers.close()
        await running.value
    }

    @Test func `senders are told what became of each push, signed, and not again after a restart`() async throws {
        let status = Mutex(503)
        try await UpstreamScene.with(script: { request in
            [.answer(request.path == "/receipts" ? status.withLock { $0 } : 200)]
        }) { scene in
            let archive = MemoryArchive()
            let (sender, followers, running) = try await Self.started(scene, archive)
            try await scene.register("phone")
            try await scene.until(acknowledged: 1)
            try await scene.until("it is tried twice") {
                followers.wake(.applied)
                return Self.told(scene).count >= 2
            }
            status.withLock { $0 = 200 }
            try await scene.until("it is taken") { await sender.views()[Sports.app]?.counters.told == 1 }
            let requests = scene.server.requests.filter { $0.path == "/receipts" }
            #expect(Set(requests.map { $0.fields["freshet-id"] }).count == 1, "a repeat has the same id")
            let request = try #require(requests.last)
            let id = try #require(request.fields["freshet-id"])
            let signature = try #require(request.fields["freshet-signature"])
            let seconds = try #require(signature.split(separator: ",").first?.dropFirst(2))
            let expected = WebhookSignature.value(
                secret: Array("asecretofthewebhook".utf8),
                id: id,
                body: Array(request.text.utf8),
                at: Instant(seconds: try #require(Int64(seconds)))
            )
            #expect(signature == expected && request.method == "POST")
            let body = try JSONReader().parse(Array(request.text.utf8))
            #expect(body["type"] == .string("receipts") && body["app"] == .string(Sports.app.rawValue))
            guard case .array(let receipts)? = body["receipts"] else {
                Issue.record("\(body)")
                return
            }
            #expect(receipts.map { $0["outcomes"]?["reloaded"] } == [.int(1)])
            await Self.end(followers, running)

            // The next sender of receipts tells a push that completes while there is none, and tells no other.
            scene.scene.time.pass(.hours(1))
            try await scene.push(to: "phone")
            try await scene.until(acknowledged: 2)
            let count = Self.told(scene).count
            let again = scene.makeReceipts(archive)
            let others = PushFollowers(max: 1)
            await again.begin()
            let second = Task { await again.run(others) }
            try await scene.until("the second is told") { await again.views()[Sports.app]?.counters.told == 1 }
            #expect(Self.told(scene).count == count + 1)
            await Self.end(others, second)
        }
    }

    @Test func `what cannot be read of the places is said, and is no reason to tell nothing`() async throws {
        try await UpstreamScene.with(script: { _ in [.answer(200)] }) { scene in
            let archive = MemoryArchive()
            try archive.write([ArchivedRecord(number: 7, bytes: [1, 2, 3])], removing: [])
            let sender = scene.makeReceipts(archive)
            let followers = PushFollowers(max: 1)
            await sender.begin()
            #expect(try archive.read(8) != nil, "the place is written anew")
            let running = Task { await sender.run(followers) }
            #expect(scene.log.lines.contains { $0.contains("the place of the receipts is lost") })
            try await scene.register("phone")
            try await scene.until("it is told") {
                followers.wake(.applied)
                return await sender.views()[Sports.app]?.counters.told == 1
            }
            await Self.end(followers, running)
        }
    }
}

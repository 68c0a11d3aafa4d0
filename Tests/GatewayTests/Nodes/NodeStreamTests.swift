import HTTPTransport
import HostAPI
import Journaling
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// Event streams at a node that has some of the partitions.
@Suite struct NodeStreamTests {
    @Test func `a node that others may have taken for dead begins no stream from its own state`() async throws {
        let scene = try await NodeScene()
        let key = try TestKey("ABC123DEFG")
        let routes = HostRoutes(
            apps: LiveApps(Sports.served),
            authorizer: HostAuthorizer(senders: SenderDirectory(keys: [key.known()]), clock: scene.time.makeClock()),
            directory: scene.first.directory,
            log: scene.first.log,
            updates: HostUpdates(
                streams: HostStreams(of: scene.journal.format),
                followers: PushFollowers(max: 1),
                providers: nil
            )
        )
        var request = HTTPRequest(method: "GET", target: "/v1/apps/\(Sports.app)/events")
        request.headers.append("authorization", try key.providerToken())
        scene.nodes.cutOff(scene.first.node)
        let refused = await routes.respond(to: request)
        OpenAPI.document.check(request, refused)
        guard case .bytes(let bytes) = refused.body else { throw Unexpected() }
        #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
        #expect(try json(String(decoding: bytes, as: UTF8.self))["code"] == .string("partition-away"))
        scene.nodes.connect(scene.first.node)
        // Held, as long as it is looked at.
        let begun = await routes.respond(to: request)
        #expect(begun.status == 200)
        // Another node is asked, and knows.
        #expect(scene.first.log.isCurrent(NodeScene.own))
        scene.nodes.cutOff(scene.first.node)
        #expect(!scene.first.log.isCurrent(NodeScene.own) && scene.first.log.isCurrent(NodeScene.other))
    }

    private struct Unexpected: Error {}
}

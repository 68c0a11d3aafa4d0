import HTTPTransport
import Journaling
import OperatorAPI
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// Operators' questions at a node that has some of the partitions.
@Suite struct NodeRouteTests {
    private static func routes(_ scene: NodeScene) throws -> OperatorRoutes {
        let node = scene.first
        let clock = scene.time.makeClock()
        let (counters, senderLimits) = (PushCounters(), SenderLimits())
        let streams = HostStreams(of: scene.journal.format)
        let watch = GatewayWatch(
            log: node.log,
            clock: clock,
            counters: counters,
            senderLimits: senderLimits,
            streams: streams,
            feed: node.feed
        )
        return OperatorRoutes(
            doors: OperatorDoors(access: try .knowing([]), gate: OperatorGate(address: "127.0.0.1"), audit: node.audit),
            store: OperatedStore(log: node.log, clock: clock),
            traffic: OperatedTraffic(
                streams: streams,
                followers: PushFollowers(max: 2),
                directory: node.directory,
                counters: counters,
                senderLimits: senderLimits
            ),
            credentials: OperatedCredentials(),
            targets: OperatedTargets(),
            settings: OperatedSettings(apps: LiveApps(Sports.served)),
            watch: watch,
            readiness: Readiness()
        )
    }

    private static func ask(_ routes: OperatorRoutes, _ path: String) async throws -> JSONValue {
        let request = OperatorScene.request("GET", path)
        let response = await routes.respond(to: request)
        OpenAPI.document.check(request, response)
        #expect(response.status == 200, "\(path)")
        guard case .bytes(let bytes) = response.body else { return .null }
        return try json(String(decoding: bytes, as: UTF8.self))
    }

    private static let paths = [
        "/v1/hosts", "/v1/instances", "/v1/pushes", "/v1/stats", "/v1/partitions", "/v1/senders", "/v1/apps",
    ]

    @Test func `lists and totals say which partitions they lack, and nothing where they lack none`() async throws {
        let scene = try await NodeScene(question: .milliseconds(1))
        let routes = try Self.routes(scene)
        scene.nodes.silence(scene.second.node)
        for path in Self.paths {
            let answer = try await Self.ask(routes, path)
            #expect(answer["partial"] == (try json(#"{"answered":1,"of":2,"missing":[1]}"#)), "\(path)")
        }
        let whole = try await NodeScene()
        let all = try Self.routes(whole)
        for path in Self.paths {
            let answer = try await Self.ask(all, path)
            #expect(answer["partial"] == nil, "\(path)")
        }
        let partitions = try await Self.ask(all, "/v1/partitions")
        guard case .array(let rows)? = partitions["partitions"] else { throw NoPartitions() }
        #expect(rows.count == 2)
    }

    private struct NoPartitions: Error {}
}

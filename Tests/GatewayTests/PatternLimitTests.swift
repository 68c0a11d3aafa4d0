import APNSWire
import Engine
import Ingest
import IntentMatching
import Partitions
import Serving
import Testing
import WidgetModel

/// The limit of a pattern's cost, from every route that takes one. Pushes are in `Conformance`.
@Suite struct PatternLimitTests {
    /// Alternatives of a literal each, which cost a step each, and a literal besides.
    private static func pattern(_ alternatives: Int, besides: Bool) -> String {
        let list = (0..<alternatives).map { #"{"team":"t\#($0)"}"# }.joined(separator: ",")
        return #"{"$or":[\#(list)]\#(besides ? #","league":"nfl""# : "")}"#
    }

    private static func escaped(_ text: String) -> String {
        let characters = text.utf8.map { byte in
            let hex = String(byte, radix: 16)
            return "%\(hex.count == 1 ? "0" : "")\(hex)"
        }
        return characters.joined()
    }

    @Test(arguments: [false, true])
    func `questions and reloads are refused above 512 steps`(besides: Bool) async throws {
        let scene = try await RouteScene()
        let token = try scene.key.providerToken()
        let match = Self.pattern(512, besides: besides)
        let answers = [
            try await scene.send("GET", "/v1/apps/\(Sports.app)/widgets?match=\(Self.escaped(match))", token),
            try await scene.send("POST", "/v1/apps/\(Sports.app)/reload", token, #"{"match":\#(match)}"#),
        ]
        for answer in answers {
            #expect(answer.place == (besides ? ["400", "bad-pattern", "match"] : ["200"]), "\(answer.body)")
            #expect(!besides || answer.body.contains("limits.maxPatternCost"))
        }
        let operators = try await OperatorScene()
        let dryRun = try await operators.send(
            "POST",
            "/v1/apps/\(Sports.app)/dry-runs",
            #"{"freshet":{"match":\#(match)}}"#
        )
        #expect(dryRun.status == (besides ? 400 : 200))
    }

    @Test(arguments: [2, 3])
    func `a registration is refused whose condition costs more than 64 steps`(wildcards: Int) async throws {
        let scene = try await RouteScene()
        let list = (0..<wildcards).map { #"{"wildcard":"*\#($0)*"}"# }.joined(separator: ",")
        let instance = #"[{"id":"a","kind":"scores","family":"systemSmall","when":{"news":[\#(list)]}}]"#
        let token = Sports.token("phone")
        let answer = try await scene.send(
            "PUT",
            RouteScene.path(token),
            try scene.key.hostCredential(token),
            RouteScene.body("", instances: instance)
        )
        #expect(answer.place == (wildcards == 2 ? ["200"] : ["400", "bad-request", "instances[0].when"]))
        #expect(wildcards == 2 || answer.body.contains("limits.maxConditionCost"))
    }

    /// A channel is a pattern that was accepted: a limit that is lower today takes nothing back.
    @Test func `a channel above the limit is refused, one from before it is broadcast to`() async throws {
        let scene = try await OwnerScene.started()
        let app = Sports.served.apps[0]
        let payload = PushPayload(match: try json(Self.pattern(20, besides: false)))
        let creation = ChannelCreation(storesMessages: true, isForWidgets: false, isAlias: false, audience: payload)
        func service(_ costMax: Int) -> ChannelService {
            var bounds = ServingBounds()
            bounds.patterns.costMax = costMax
            return ChannelService(log: scene.log, journal: scene.journal, apps: LiveApps(Sports.served, bounds: bounds))
        }
        let refusal = await #expect(throws: RejectionAnswer.self) { try await service(19).create(creation, app: app) }
        #expect(refusal?.rejection == .badRequestParams)
        #expect(refusal?.detail?.contains("limits.maxPatternCost") == true)
        let channel = try #require(try await service(20).create(creation, app: app).channel)
        let broadcast = ChannelService.Broadcast(
            id: PushID(high: 9, low: 1),
            team: Sports.team,
            channel: channel,
            message: ChannelRequest.Message(priority: .high, expiration: nil),
            bodyHash: 5,
            payload: .plain
        )
        let record = try await service(19).record(of: broadcast, app: app, now: Sports.start)
        #expect(record.pattern?.cost == 20)
    }
}

import IntentMatching
import Partitions
import Serving
import Settings
import Testing
import WidgetModel

/// `kinds[].sample`: what a gallery shows.
@Suite struct KindSampleTests {
    private static func parse(_ sample: String) throws -> GatewayConfiguration {
        try ConfigurationFile.parse(
            """
            teams: [{id: A1B2C3D4E5, keys: [{id: ABC123DEFG, file: key.p8}]}]
            apps:
              - bundleID: com.example.scores
                team: A1B2C3D4E5
                kinds:
                  - kind: scores
                    sample: \(sample)
            """
        ).configuration
    }

    @Test func `a sample has any shape, and is printed as it was read`() throws {
        let configuration = try Self.parse(#"{score: "24 - 17", quarter: 4, teams: [seahawks, rams], live: true}"#)
        let expected = try json(#"{"score":"24 - 17","quarter":4,"teams":["seahawks","rams"],"live":true}"#)
        #expect(configuration.apps[0].kinds[0].sample == expected)
        let text = ConfigurationFile.text(of: configuration)
        #expect(try ConfigurationFile.parse(text).configuration == configuration)
    }

    private struct Unreachable: Error {}

    /// Apple's "TimelineProvider": a preview of the game's widget "could show the health level at 75 percent" while
    /// the character's own has to be fetched from a server.
    @Test func `a preview shows 75 percent until the provider says the health level`() async throws {
        let kind = try KindSchema(kind: WidgetKind("character"), parameters: [ParameterSchema("name", .string)])
        let served = ServedApps([
            ServedApps.App(
                number: 0,
                bundle: Sports.app,
                acceptsUnknownTokens: false,
                matchedMax: nil,
                schemas: [kind],
                samples: [kind.kind: try json(#"{"healthLevel":0.75}"#)]
            )
        ])
        let owners = try await OwnerScene.started()
        let provider = try ProviderScene(owners, keys: [KindKey(app: Sports.app, kind: kind.kind)])
        let routes = try RouteScene(owners, providers: provider.providers, apps: served)
        let token = try routes.key.providerToken()
        let query = "preview=true&configuration=%7B%22name%22%3A%22spouty%22%7D"
        let path = "/v1/apps/\(Sports.app)/kinds/character/snapshot?\(query)"
        provider.reply { _ in throw Unreachable() }
        let sample = try await routes.send("GET", path, token)
        #expect(sample.body == #"{"entry":{"healthLevel":0.75},"isSample":true}"#)
        let entry = #"{"content":{"healthLevel":0.25}}"#
        provider.reply { _ in ProviderScene.response(200, #"{"answers":[{"id":"1","entry":\#(entry)}]}"#) }
        let current = try await routes.send("GET", path, token)
        #expect(current.body == #"{"entry":\#(entry)}"#)
        for question in provider.asked {
            guard case .array(let requests)? = question["requests"] else {
                Issue.record("no requests in \(question)")
                continue
            }
            #expect(requests.map { $0["context"]?["isPreview"] } == [.bool(true)])
            #expect(requests.map { $0["configuration"]?["name"] } == [.string("spouty")])
        }
        #expect(provider.asked.count == 2)
    }

    @Test func `one that is too long is a fault of its line`() throws {
        // A text's JSON has two quotes more.
        let longest = String(repeating: "x", count: GatewayConfiguration.Kind.sampleBytesMax - 2)
        #expect(try Self.parse("\"\(longest)\"").apps[0].kinds[0].sample == .string(longest))
        let faults = try #require(throws: SettingsError.self) { try Self.parse("\"\(longest)x\"") }
        #expect(faults.faults.map(\.path) == ["apps[0].kinds[0].sample"])
    }
}

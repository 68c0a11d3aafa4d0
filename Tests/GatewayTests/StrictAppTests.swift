import Engine
import Partitions
import Settings
import Testing
import WidgetModel

/// `apps[].strict`: Apple's defaults where the gateway has others.
@Suite struct StrictAppTests {
    private static func app(_ lines: String) throws -> GatewayConfiguration.App {
        let text = """
            teams: [{id: A1B2C3D4E5, keys: [{id: ABC123DEFG, file: key.p8}]}]
            apps:
              - {bundleID: com.example.scores, team: A1B2C3D4E5, environment: development, kinds: [{kind: scores}]\(lines)}
            """
        return try #require(try ConfigurationFile.parse(text).configuration.apps.first)
    }

    @Test func `strict apps have Apple's expiration and priority, unless they say otherwise`() throws {
        let ours = try Self.app("")
        #expect(ours.defaultExpiration == .hours(4))
        #expect(ours.defaultPriority == .normal)
        let strict = try Self.app(", strict: true")
        #expect(strict.defaultExpiration == .days(30))
        #expect(strict.defaultPriority == .high)
        let own = try Self.app(", strict: true, defaultExpiration: 1h")
        #expect(own.defaultExpiration == .hours(1))
        #expect(own.defaultPriority == .high)
    }

    @Test func `the engine is told, and of the environment`() throws {
        var configuration = GatewayConfiguration()
        configuration.apps = [try Self.app(", strict: true")]
        let settings = try #require(EngineSettings(configuration).apps.first)
        #expect(settings.environment == .development)
        #expect(settings.defaultExpiration == .days(30))
        #expect(settings.defaultPriority == .high)
    }

    @Test func `what is printed reads back as the same`() throws {
        var configuration = try ConfigurationFile.parse("").configuration
        configuration.teams = [GatewayConfiguration.Team(id: TeamID("A1B2C3D4E5"))]
        configuration.teams[0].keys = [GatewayConfiguration.ProviderKey(id: KeyID("ABC123DEFG"), file: "key.p8")]
        configuration.apps = [try Self.app(", strict: true, defaultPriority: 5")]
        let text = ConfigurationFile.text(of: configuration)
        #expect(try ConfigurationFile.parse(text).configuration == configuration)
    }
}

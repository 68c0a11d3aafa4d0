import IntentMatching
import Settings
import Testing
import WidgetModel

/// The configuration that `freshet init` writes.
@Suite struct FirstConfigurationTests {
    @Test func `the defaults are a configuration with a team, an app, a kind and a parameter`() throws {
        let configuration = try ConfigurationFile.parse(FirstConfiguration().text).configuration
        #expect(configuration.teams.map(\.id.rawValue) == ["A1B2C3D4E5"])
        #expect(configuration.teams.flatMap(\.keys).map(\.id.rawValue) == ["F6G7H8J9K0"])
        #expect(configuration.apps.map(\.bundleID.rawValue) == ["com.example.scores"])
        #expect(configuration.apps.flatMap(\.kinds).map(\.schema.kind.rawValue) == ["scores"])
        #expect(configuration.apps.flatMap(\.kinds).flatMap(\.schema.parameters).map(\.name) == ["team"])
        #expect(configuration.dataDirectory == "data" && configuration.tls.certificate == "certs/server.pem")
    }

    @Test(arguments: ["yes", "null", "123", "1e3", "12:30:00"])
    func `a kind that YAML takes for something else stays what it is`(_ kind: String) throws {
        var first = FirstConfiguration()
        first.kind = kind
        let configuration = try ConfigurationFile.parse(first.text).configuration
        #expect(configuration.apps.flatMap(\.kinds).map(\.schema.kind.rawValue) == [kind])
    }

    @Test func `what cannot be used is refused by its key`() throws {
        func fault(_ change: (inout FirstConfiguration) -> Void) throws -> String? {
            var first = FirstConfiguration()
            change(&first)
            let faults = #expect(throws: SettingsError.self) { try first.check() }
            return faults?.faults.first?.path
        }
        #expect(try fault { $0.team = "a team" } == "teams[0].id")
        #expect(try fault { $0.keyID = "" } == "teams[0].keys[0].id")
        #expect(try fault { $0.app = "no bundle" } == "apps[0].bundleID")
        #expect(try fault { $0.kind = "" } == "apps[0].kinds[0].kind")
        #expect(try fault { $0.parameter = "" } == "apps[0].kinds[0].parameters[0].name")
        #expect(try fault { $0.pushPort = 65_536 } == "listeners.push.port")
        #expect(try fault { $0.hostPort = $0.pushPort } == "listeners.host.port")
    }
}

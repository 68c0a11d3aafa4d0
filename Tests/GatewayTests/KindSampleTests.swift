import Gateway
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

    @Test func `one that is too long is a fault of its line`() throws {
        // A text's JSON has two quotes more.
        let longest = String(repeating: "x", count: GatewayConfiguration.Kind.sampleBytesMax - 2)
        #expect(try Self.parse("\"\(longest)\"").apps[0].kinds[0].sample == .string(longest))
        let faults = try #require(throws: ConfigurationFaults.self) { try Self.parse("\"\(longest)x\"") }
        #expect(faults.faults.map(\.path) == ["apps[0].kinds[0].sample"])
    }
}

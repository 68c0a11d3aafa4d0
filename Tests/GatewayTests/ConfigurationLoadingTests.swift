import FoundationEssentials
import Settings
import Testing

/// Reading a configuration with the files that it names.
@Suite struct ConfigurationLoadingTests {
    /// A folder that is removed at the end of the test.
    private final class Folder {
        let path: String

        init() throws {
            self.path = "\(FileManager.default.temporaryDirectory.path)/freshet-configuration-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: self.path) }

        func write(_ name: String, _ text: String) throws {
            let path = "\(self.path)/\(name)"
            let folder = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
            try FileManager.default.createDirectory(atPath: String(folder), withIntermediateDirectories: true)
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        }

        func load(_ environment: [String: String] = [:]) throws(SettingsError) -> GatewayConfiguration {
            try ConfigurationFile.read(path: "\(self.path)/freshet.yaml", environment: environment).configuration
        }
    }

    private static let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    private static let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"

    @Test func `names of files are relative to the configuration's folder, and tokens are read`() throws {
        let folder = try Folder()
        try folder.write("certs/server.pem", Self.certificate)
        try folder.write("certs/server.key", Self.key)
        try folder.write("tokens", "# for the dashboard\nabcdefghijklmnop\n\n ponmlkjihgfedcba \r\n")
        try folder.write("freshet.yaml", "dataDirectory: data\nops: {tokensFile: tokens}\n")
        let configuration = try folder.load()
        var expected = GatewayConfiguration()
        expected.dataDirectory = "\(folder.path)/data"
        expected.tls.certificate = "\(folder.path)/certs/server.pem"
        expected.tls.key = "\(folder.path)/certs/server.key"
        expected.operators.tokensFile = "\(folder.path)/tokens"
        expected.operators.tokens = [Secret("abcdefghijklmnop"), Secret("ponmlkjihgfedcba")]
        #expect(configuration == expected)
    }

    @Test func `a timeline provider's token lets no operator in, and may be short`() throws {
        let folder = try Folder()
        try folder.write("server.pem", Self.certificate)
        try folder.write("server.key", Self.key)
        let settings = """
            dataDirectory: data
            tls: {certificate: server.pem, key: server.key}
            teams: [{id: TEAM000001}]
            apps:
              - bundleID: com.example.scores
                team: TEAM000001
                kinds: [{kind: scores, timelineProvider: {url: "https://localhost/", tokenFile: provider.token}}]

            """
        try folder.write("freshet.yaml", settings)
        for text in ["short\n", "a-token-of-this-provider", "first\r\nsecond line\n"] {
            try folder.write("provider.token", text)
            let configuration = try folder.load()
            #expect(configuration.operators.tokens == [])
            #expect(
                configuration.apps.first?.kinds.first?.timelineProvider?.tokenFile == "\(folder.path)/provider.token"
            )
        }
        for text in ["", "\nsecond\n", "two words\n", "\u{e9}\n"] {
            try folder.write("provider.token", text)
            let faults = #expect(throws: SettingsError.self) { try folder.load() }
            #expect(faults?.faults.map(\.path) == ["apps[0].kinds[0].timelineProvider.tokenFile"], "\(text)")
        }
    }

    @Test func `files that are missing, swapped or empty are faults of the keys that name them`() throws {
        let folder = try Folder()
        try folder.write("server.pem", Self.key)
        try folder.write("tokens", "short\n")
        try folder.write("data", "")
        try folder.write(
            "freshet.yaml",
            """
            dataDirectory: data
            tls:
              certificate: server.pem
              key: nowhere.key
              clientCA: .
            ops:
              tokensFile: tokens
            """
        )
        let place = folder.path
        let fault = #expect(throws: SettingsError.self) { try folder.load() }
        #expect(
            fault?.faults.map(\.description) == [
                "\(place)/freshet.yaml:1:16: dataDirectory: \(place)/data is a file; give a folder",
                "\(place)/freshet.yaml:3:16: tls.certificate: \(place)/server.pem has no certificate in PEM; "
                    + "it begins with \"-----BEGIN PRIVATE KEY-----\"",
                "\(place)/freshet.yaml:4:8: tls.key: \(place)/nowhere.key does not exist",
                "\(place)/freshet.yaml:5:13: tls.clientCA: \(place)/. is a folder; give a file",
                "\(place)/freshet.yaml:7:15: ops.tokensFile: \(place)/tokens has a token (number 1) of fewer than "
                    + "16 characters; use a longer one",
            ]
        )
    }

    @Test func `a default certificate that is missing is a fault of its key`() throws {
        let folder = try Folder()
        try folder.write("freshet.yaml", "listeners: {push: {enabled: false}, host: {enabled: false}}\n")
        let fault = #expect(throws: SettingsError.self) { try folder.load() }
        #expect(
            fault?.description == """
                tls.certificate: \(folder.path)/certs/server.pem does not exist
                tls.key: \(folder.path)/certs/server.key does not exist
                """
        )
        let environment = ["FRESHET_LISTENERS_OPS_ENABLED": "false", "FRESHET_LISTENERS_HEALTH_ENABLED": "true"]
        #expect(try folder.load(environment).listeners.health.isEnabled)
    }

    @Test func `a file that is missing or no text is one fault`() throws {
        let folder = try Folder()
        let missing = #expect(throws: SettingsError.self) { try folder.load() }
        #expect(
            missing?.description
                == "\(folder.path)/freshet.yaml: does not exist; `freshet default-config` prints one to start from"
        )
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(filePath: "\(folder.path)/freshet.yaml"))
        let binary = #expect(throws: SettingsError.self) { try folder.load() }
        #expect(binary?.description.contains("is not UTF-8 text") == true)
    }
}

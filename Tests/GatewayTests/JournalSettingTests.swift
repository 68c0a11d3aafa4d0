import Foundation
import Gateway
import Settings
import Testing
import WidgetModel

/// Where the log is, as a configuration says it.
@Suite struct JournalSettingTests {
    private static let least = """
        journal:
          jetstream:
            servers: ["nats://127.0.0.1:4222"]
            systemCredentials: {user: system, file: system-password}
        """

    private static func jetStream(_ text: String) throws -> GatewayConfiguration.JetStream? {
        try ConfigurationFile.parse(text).configuration.journal.jetStream
    }

    /// The faults of a text: where, and the beginning of why.
    private static func faults(_ text: String) -> [String] {
        do {
            _ = try ConfigurationFile.parse(text)
            return []
        } catch {
            return error.faults.map { "\($0)" }
        }
    }

    @Test func `by default it is in the data directory`() throws {
        #expect(try Self.jetStream("") == nil)
    }

    @Test func `brokers and a user of their system account are enough`() throws {
        let place = try #require(try Self.jetStream(Self.least))
        #expect(place.servers == ["nats://127.0.0.1:4222"])
        #expect(place.cluster == "freshet" && place.replicas == 3 && place.tls == nil)
        #expect(place.streamBytesMax == 1_073_741_824 && place.cacheBytesMax == 67_108_864)
        #expect(place.patience == .seconds(10) && place.standsBy)
        #expect(try Self.jetStream("\(Self.least)\n    standby: false\n")?.standsBy == false)
        #expect(place.credentials == GatewayConfiguration.BrokerCredentials())
    }

    @Test func `a log on brokers has 16 partitions unless the file says otherwise`() throws {
        func partitions(_ text: String) throws -> Int { try ConfigurationFile.parse(text).configuration.partitions }
        #expect(try partitions("") == 1)
        #expect(try partitions(Self.least) == 16)
        for text in ["partitions: 1\n\(Self.least)", "\(Self.least)\npartitions: 1\n"] {
            #expect(try partitions(text) == 1)
        }
    }

    @Test func `a section without brokers, or without a user of the system account, is a fault with its line`() {
        let faults = Self.faults("journal:\n  jetstream:\n    cluster: a\n")
        #expect(faults.count == 2, "\(faults)")
        #expect(faults.allSatisfy { $0.hasPrefix("freshet.yaml:3:") }, "\(faults)")
        #expect(faults.contains { $0.contains("journal.jetstream.servers: has no broker; give one") }, "\(faults)")
        #expect(faults.contains { $0.contains("journal.jetstream.systemCredentials: names no user") }, "\(faults)")
    }

    @Test(
        arguments: [
            "nats://127.0.0.1:4222", "nats://127.8.9.1", "nats://localhost:4222", "nats://[::1]:4222",
        ]
    )
    func `brokers on this machine need no TLS`(server: String) throws {
        let text = Self.least.replacingOccurrences(of: "nats://127.0.0.1:4222", with: server)
        #expect(try Self.jetStream(text)?.servers == [server])
    }

    @Test(
        arguments: [
            "nats://10.0.0.1:4222", "nats://nats-1:4222", "nats://[2001:db8::1]:4222", "nats://128.0.0.1",
            "nats://localhost.example.com:4222", "nats://127.example.com:4222", "nats://127.0.0.1.example.com",
        ]
    )
    func `those on others do`(server: String) throws {
        let text = Self.least.replacingOccurrences(of: "nats://127.0.0.1:4222", with: server)
        let faults = Self.faults(text)
        #expect(
            faults.count == 1 && faults[0].contains("give their CA in journal.jetstream.tls.ca"),
            "\(faults)"
        )
        #expect(try Self.jetStream(text + "\n    tls: {ca: ca.pem}\n")?.tls?.authorities == "ca.pem")
    }

    @Test(
        arguments: [
            "127.0.0.1:4222", "tls://127.0.0.1:4222", "nats://", "nats://user:secret@127.0.0.1:4222",
            "nats://127.0.0.1:0", "nats://127.0.0.1:65536", "nats://127.0.0.1:x", "nats://[::1", "nats://[::g]:1",
            "nats://a b",
        ]
    )
    func `an address is a host and a port, and never has a secret`(server: String) {
        let faults = Self.faults(Self.least.replacingOccurrences(of: "nats://127.0.0.1:4222", with: server))
        #expect(faults.contains { $0.contains("a broker's address, such as nats://127.0.0.1:4222") }, "\(faults)")
    }

    @Test(arguments: zip(0...6, [false, true, false, true, false, true, false]))
    func `replicas are 1, 3 or 5`(count: Int, isTaken: Bool) {
        #expect(Self.faults("\(Self.least)\n    replicas: \(count)\n").isEmpty == isTaken)
    }

    @Test(
        arguments: [
            ("maxStreamBytes", "134217727", false), ("maxStreamBytes", "128MiB", true),
            ("maxStreamBytes", "1025TiB", false),
            ("maxCacheBytes", "1048575", false), ("maxCacheBytes", "1MiB", true), ("maxCacheBytes", "1025GiB", false),
            ("patience", "999ms", false), ("patience", "1s", true), ("patience", "5m", true),
            ("patience", "301s", false), ("cluster", "a", true), ("cluster", "", false), ("cluster", "a_b", false),
            ("cluster", "a.b", false), ("beat", "99ms", false), ("beat", "100ms", true), ("beat", "10s", true),
            ("beat", "10001ms", false), ("questionPatience", "99ms", false), ("questionPatience", "100ms", true),
            ("questionPatience", "5m", true), ("questionPatience", "300001ms", false),
            ("cluster", String(repeating: "c", count: 32), true), ("cluster", String(repeating: "c", count: 33), false),
        ]
    )
    func `limits have edges`(key: String, value: String, isTaken: Bool) {
        let faults = Self.faults("\(Self.least)\n    \(key): \"\(value)\"\n")
        #expect(faults.isEmpty == isTaken, "\(faults)")
    }

    @Test(arguments: [
        ("name", "gw-1.example_a", true), ("name", "", false), ("name", "a b", false), ("name", "a/b", false),
        ("name", String(repeating: "n", count: 64), true), ("name", String(repeating: "n", count: 65), false),
        ("address", "https://gw-1:8443", true), ("address", "", false), ("address", "gw 1", false),
        ("address", String(repeating: "a", count: 300), true), ("address", String(repeating: "a", count: 301), false),
    ])
    func `a node's name and address have edges`(key: String, value: String, isTaken: Bool) {
        let faults = Self.faults("\(Self.least)\n    node: {\(key): \"\(value)\"}\n")
        #expect(faults.isEmpty == isTaken, "\(faults)")
    }

    @Test func `a user needs the file with its secret, and a certificate its key`() throws {
        let faults = Self.faults("\(Self.least)\n    credentials: {user: a}\n    tls: {certificate: c.pem}\n")
        #expect(faults.count == 2 && faults[0].contains("needs the file with the user's secret"), "\(faults)")
        #expect(faults.last?.contains("needs both certificate and key, or neither") == true)
        let key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
        let place = try Self.jetStream("\(Self.least)\n    credentials: {user: \(key), file: seed}\n")
        #expect(place?.credentials.isKey == true && place?.systemCredentials.isKey == false)
    }

    @Test func `the secrets' files are looked at, and so is who may read them`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-journal-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/freshet.yaml"
        // Only files on disk: no listener, so that no certificate is needed.
        let text =
            Self.least + "\nlisteners: {push: {enabled: false}, host: {enabled: false}, ops: {enabled: false}, "
            + "health: {enabled: true}}\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        func read() -> Result<ConfigurationFile.Parsed, SettingsError> {
            Result { () throws(SettingsError) in try ConfigurationFile.read(path: path, environment: [:]) }
        }
        #expect(throws: SettingsError.self) { try read().get() }
        try "\n".write(toFile: "\(folder)/system-password", atomically: true, encoding: .utf8)
        let empty = #expect(throws: SettingsError.self) { try read().get() }
        #expect(empty?.faults.first?.sentence.contains("has an empty first line") == true)
        try "secret\n".write(toFile: "\(folder)/system-password", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder)/system-password")
        let check = ConfigurationCheck(try read().get(), now: .epoch)
        let warning = check.warnings.first { $0.path == "journal.jetstream.systemCredentials.file" }
        #expect(warning?.sentence.contains("is a secret, and every user of this machine can read it") == true)
        #expect(!ConfigurationFile.text(of: try read().get().configuration).contains("secret\n"))
    }

    @Test func `it needs a restart`() throws {
        let running = try ConfigurationFile.parse("").configuration
        let changed = try ConfigurationFile.parse(Self.least).configuration
        #expect(changed.withStartSettings(of: running).journal == running.journal)
        #expect(StartSetting.all.contains { $0.holds("journal.jetstream.servers") })
    }
}

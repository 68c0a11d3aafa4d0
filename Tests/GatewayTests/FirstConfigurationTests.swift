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

    @Test func `a broker on this machine has the only copy, and no certificate`() throws {
        var first = FirstConfiguration()
        let brokers = FirstBrokers(servers: ["nats://127.0.0.1:4300"])
        first.brokers = brokers
        let configuration = try ConfigurationFile.parse(first.text).configuration
        let jetStream = try #require(configuration.journal.jetStream)
        #expect(jetStream.servers == ["nats://127.0.0.1:4300"] && jetStream.replicas == 1 && jetStream.tls == nil)
        #expect(configuration.partitions == 16 && configuration.listeners.push.address == "127.0.0.1")
        let text = brokers.text(password: "secret", systemPassword: "other", routePassword: "third")
        for line in ["host: \"127.0.0.1\"", "port: 4300"] { #expect(text.contains("\n\(line)\n"), "\(text)") }
        #expect(!text.contains("tls") && !text.contains("cluster") && !text.contains("$MACHINE"), "\(text)")
    }

    @Test func `brokers of a cluster know each other, and the gateway knows their users`() throws {
        var first = FirstConfiguration()
        let servers = ["nats://10.0.0.1:4222", "nats://three.example.com", "nats://[fd00::2]:4222"]
        let brokers = FirstBrokers(servers: servers)
        first.brokers = brokers
        first.address = "0.0.0.0"
        first.partitions = 6
        let configuration = try ConfigurationFile.parse(first.text).configuration
        let jetStream = try #require(configuration.journal.jetStream)
        #expect(jetStream.servers == servers && jetStream.replicas == 3)
        #expect(jetStream.tls?.authorities == "certs/ca.pem" && configuration.partitions == 6)
        #expect(configuration.listeners.push.address == "0.0.0.0" && configuration.listeners.host.address == "0.0.0.0")
        #expect(configuration.listeners.ops.address == "127.0.0.1")

        #expect(brokers.names == ["three.example.com"] && brokers.addresses == ["10.0.0.1", "fd00::2"])
        let text = brokers.text(password: "secret", systemPassword: "other", routePassword: "third")
        let routes = ["10.0.0.1", "three.example.com", "[fd00::2]"]
            .map { "\"nats://freshet-route:third@\($0):6222\"" }.joined(separator: ", ")
        #expect(text.contains("routes: [\(routes)]") && text.contains("\nserver_name: $MACHINE\n"), "\(text)")
        // Any client certificate of the CA would be enough for a route without it.
        #expect(text.contains("  authorization { user: freshet-route, password: \"third\" }\n"), "\(text)")
        let users = [
            (jetStream.credentials, "broker-password", "secret"),
            (jetStream.systemCredentials, "system-password", "other"),
        ]
        for (credentials, file, password) in users {
            let user = try #require(credentials.user)
            #expect(credentials.file == file)
            #expect(text.contains("{ user: \(user), password: \"\(password)\" }"), "\(text)")
        }
    }

    @Test(arguments: ["", "x", "nats://", "nats://:", "nats://[", "nats://[]", "nats://]:1", "http://127.0.0.1"])
    func `what is no broker's address is refused by its place`(_ server: String) throws {
        var first = FirstConfiguration()
        first.brokers = FirstBrokers(servers: [server])
        let faults = #expect(throws: SettingsError.self) { try first.check() }
        #expect(faults?.faults.first?.path == "journal.jetstream.servers[0]", "\(String(describing: faults))")
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
        #expect(try fault { $0.partitions = 65 } == "partitions")
        let two = FirstBrokers(servers: ["nats://10.0.0.1:4222", "nats://10.0.0.2:4222"])
        #expect(try fault { $0.brokers = two } == "journal.jetstream.servers")
        let others = FirstBrokers(servers: ["nats://10.0.0.1", "nats://10.0.0.2:4222", "nats://10.0.0.3:4223"])
        #expect(try fault { $0.brokers = others } == "journal.jetstream.servers")
    }

    @Test(arguments: [
        (["nats://a:1", "nats://A:1", "nats://c:1"], "has a machine twice"),
        (["nats://a", "nats://a:4222"], "has a machine twice"),
        (["nats://a:1", "nats://b:1"], "give one broker, or at least three"),
        (["nats://a:1", "nats://b:1", "nats://c:2"], "must have the same port"),
        (["nats://a:6222", "nats://b:6222", "nats://c:6222"], "has the port 6222"),
    ])
    func `brokers that make no cluster are refused with the reason`(servers: [String], reason: String) {
        var first = FirstConfiguration()
        first.brokers = FirstBrokers(servers: servers)
        let faults = #expect(throws: SettingsError.self) { try first.check() }
        #expect(faults?.faults.first?.sentence.contains(reason) == true, "\(String(describing: faults))")
    }

    @Test func `a broker alone has no routes, so it may have their port`() throws {
        var first = FirstConfiguration()
        first.brokers = FirstBrokers(servers: ["nats://127.0.0.1:6222"])
        try first.check()
    }

    @Test(
        arguments: [
            ([], [], nil), (["localhost", "LOCALHOST"], ["127.0.0.1", "::1", "127.8.9.1"], nil),
            (["a.example.com"], [], "0.0.0.0"), ([], ["10.0.0.1"], "0.0.0.0"), (["127.example.com"], [], "0.0.0.0"),
            ([], ["10.0.0.1", "::1"], "0.0.0.0"), ([], ["fd00::1"], "::"), (["a.example.com"], ["fd00::1"], "::"),
            (["localhost"], ["10.0.0.1", "fd00::1"], "::"),
        ] as [([String], [String], String?)]
    )
    func `listeners are open for what other machines may call`(
        hosts: [String],
        addresses: [String],
        listener: String?
    ) {
        #expect(FirstConfiguration.listenerAddress(hosts: hosts, addresses: addresses) == listener)
    }
}

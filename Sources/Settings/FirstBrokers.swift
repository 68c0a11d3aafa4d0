import WidgetModel

/// NATS brokers to begin with: one on the gateway's own machine, or one on each machine of a cluster.
///
/// The machines of a cluster have the same files; a broker reads its machine's own address from `$MACHINE`.
package struct FirstBrokers: Hashable, Sendable {
    /// The name of the brokers' configuration.
    package static let fileName = "broker.conf"
    /// The name of the file with the password of the user that writes the log.
    package static let passwordFile = "broker-password"
    /// The name of the file with the password of the user of the system account.
    package static let systemPasswordFile = "system-password"
    private static let user = "freshet"
    private static let systemUser = "freshet-system"
    private static let routeUser = "freshet-route"
    private static let defaultPort = "4222"
    private static let routePort = "6222"

    /// As the gateway's configuration has them, such as nats://10.0.0.1:4222; judged by ``FirstConfiguration/check()``.
    package let servers: [String]
    /// The names or addresses of the brokers' machines, in the order of ``servers``.
    package let machines: [String]
    private let ports: [String]

    package init(servers: [String]) {
        self.servers = servers
        let places = servers.map { Self.splitServer($0) }
        self.machines = places.map { $0.machine }
        self.ports = places.map { $0.port }
    }

    /// Whether there is one broker, which only the gateway on its machine reaches.
    package var isLocal: Bool {
        guard self.servers.count == 1, !self.machines[0].isEmpty else { return false }
        return GatewayConfiguration.JetStream.isLoopback(self.servers[0])
    }

    /// The machines that are known by a name.
    package var names: [String] { self.machines.filter { !Self.isAddress($0) } }

    /// The machines that are known by an IP address.
    package var addresses: [String] { self.machines.filter { Self.isAddress($0) } }

    /// A machine as it stands before a colon, where an IPv6 address is in brackets.
    package static func bracketed(_ machine: String) -> String { machine.contains(":") ? "[\(machine)]" : machine }

    /// Judges what the gateway's configuration does not: a list of wrong addresses alone counts as empty there.
    ///
    /// - Throws: The first fault.
    func check() throws(SettingsError) {
        let path = "journal.jetstream.servers"
        let type = SettingType<String>.brokerAddress
        for (index, server) in self.servers.enumerated() where type.value(server) == nil {
            let sentence = type.sentence(refusing: server)
            throw SettingsError([SettingFault(place: .nowhere, path: "\(path)[\(index)]", sentence: sentence)])
        }
        var sentence: String?
        if Set(self.machines.map { $0.lowercased() }).count < self.machines.count {
            sentence = "has a machine twice; give one broker of each machine"
        } else if self.servers.count == 2 {
            sentence = "has two brokers, which stop when one of them does; give one broker, or at least three"
        } else if Set(self.ports).count > 1 {
            sentence = "must have the same port, since the brokers share \(Self.fileName)"
        } else if self.servers.count > 1, self.ports.contains(Self.routePort) {
            sentence = "has the port \(Self.routePort), which the brokers use among themselves; give another port"
        }
        guard let sentence else { return }
        throw SettingsError([SettingFault(place: .nowhere, path: path, sentence: sentence)])
    }

    /// `journal` of the gateway's configuration.
    var journal: JSONValue {
        func user(_ name: String, _ file: String) -> JSONValue {
            JSONValue.object(of: [("user", .string(name)), ("file", .string(file))])
        }
        // Three copies are the gateway's default.
        let replicas: JSONValue? = self.servers.count < 3 ? JSONValue.count(self.servers.count) : nil
        let authority = JSONValue.string("\(FirstConfiguration.certificateFolder)/ca.pem")
        let tls: JSONValue? = self.isLocal ? nil : JSONValue.object(of: [("ca", authority)])
        let jetStream = JSONValue.object(of: [
            ("servers", JSONValue.strings(self.servers)), ("replicas", replicas),
            ("credentials", user(Self.user, Self.passwordFile)),
            ("systemCredentials", user(Self.systemUser, Self.systemPasswordFile)), ("tls", tls),
        ])
        return JSONValue.object(of: [("jetstream", jetStream)])
    }

    /// The brokers' configuration, for a broker that starts in the folder of the file.
    ///
    /// - Parameters:
    ///   - password: Of the user that writes the log.
    ///   - systemPassword: Of the user of the system account.
    ///   - routePassword: With which the brokers of a cluster connect to each other. Without it, any client certificate of the CA would do.
    package func text(password: String, systemPassword: String, routePassword: String) -> String {
        let folder = FirstConfiguration.certificateFolder
        let files = "cert_file: \(folder)/server.pem, key_file: \(folder)/server.key"
        var lines = ["# Made by `freshet init`. Paths are relative to the folder in which nats-server starts."]
        if self.isLocal {
            lines += ["server_name: broker", "host: \"\(self.machines[0])\""]
        } else {
            lines += [
                "# MACHINE is a variable of the environment: the machine's own address.", "server_name: $MACHINE",
                "host: $MACHINE",
            ]
        }
        lines.append("port: \(self.ports.first ?? Self.defaultPort)")
        lines.append("jetstream { store_dir: broker, sync_interval: always }")
        if !self.isLocal { lines.append("tls { \(files) }") }
        if self.machines.count > 1 {
            let user = "\(Self.routeUser):\(routePassword)"
            let routes = self.machines.map { "\"nats://\(user)@\(Self.bracketed($0)):\(Self.routePort)\"" }
            lines += [
                "cluster {", "  name: freshet", "  host: $MACHINE", "  port: \(Self.routePort)",
                "  authorization { user: \(Self.routeUser), password: \"\(routePassword)\" }",
                "  routes: [\(routes.joined(separator: ", "))]", "  tls { \(files), ca_file: \(folder)/ca.pem }", "}",
            ]
        }
        lines += [
            "accounts {", "  SYS: { users: [ { user: \(Self.systemUser), password: \"\(systemPassword)\" } ] }",
            "  FRESHET: { jetstream: enabled, users: [ { user: \(Self.user), password: \"\(password)\" } ] }", "}",
            "system_account: SYS",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func isAddress(_ machine: String) -> Bool {
        SettingRules.isIPv4(machine) || SettingRules.isIPv6(machine)
    }

    /// Machine and port of an address; of text that is none, anything.
    private static func splitServer(_ server: String) -> (machine: String, port: String) {
        let rest = server.dropFirst("nats://".count)
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            let port = rest[rest.index(after: end)...].dropFirst()
            return (String(rest[..<end].dropFirst()), port.isEmpty ? Self.defaultPort : String(port))
        }
        let parts = rest.split(separator: ":", maxSplits: 1)
        return (parts.first.map { String($0) } ?? "", parts.count > 1 ? String(parts[1]) : Self.defaultPort)
    }
}

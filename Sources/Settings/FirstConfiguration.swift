import WidgetModel

/// The configuration to begin with: a team with a key, an app with one kind of widget that has one parameter, and the certificates for
/// development beside the file.
package struct FirstConfiguration: Hashable, Sendable {
    /// The file's name.
    package static let fileName = "freshet.yaml"
    /// The folder of the certificates and keys, beside the file.
    package static let certificateFolder = "certs"
    /// The folder of the log and of the operators' token, beside the file.
    package static let dataFolder = "data"

    package var team = "A1B2C3D4E5"
    /// The id of the team's key.
    package var keyID = "F6G7H8J9K0"
    /// The app's bundle id.
    package var app = "com.example.scores"
    /// The kind of the app's widgets.
    package var kind = "scores"
    /// The name of the text that such a widget is configured with, and that pushes match.
    package var parameter = "team"
    package var pushPort = GatewayConfiguration.Listeners().push.port
    package var hostPort = GatewayConfiguration.Listeners().host.port
    package var opsPort = GatewayConfiguration.Listeners().ops.port
    /// The address of the listeners for senders and hosts. Default nil: loopback, which other machines do not reach.
    package var address: String?
    /// The number of partitions. Default nil: as many as the gateway has without the key.
    package var partitions: Int?
    /// The brokers that have the log. Default nil: the log is in the data directory.
    package var brokers: FirstBrokers?

    package init() {}

    /// Where the listeners for senders and hosts listen, if the gateway has these names and addresses for others.
    ///
    /// - Returns: Every address of IPv4, or of IPv6 and IPv4 if one of the addresses is of IPv6; nil for loopback alone, if none of them is
    ///   for another machine.
    package static func listenerAddress(hosts: [String], addresses: [String]) -> String? {
        guard (hosts + addresses).contains(where: { !SettingRules.isLoopback($0) }) else { return nil }
        return addresses.contains { $0.contains(":") && !SettingRules.isLoopback($0) } ? "::" : "0.0.0.0"
    }

    /// Judges the answers as reading the file does.
    ///
    /// - Throws: The answers that cannot be used, with the reasons.
    package func check() throws(SettingsError) {
        try self.brokers?.check()
        _ = try ConfigurationFile.parse(self.text)
    }

    /// The file.
    package var text: String {
        let folder = Self.certificateFolder
        let parameter = JSONValue.object(of: [
            ("name", .string(self.parameter)), ("type", .string("string")), ("required", .bool(true)),
        ])
        let kind = JSONValue.object(of: [("kind", .string(self.kind)), ("parameters", .array([parameter]))])
        let key = JSONValue.object(of: [
            ("id", .string(self.keyID)), ("file", .string("\(folder)/provider-key.public.pem")),
        ])
        let tls = JSONValue.object(of: [
            ("certificate", .string("\(folder)/server.pem")), ("key", .string("\(folder)/server.key")),
        ])
        let address: JSONValue? = self.address.map { JSONValue.string($0) }
        let listeners = JSONValue.object(of: [
            ("push", JSONValue.object(of: [("address", address), ("port", .count(self.pushPort))])),
            ("host", JSONValue.object(of: [("address", address), ("port", .count(self.hostPort))])),
            ("ops", JSONValue.object(of: [("port", .count(self.opsPort))])),
        ])
        let partitions: JSONValue? = self.partitions.map { JSONValue.count($0) }
        let team = JSONValue.object(of: [("id", .string(self.team)), ("keys", .array([key]))])
        let app = JSONValue.object(of: [
            ("bundleID", .string(self.app)), ("team", .string(self.team)), ("kinds", .array([kind])),
        ])
        let file = JSONValue.object(of: [
            ("dataDirectory", .string(Self.dataFolder)), ("partitions", partitions),
            ("journal", self.brokers?.journal), ("tls", tls), ("listeners", listeners),
            ("teams", .array([team])), ("apps", .array([app])),
        ])
        return """
            # Made by `freshet init`, with certificates for development. `freshet default-config` prints every key,
            # `freshet schema config` a schema for editors.
            \(file.yamlText)
            """
    }
}

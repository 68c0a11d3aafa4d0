import APNSWire
package import Partitions
package import Settings
package import TLS
import WidgetModel

extension SenderDirectory {
    /// Reads the keys' files and the revocation list.
    ///
    /// - Throws: ``TLSError`` that names the file.
    package init(_ configuration: GatewayConfiguration) throws(TLSError) {
        try self.init(configuration, read: ES256PublicKey.init(of:))
    }

    /// Reads the files of another configuration's keys and puts those in force, all of them or, if one cannot be read, none.
    ///
    /// - Parameters:
    ///   - configuration: Its apps are those that are served.
    ///   - numbers: Those of its apps.
    /// - Throws: ``TLSError`` that names the file.
    package func replaceKeys(_ configuration: GatewayConfiguration, _ numbers: AppNumbers) throws(TLSError) {
        try self.keys.replace { () throws(TLSError) in
            let before = self.keys
            return try Self.keys(configuration, numbers, before: before, read: ES256PublicKey.init(of:))
        }
    }

    /// Makes the directory of given keys.
    ///
    /// - Parameters:
    ///   - read: Gives the public half of a key.
    package init(
        _ configuration: GatewayConfiguration,
        read: (GatewayConfiguration.ProviderKey) throws(TLSError) -> ES256PublicKey
    ) throws(TLSError) {
        self.init(
            keys: try Self.keys(configuration, AppNumbers(configuration), read: read),
            certificates: ClientCertificates(try ClientCertificateTable(configuration)),
            rules: ProviderTokenRules(
                ageMax: configuration.providerTokens.ageMax,
                futureSkewMax: configuration.providerTokens.futureSkewMax
            ),
            updates: TokenUpdates(configuration.providerTokens),
            bindsConnections: configuration.providerTokens.bindsConnections
        )
    }

    private static func keys(
        _ configuration: GatewayConfiguration,
        _ numbers: AppNumbers,
        before: ProviderKeys? = nil,
        read: (GatewayConfiguration.ProviderKey) throws(TLSError) -> ES256PublicKey
    ) throws(TLSError) -> [Key] {
        var keys: [Key] = []
        for team in configuration.teams {
            for key in team.keys {
                let sender = Sender(
                    team: team.id,
                    keyID: key.id,
                    topics: TopicTable(configuration, numbers, of: key, team: team.id),
                    scope: KeyScope(
                        isTopicKey: key.topics != nil,
                        environment: key.environment,
                        relatedKey: key.relatedKey
                    ),
                    actions: SenderActions(key),
                    isSlowedByRefusals: configuration.apps.contains { $0.team == team.id && $0.streamLimit == .apns },
                    meter: RateMeter.of(
                        (key.rateLimit ?? configuration.rateLimits.perKey)?.limit,
                        before: before?.key(key.id)?.sender.meter
                    )
                )
                keys.append(Key(sender: sender, publicKey: try read(key)))
            }
        }
        return keys
    }
}

extension ES256PublicKey {
    /// Reads a key, from its file where it has one.
    fileprivate init(of key: GatewayConfiguration.ProviderKey) throws(TLSError) {
        let source = key.publicKey.map { PEMSource.text($0) } ?? .file(key.file ?? "")
        try self.init(pem: source, what: "provider key \(key.id)")
    }
}

extension SenderActions {
    fileprivate init(_ key: GatewayConfiguration.ProviderKey) {
        self = key.allowedActions.map { $0.reduce(into: []) { $0.formUnion(SenderActions($1)) } } ?? .all
        if key.reads { self.insert(.reads) }
    }
}

extension ClientCertificateTable {
    /// Reads the revocation list.
    ///
    /// - Throws: ``TLSError`` that names the file.
    package init(_ configuration: GatewayConfiguration, _ numbers: AppNumbers? = nil) throws(TLSError) {
        let numbers = numbers ?? AppNumbers(configuration)
        self.init(
            apps: configuration.apps.map { app in
                App(
                    topics: TopicTable.App(numbers[app.bundleID], app),
                    team: app.team,
                    environment: app.environment == .production ? .production : .development,
                    slowsDown: app.streamLimit == .apns
                )
            },
            rules: configuration.apps.enumerated().flatMap { number, app in
                app.clientCertificates.map { Rule(name: $0.name, app: number, topics: $0.topics) }
            },
            believesTopics: configuration.clientCertificates.unnamed == .topics,
            rate: configuration.rateLimits.perKey?.limit,
            revocations: try RevocationList(configuration)
        )
    }
}

extension RevocationList {
    /// Reads the file that a configuration names, if it names one.
    ///
    /// - Throws: ``TLSError`` that names the file.
    package init(_ configuration: GatewayConfiguration) throws(TLSError) {
        guard let file = configuration.clientCertificates.revocationList else {
            self.init()
            return
        }
        try self.init(.file(file), authorities: configuration.clientAuthorities.map { .file($0) })
    }
}

extension GatewayConfiguration {
    /// The files of those whose client certificates, and revocation lists, are believed: each once, in the order of the
    /// listeners.
    package var clientAuthorities: [String] {
        let listeners = self.listeners.opened
        let files = [listeners.push, listeners.manage, listeners.host, listeners.ops]
            .filter(\.isEnabled)
            .compactMap { self.tls(for: $0).clientAuthorities }
        return files.enumerated().filter { !files[..<$0.offset].contains($0.element) }.map(\.element)
    }
}

extension TopicTable.App {
    /// - Parameter environment: The only one that the key is for, nil for both.
    fileprivate init(
        _ number: Int,
        _ app: GatewayConfiguration.App,
        for environment: GatewayConfiguration.App.Environment? = nil
    ) {
        self.init(
            number: number,
            bundle: app.bundleID,
            extraTopics: app.extraTopics,
            // A push of a type that the gateway does not handle itself is judged all the same, and then goes upstream.
            types: app.upstream.map { $0.relay == .none } ?? true ? .widgetKit : PushTypeSet(PushType.allCases),
            tokenDigitsMax: app.tokenDigitsMax,
            isOfOtherEnvironment: environment.map { $0 != app.environment } ?? false
        )
    }
}

extension TokenUpdates {
    fileprivate convenience init(_ tokens: GatewayConfiguration.ProviderTokens) {
        // A connection that carries several senders would have their tokens follow one another all the time.
        let isCountedByKey = tokens.refreshScope == .connection && !tokens.bindsConnections
        self.init(scope: isCountedByKey ? .key : tokens.refreshScope, interval: tokens.refreshMin)
    }
}

extension TopicTable {
    /// The topics of a team's apps that a key is for.
    fileprivate convenience init(
        _ configuration: GatewayConfiguration,
        _ numbers: AppNumbers,
        of key: GatewayConfiguration.ProviderKey,
        team: TeamID
    ) {
        let apps = configuration.apps.filter { $0.team == team }
        self.init(
            apps.map { TopicTable.App(numbers[$0.bundleID], $0, for: key.environment) },
            limitedTo: key.topics
        )
    }
}

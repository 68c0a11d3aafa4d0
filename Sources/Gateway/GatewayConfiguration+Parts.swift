package import APNSWire
package import Engine
import IntentMatching
package import TLS
import WidgetModel

// What each part of the gateway takes from the configuration.

extension ServedApps {
    package init(_ configuration: GatewayConfiguration) {
        self.init(
            configuration.apps.enumerated().map { number, app in
                App(
                    number: number,
                    bundle: app.bundleID,
                    acceptsUnknownTokens: app.unknownTokens == .accept,
                    matchedMax: app.matchedMax,
                    schemas: app.schemas,
                    samples: app.kinds.reduce(into: [:]) { $0[$1.schema.kind] = $1.sample },
                    isInDevelopment: app.environment == .development,
                    meter: (app.rateLimit ?? configuration.rateLimits.perApp).map { RateMeter($0.limit) },
                    broadcastExpiration: app.hasChannels ? min(app.defaultExpiration, ChannelService.storageMax) : nil,
                    deliveries: [.stream] + (app.upstream == nil ? [] : [.apns])
                        + (app.webhook == nil ? [] : [.webhook])
                )
            }
        )
    }
}

extension SenderDirectory {
    /// Reads the keys' files and the revocation list.
    ///
    /// - Throws: ``TLSError`` that names the file.
    package init(_ configuration: GatewayConfiguration) throws(TLSError) {
        try self.init(configuration) { (key) throws(TLSError) in
            try ES256PublicKey(pem: .file(key.file), what: "provider key \(key.id)")
        }
    }

    /// Makes the directory of given keys.
    ///
    /// - Parameters:
    ///   - inForce: Which rules are in force.
    ///   - read: Gives the public half of a key.
    package init(
        _ configuration: GatewayConfiguration,
        inForce: PushRules = .all,
        read: (GatewayConfiguration.ProviderKey) throws(TLSError) -> ES256PublicKey
    ) throws(TLSError) {
        var keys: [Key] = []
        for team in configuration.teams {
            for key in team.keys {
                let sender = Sender(
                    team: team.id,
                    keyID: key.id,
                    topics: TopicTable(configuration, of: key, team: team.id, inForce),
                    scope: KeyScope(
                        isTopicKey: key.topics != nil,
                        environment: key.environment,
                        relatedKey: key.relatedKey
                    ),
                    meter: (key.rateLimit ?? configuration.rateLimits.perKey).map { RateMeter($0.limit) }
                )
                keys.append(Key(sender: sender, publicKey: try read(key)))
            }
        }
        self.init(
            keys: keys,
            certificates: ClientCertificates(try ClientCertificateTable(configuration)),
            rules: ProviderTokenRules(
                ageMax: configuration.providerTokens.ageMax,
                futureSkewMax: configuration.providerTokens.futureSkewMax
            ),
            updates: TokenUpdates(configuration.providerTokens),
            bindsConnections: configuration.providerTokens.bindsConnections
        )
    }
}

extension ClientCertificateTable {
    /// Reads the revocation list.
    ///
    /// - Throws: ``TLSError`` that names the file.
    package init(_ configuration: GatewayConfiguration) throws(TLSError) {
        self.init(
            apps: configuration.apps.enumerated().map { number, app in
                App(
                    topics: TopicTable.App(number, app),
                    team: app.team,
                    environment: app.environment == .production ? .production : .development
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
        try self.init(.file(file))
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
            // What the gateway does not handle itself is judged all the same, and then goes upstream.
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
        of key: GatewayConfiguration.ProviderKey,
        team: TeamID,
        _ rules: PushRules
    ) {
        let apps = configuration.apps.enumerated().filter { rules.met(.topicOfTeam, $0.element.team == team) }
        self.init(
            apps.map { TopicTable.App($0.offset, $0.element, for: key.environment) },
            limitedTo: key.topics,
            rules: rules
        )
    }
}

extension EngineSettings {
    package init(_ configuration: GatewayConfiguration) {
        self.init(
            apps: configuration.apps.map { app in
                AppSettings(
                    app: app.bundleID,
                    team: app.team,
                    defaultExpiration: app.defaultExpiration,
                    defaultPriority: app.defaultPriority,
                    developerMode: app.isDeveloperMode,
                    environment: app.environment == .development ? .development : .production,
                    kinds: app.kinds.map {
                        KindSettings(schema: $0.schema, budget: $0.budget, usesLocation: $0.usesLocation)
                    }
                )
            },
            limits: configuration.limits.engine
        )
    }
}

extension PushIntakeLimits {
    init(_ limits: GatewayConfiguration.Limits) {
        self.init()
        self.deviceBodyBytesMax = limits.deviceBodyBytesMax
        self.targetedBodyBytesMax = limits.targetedBodyBytesMax
        self.tokenDigitsMax = limits.tokenDigitsMax
        self.streamsBeforeTokenMax = UInt32(limits.streamsBeforeTokenMax)
        self.verifiedTokensMax = limits.verifiedTokensMax
    }
}

extension SenderLimits {
    init(_ configuration: GatewayConfiguration, seed: UInt64) {
        self.init(
            backlog: PushBacklog(max: configuration.limits.inFlightPushesMax),
            tokens: configuration.rateLimits.perToken.map { rate in
                TokenRates(limit: rate.limit, entries: configuration.rateLimits.tokensMax, seed: seed)
            }
        )
    }
}

extension GatewayConfiguration.Rate {
    fileprivate var limit: RateLimit { RateLimit(count: self.count, per: self.period, burst: self.burstInForce) }
}

extension HostRouteLimits {
    init(_ limits: GatewayConfiguration.Limits) {
        self.init()
        self.bodyBytesMax = limits.hostBodyBytesMax
        self.importBytesMax = limits.importBytesMax
        self.importLinesMax = limits.importLinesMax
        self.instancesPerHostMax = limits.engine.instancesPerHostMax
    }
}

extension CrossOrigin {
    init(_ configuration: GatewayConfiguration) {
        self.init(
            Dictionary(
                configuration.apps.map { ($0.bundleID, Set($0.origins)) },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }
}

extension HostStreams.Limits {
    init(_ streams: GatewayConfiguration.Streams) {
        self.init()
        self.perScopeMax = streams.perHostMax
        self.allMax = streams.allMax
        self.bufferMax = streams.bufferMax
        self.historyMax = streams.historyMax
        self.rotationBeats = Int(streams.rotation.milliseconds / streams.heartbeat.milliseconds)
        self.retryMax = streams.retryMax
    }
}

extension HostDirectory {
    /// Takes over what an engine says about a token.
    func apply(_ change: DirectoryChange, _ partition: PartitionID) {
        switch change {
        case .bound(let token, let host, let app, let instance):
            self.bind(token, to: Entry(host: host, app: app, instance: instance, partition: partition))
        case .removed(let token, let app, let at):
            self.markRemoved(token, app: app, at: at, in: partition)
        case .forgotten(let token):
            self.forget(token, in: partition)
        }
    }
}

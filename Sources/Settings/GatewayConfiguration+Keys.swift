import Engine
import Journaling
import Timelines
import WidgetModel

extension GatewayConfiguration {
    /// Shows a visitor every key of the configuration, in the order of the file.
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.file("dataDirectory", &self.dataDirectory, .folder)
        let wasShared = self.journal.jetStream != nil
        visitor.section("journal") { visitor in
            visitor.optionalSection("jetstream", &self.journal.jetStream, empty: JetStream()) { $0.visit(&$1) }
        }
        if self.journal.jetStream != nil, !wasShared { self.partitions = Self.sharedPartitions }
        visitor.scalar("partitions", &self.partitions, .integer(1...64))
        visitor.section("snapshots") { visitor in
            visitor.scalar("interval", &self.snapshots.interval, .duration(.seconds(1) ... .days(1)))
            visitor.scalar("maxLogBytes", &self.snapshots.logBytesMax, .bytes(65_536...1_099_511_627_776))
            visitor.scalar("history", &self.snapshots.history, .duration(.zero ... .days(365)))
        }
        visitor.section("decisions") { self.decisions.visit(&$0) }
        visitor.section("storage") { visitor in
            visitor.optional("maxBytes", &self.storage.bytesMax, .bytes(134_217_728...1_125_899_906_842_624))
            visitor.scalar("minFree", &self.storage.freePercentMin, .percent(0...90))
            visitor.scalar("memoryMax", &self.memoryMax, .memory)
        }
        visitor.section("tls") { visitor in
            self.tls.visit(&visitor, isRequired: false)
            visitor.scalar("checkInterval", &self.certificateCheck, .duration(.seconds(1) ... .hours(24)))
        }
        visitor.section("clientCertificates") { visitor in
            visitor.scalar("unnamed", &self.clientCertificates.unnamed, .choice())
            visitor.optionalFile("revocationList", &self.clientCertificates.revocationList, .revocationList)
        }
        visitor.section("listeners") { visitor in
            visitor.scalar("merged", &self.listeners.isMerged, .flag)
            visitor.section("push") { visitor in
                self.listeners.push.visit(&visitor, hasTLS: true)
                visitor.scalar("priorKnowledge", &self.listeners.push.acceptsPriorKnowledge, .flag)
            }
            visitor.section("manage") { self.listeners.manage.visit(&$0, hasTLS: true) }
            visitor.section("host") { self.listeners.host.visit(&$0, hasTLS: true) }
            visitor.section("ops") { self.listeners.ops.visit(&$0, hasTLS: true) }
            visitor.section("health") { self.listeners.health.visit(&$0, hasTLS: false) }
        }
        visitor.section("ops") { visitor in
            visitor.scalar("open", &self.operators.isOpen, .flag)
            visitor.scalars("names", &self.operators.names, .hostName)
            visitor.optionalFile("tokensFile", &self.operators.tokensFile, .operatorTokens)
            visitor.secrets("tokens", &self.operators.tokens)
            self.operators.visitCertificates(&visitor)
            visitor.section("dashboard") { visitor in
                visitor.scalar("enabled", &self.operators.dashboard.isEnabled, .flag)
                visitor.scalar("chartScript", &self.operators.dashboard.chartScript, .absolutePath)
            }
        }
        self.visitSenders(&visitor)
        self.visitPolicies(&visitor)
        self.visitApps(&visitor)
        visitor.section("providerTokens") { visitor in
            visitor.scalar("maxAge", &self.providerTokens.ageMax, .duration(.minutes(1) ... .days(1)))
            visitor.scalar("maxFutureSkew", &self.providerTokens.futureSkewMax, .duration(.zero ... .hours(1)))
            visitor.scalar("minRefresh", &self.providerTokens.refreshMin, .duration(.zero ... .hours(1)))
            visitor.scalar("refreshScope", &self.providerTokens.refreshScope, .choice())
            visitor.scalar("bindConnections", &self.providerTokens.bindsConnections, .flag)
        }
        visitor.section("streams") { self.streams.visit(&$0) }
        visitor.section("feed") { self.feed.visit(&$0) }
        visitor.section("deliveries") { self.deliveries.visit(&$0) }
        visitor.section("timelines") { self.timelines.visit(&$0) }
        visitor.section("freshness") { visitor in visitor.scalar("goal", &self.freshnessGoal, .goal) }
        visitor.section("dryRun") { visitor in
            visitor.scalar("decidedMax", &self.dryRun.decidedMax, .integer(1...1000))
        }
        visitor.section("fairness") { visitor in
            visitor.scalar("undecided", &self.fairness.undecided, .duration(.milliseconds(100) ... .hours(1)))
            visitor.scalar("pushMax", &self.fairness.pushMax, .duration(.zero ... .hours(1)))
        }
        visitor.section("rateLimits") { self.rateLimits.visit(&$0) }
        visitor.section("limits") { self.limits.visit(&$0) }
        visitor.section("http2") { self.http2.visit(&$0) }
        visitor.section("timeouts") { self.timeouts.visit(&$0) }
        visitor.section("log") { visitor in
            visitor.scalar("level", &self.log.level, .choice())
            visitor.section("levels") { visitor in
                for subsystem in LogSubsystem.allCases {
                    visitor.optional(subsystem.rawValue, &self.log.levels[subsystem], .choice())
                }
            }
            visitor.scalar("format", &self.log.format, .choice())
            visitor.scalar("repeatWindow", &self.log.repeatWindow, .duration(.zero ... .hours(24)))
            visitor.scalar("maxRepeats", &self.log.repeatsMax, .integer(1...65_536))
        }
        visitor.section("tracing") { self.tracing.visit(&$0) }
    }

    mutating func visitSenders(_ visitor: inout some SettingsVisitor) {
        let empty = Team(id: TeamID(""))
        visitor.records("teams", &self.teams, empty: empty) { team, visitor in
            visitor.scalar("id", &team.id, .teamID, isRequired: true)
            visitor.optional("maxHosts", &team.hostsMax, .registryCount)
            visitor.optional("maxInstances", &team.instancesMax, .registryCount)
            let empty = ProviderKey(id: KeyID(""))
            visitor.records("keys", &team.keys, empty: empty) { key, visitor in
                visitor.scalar("id", &key.id, .keyID, isRequired: true)
                visitor.optionalFile("file", &key.file, .providerKey)
                visitor.optional("publicKey", &key.publicKey, .publicKey)
                if let sentence = key.materialFault { visitor.fault("", sentence) }
                if let sentence = key.publicKeyFault { visitor.fault("publicKey", sentence) }
                visitor.optionalScalars("topics", &key.topics, .topic)
                visitor.optional("environment", &key.environment, .choice())
                visitor.optional("relatedKey", &key.relatedKey, .keyID)
                visitor.scalar("reads", &key.reads, .flag)
                visitor.optionalScalars("allows", &key.allowedActions, .choice(), mayBeEmpty: true)
                if let sentence = key.idleFault { visitor.fault("allows", sentence) }
                visitor.rate("rateLimit", &key.rateLimit)
            }
        }
    }
}

extension GatewayConfiguration.ProviderKey {
    /// The fault of the key's place.
    fileprivate var materialFault: String? {
        (self.file == nil) == (self.publicKey == nil)
            ? "needs either file (a PEM file) or publicKey (the public half itself, as PEM)" : nil
    }

    /// The fault of a key that allows nothing.
    fileprivate var idleFault: String? {
        self.allowedActions == [] && !self.reads
            ? "lists nothing; remove the line to allow all, or set reads for a key that only reads" : nil
    }

    /// The fault of a public key. No message repeats the key, since it may be a secret by mistake.
    fileprivate var publicKeyFault: String? {
        guard let text = self.publicKey else { return nil }
        if text.contains("PRIVATE KEY-----") {
            return "is a private key; give only its public half: openssl pkey -in key.p8 -pubout"
        }
        return text.contains("-----BEGIN PUBLIC KEY-----")
            ? nil : "must be a public key as PEM, with its line -----BEGIN PUBLIC KEY-----"
    }
}

extension SettingType<String> {
    /// The key itself is judged elsewhere, since a fault of this type would repeat it in a message.
    static let publicKey = SettingType.text("a public key as PEM (BEGIN PUBLIC KEY), at most 4,096 bytes") {
        (1...4096).contains($0.utf8.count)
    }

    /// A team's or a key's id: Apple's have ten letters and digits.
    static let identifier = SettingType.text("an id of 1 to 64 letters, digits, hyphens and underscores") { text in
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { SettingRules.isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x5F }
    }

    static let topic = SettingType.text("a topic, such as com.example.scores.push-type.widgets") {
        SettingRules.isBundleID($0)
    }

    /// An origin in the serialization that browsers send (RFC 6454, 6.2).
    static let origin = SettingType.text("an origin without a path, such as https://widgets.example.com") { text in
        let rest = text.hasPrefix("https://") ? text.dropFirst(8) : text.hasPrefix("http://") ? text.dropFirst(7) : ""
        return !rest.isEmpty
            && rest.utf8.allSatisfy { SettingRules.isLetterOrDigit($0) || "-.:[]_".utf8.contains($0) }
            && rest == rest.lowercased()
    }

    static let address = SettingType.text("a numeric address, such as 127.0.0.1, 0.0.0.0 or ::1") {
        SettingRules.isIPv4($0) || SettingRules.isIPv6($0)
    }

    /// The host that clients ask for, without a port; `Host` and `:authority` are compared with it in lower case.
    static let hostName = SettingType.text("a host name without a port, in lower case, such as ops.example.com") {
        text in
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { SettingRules.isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
            && text == text.lowercased()
    }

    static let absolutePath = SettingType.text("the absolute path of a file, or \"\" for none") { text in
        text.isEmpty || (text.hasPrefix("/") && text.utf8.count <= 4096 && !text.utf8.contains(0))
    }

    /// A name that is shown to people: no control characters.
    static let label = SettingType.text("a name of 1 to 256 bytes without control characters") { text in
        (1...256).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}

extension SettingType<TeamID> {
    static let teamID = SettingType<String>.identifier.map({ TeamID($0) }, \.rawValue)
}

extension SettingType<KeyID> {
    static let keyID = SettingType<String>.identifier.map({ KeyID($0) }, \.rawValue)
}

extension SettingType<BundleID> {
    static let bundleID = SettingType<String>.text(
        "a bundle id of letters, digits, hyphens and dots (com.example.scores)",
        SettingRules.isBundleID
    ).map({ BundleID($0) }, \.rawValue)
}

extension GatewayConfiguration.TLSFiles {
    mutating func visit(_ visitor: inout some SettingsVisitor, isRequired: Bool) {
        visitor.file("certificate", &self.certificate, .certificates, isRequired: isRequired)
        visitor.file("key", &self.key, .privateKey, isRequired: isRequired)
        visitor.optionalFile("clientCA", &self.clientAuthorities, .certificates)
    }
}

extension GatewayConfiguration.Listener {
    mutating func visit(_ visitor: inout some SettingsVisitor, hasTLS: Bool) {
        visitor.scalar("enabled", &self.isEnabled, .flag)
        visitor.scalar("address", &self.address, .address)
        visitor.scalar("port", &self.port, .integer(0...65_535))
        guard hasTLS else { return }
        // Its own section replaces the common one whole: half of two identities would be neither.
        visitor.optionalSection("tls", &self.tls, empty: .init()) { $0.visit(&$1, isRequired: true) }
    }
}

extension GatewayConfiguration.Streams {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalar("maxPerHost", &self.perHostMax, .integer(1...1000))
        visitor.scalar("maxStreams", &self.allMax, .integer(1...10_000_000))
        visitor.scalar("maxBufferedEvents", &self.bufferMax, .integer(16...1_000_000))
        visitor.scalar("maxFollowedPushes", &self.followedPushesMax, .integer(1...1_000_000))
        visitor.scalar("heartbeat", &self.heartbeat, .duration(.seconds(1) ... .hours(1)))
        visitor.scalar("maxHistory", &self.historyMax, .integer(0...10_000_000))
        visitor.scalar("rotation", &self.rotation, .duration(.seconds(1) ... .days(30)))
        visitor.scalar("maxRetry", &self.retryMax, .duration(.seconds(1) ... .hours(1)))
    }
}

extension GatewayConfiguration.Feed {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalar("maxReaders", &self.readersMax, .integer(1...10_000))
        visitor.scalar("maxBufferedEvents", &self.bufferMax, .integer(16...1_000_000))
        visitor.scalar("maxHistory", &self.historyMax, .integer(1...1_000_000))
        visitor.scalar("maxReloadsPerSecond", &self.reloadsPerSecond, .integer(0...100_000))
    }
}

extension GatewayConfiguration.Limits {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        let million = 1_000_000
        visitor.scalar("maxConnections", &self.connectionsMax, .integer(1...million))
        visitor.scalar("maxConnectionsPerAddress", &self.connectionsPerAddressMax, .integer(1...million))
        visitor.scalar("maxHandshakes", &self.handshakesMax, .integer(1...million))
        visitor.scalar("maxConnectionBytes", &self.connectionBytesMax, .bytes(65_536...4_294_967_296))
        visitor.scalar("maxListenerBytes", &self.listenerBytesMax, .bytes(65_536...1_099_511_627_776))
        visitor.scalar("maxConcurrentStreams", &self.concurrentStreamsMax, .integer(1...100_000))
        visitor.scalar("maxStreamsBeforeToken", &self.streamsBeforeTokenMax, .integer(1...100_000))
        visitor.scalar("maxHeaderBytes", &self.headerBytesMax, .bytes(1024...65_536))
        visitor.scalar("maxDeviceBodyBytes", &self.deviceBodyBytesMax, .bytes(256...65_536))
        visitor.scalar("maxTargetedBodyBytes", &self.targetedBodyBytesMax, .bytes(256...1_048_576))
        visitor.scalar("maxHostBodyBytes", &self.hostBodyBytesMax, .bytes(1024...67_108_864))
        visitor.scalar("maxUnreadBodyBytes", &self.unreadBodyBytesMax, .bytes(0...1_048_576))
        visitor.scalar("maxImportBytes", &self.importBytesMax, .bytes(1024...1_073_741_824))
        visitor.scalar("maxImportLines", &self.importLinesMax, .integer(1...million))
        visitor.scalar("maxBulkBytes", &self.bulkBytesMax, .bytes(1024...67_108_864))
        visitor.scalar("maxBulkLines", &self.bulkLinesMax, .integer(1...million))
        visitor.scalar("maxBulkInFlight", &self.bulkInFlightMax, .integer(1...10_000))
        visitor.scalar("maxBulkRequests", &self.bulkRequestsMax, .integer(1...10_000))
        visitor.scalar("maxTokenDigits", &self.tokenDigitsMax, .integer(64...1024))
        visitor.scalar("maxVerifiedTokens", &self.verifiedTokensMax, .integer(1...million))
        visitor.scalar("maxBadCredentials", &self.badCredentialsMax, .integer(1...million))
        visitor.scalar("badCredentialsPerSecond", &self.badCredentialsPerSecond, .integer(1...million))
        visitor.scalar("maxInFlightBytes", &self.inFlightBytesMax, .bytes(1_048_576...4_294_967_296))
        visitor.scalar("maxOutputCommitBytes", &self.outputCommitBytesMax, .bytes(65_536...268_435_456))
        visitor.scalar("maxInFlightPushes", &self.inFlightPushesMax, .integer(1...100 * million))
        visitor.scalar("maxChannelsPerApp", &self.channelsPerAppMax, .integer(1...million))
        visitor.scalar("maxClockStops", &self.clockStopsMax, .integer(1...10 * million))
        visitor.scalar("maxWaitingLooked", &self.waitingLookedMax, .integer(1...65_536))
        visitor.section("hosts") { self.hosts.visit(&$0) }
        visitor.section("instances") { self.instances.visit(&$0) }
        visitor.scalar("maxPatternCost", &self.patternCostMax, .integer(1...million))
        visitor.scalar("maxConditionCost", &self.conditionCostMax, .integer(1...million))
        visitor.scalar("maxAmendments", &self.amendmentsMax, .integer(0...100_000))
        visitor.scalar("maxAmendmentBytes", &self.amendmentBytesMax, .bytes(0...67_108_864))
        visitor.scalar("maxHistoryQuestions", &self.historyQuestionsMax, .integer(1...64))
        visitor.scalar("maxTimelineEntries", &self.engine.timelines.entriesMax, .integer(1...100_000))
        visitor.scalar("advisedTimelineEntries", &self.engine.timelines.entriesAdvised, .integer(1...100_000))
        // The digest that the gateway makes where a provider names none has to fit.
        visitor.scalar("maxDigestBytes", &self.engine.timelines.digestBytesMax, .bytes(71...1024))
        visitor.scalar("advisedContentBytes", &self.engine.timelines.contentBytesAdvised, .bytes(1...2_147_483_648))
        visitor.scalar("maxInstancesPerHost", &self.engine.instancesPerHostMax, .integer(1...10_000))
        visitor.scalar("maxTokensPerHost", &self.engine.tokensPerHostMax, .integer(1...1000))
        visitor.scalar("maxTags", &self.engine.tagsMax, .integer(0...1000))
        visitor.scalar("maxPendingPerInstance", &self.engine.pendingPerInstanceMax, .integer(1...100_000))
        visitor.scalar("maxPushesRetained", &self.engine.pushesRetainedMax, .integer(1...100 * million))
        visitor.scalar("pushRetention", &self.engine.pushRetention, .duration(.minutes(1) ... .days(30)))
        visitor.scalar("maxDecisionsRetained", &self.engine.decisionsRetainedMax, .integer(1...100 * million))
        visitor.scalar("maxRepeatEntries", &self.engine.repeatEntriesMax, .integer(1...100 * million))
        visitor.scalar("maxAcknowledgement", &self.engine.acknowledgementMax, .duration(.seconds(1) ... .hours(24)))
        visitor.scalar(
            "removedTokenRetention",
            &self.engine.removedTokenRetention,
            .duration(.zero ... .days(365))
        )
    }
}

extension GatewayConfiguration.RegistryShare {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.optional("perApp", &self.perApp, .registryCount)
        visitor.optional("perTeam", &self.perTeam, .registryCount)
    }
}

extension GatewayConfiguration.Timeouts {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        let range: ClosedRange<Interval> = .seconds(1) ... .hours(24)
        visitor.scalar("handshake", &self.handshake, .duration(range))
        visitor.scalar("firstRequest", &self.firstRequest, .duration(range))
        visitor.scalar("headers", &self.headers, .duration(range))
        visitor.scalar("request", &self.request, .duration(range))
        visitor.scalar("idle", &self.idle, .duration(range))
        visitor.scalar("idleHTTP1", &self.idleHTTP1, .duration(range))
        visitor.scalar("writeStall", &self.writeStall, .duration(range))
        visitor.scalar("keepAlive", &self.keepAlive, .duration(range))
        visitor.scalar("keepAliveAnswer", &self.keepAliveAnswer, .duration(range))
        visitor.scalar("lameDuck", &self.lameDuck, .duration(.zero ... .minutes(10)))
        visitor.scalar("drain", &self.drain, .duration(range))
        visitor.scalar("lastSnapshot", &self.lastSnapshot, .duration(range))
    }
}

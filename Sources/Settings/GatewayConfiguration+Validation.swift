import IntentMatching
import Timelines
import WidgetModel

extension GatewayConfiguration {
    /// The faults of the configuration as a whole: each key path with a sentence.
    ///
    /// The types of single values are checked as they are read; here are the rules between keys.
    package func faults() -> [(path: String, sentence: String)] {
        self.listenerFaults() + self.mergingFaults() + self.limitFaults() + self.senderFaults()
            + self.certificateFaults() + self.appFaults()
            + self.policyFaults() + self.journalFaults()
    }

    private func listenerFaults() -> [(path: String, sentence: String)] {
        var faults: [(path: String, sentence: String)] = []
        let listeners: [(name: String, listener: Listener)] = [
            ("push", self.listeners.opened.push), ("manage", self.listeners.opened.manage),
            ("host", self.listeners.opened.host), ("ops", self.listeners.ops), ("health", self.listeners.health),
        ]
        let enabled = listeners.filter(\.listener.isEnabled)
        if enabled.isEmpty { faults.append(("listeners", "has no enabled listener; enable one")) }
        for (index, later) in enabled.enumerated() where later.listener.port != 0 {
            let earlier = enabled[..<index].first { earlier in
                earlier.listener.port == later.listener.port && earlier.listener.overlaps(later.listener)
            }
            guard let earlier else { continue }
            let sentence = "is also the port of listeners.\(earlier.name); give each listener its own"
            faults.append(("listeners.\(later.name).port", sentence))
        }
        let ops = self.listeners.ops
        if self.operators.isOpen {
            if ops.isEnabled, !ops.isLoopback {
                faults.append(
                    (
                        "ops.open",
                        "is only allowed on a loopback address, which listeners.ops.address is not; turn it off"
                    )
                )
            }
            if !self.operators.tokens.isEmpty || self.operators.tokensFile != nil
                || !self.operators.certificates.isEmpty
            {
                let sentence =
                    "lets everyone in, which makes the tokens or certificates for operators useless; keep one or the other"
                faults.append(("ops.open", sentence))
            }
        }
        for (index, token) in self.operators.tokens.enumerated() {
            guard let sentence = Operators.sentence(refusing: token.value, number: index + 1) else { continue }
            faults.append(("ops.tokens", "has \(sentence)"))
        }
        if ops.isEnabled, !self.operators.certificates.isEmpty, (ops.tls ?? self.tls).clientAuthorities == nil {
            let sentence =
                "is about client certificates, which the ops listener does not ask for; give their CAs in clientCA"
            faults.append(("ops.certificates", sentence))
        }
        return faults
    }

    /// Faults of merged listeners: settings that differ from those of the listener they are merged into.
    private func mergingFaults() -> [(path: String, sentence: String)] {
        let listeners = self.listeners
        guard listeners.isMerged else { return [] }
        var faults: [(path: String, sentence: String)] = []
        if !listeners.push.isEnabled {
            faults.append(
                (
                    "listeners.push.enabled",
                    "is off, but listeners.merged needs the push listener; turn one of the two off"
                )
            )
        }
        if !listeners.host.isEnabled {
            let sentence =
                "is off, but listeners.merged serves hosts on the push listener; remove one of the two"
            faults.append(("listeners.host.enabled", sentence))
        }
        let standard = Listeners()
        for (name, merged, standard) in [
            ("manage", listeners.manage, standard.manage), ("host", listeners.host, standard.host),
        ] {
            let whole =
                "the listener is merged into listeners.push (listeners.merged), which has its own; remove this one"
            if let tls = merged.tls, tls != listeners.push.tls { faults.append(("listeners.\(name).tls", whole)) }
            if merged.address != standard.address, merged.address != listeners.push.address {
                faults.append(("listeners.\(name).address", whole))
            }
            if merged.port != standard.port, merged.port != listeners.push.port {
                faults.append(("listeners.\(name).port", whole))
            }
        }
        return faults
    }

    private func senderFaults() -> [(path: String, sentence: String)] {
        var faults: [(path: String, sentence: String)] = []
        var teams: [TeamID: Int] = [:]
        var keys: [KeyID: String] = [:]
        for (index, team) in self.teams.enumerated() where !team.id.rawValue.isEmpty {
            if let earlier = teams[team.id] {
                faults.append(
                    ("teams[\(index)].id", "is also the id of teams[\(earlier)]; list the keys of both under one")
                )
            }
            teams[team.id] = teams[team.id] ?? index
            for (place, key) in team.keys.enumerated() where !key.id.rawValue.isEmpty {
                let path = "teams[\(index)].keys[\(place)]"
                if let earlier = keys[key.id] {
                    faults.append(("\(path).id", "is also the id of \(earlier); give each key its own id"))
                }
                keys[key.id] = keys[key.id] ?? path
                faults += self.topicFaults(key.topics ?? [], of: team.id, path: "\(path).topics")
                if let sentence = team.relationFault(of: key) { faults.append(("\(path).relatedKey", sentence)) }
            }
        }
        return faults
    }

    /// A topic that no app of the team has would be refused at every push, without a word at the start.
    private func topicFaults(_ topics: [String], of team: TeamID, path: String) -> [(path: String, sentence: String)] {
        let apps = self.apps.filter { $0.team == team }
        return topics.enumerated().compactMap { index, topic in
            if apps.contains(where: { $0.owns(topic: topic) }) { return nil }
            let sentence =
                "is not a topic of an app of the team \(team); correct it, or add it to the app's extraTopics"
            return ("\(path)[\(index)]", sentence)
        }
    }

    private func certificateFaults() -> [(path: String, sentence: String)] {
        var faults: [(path: String, sentence: String)] = []
        if self.clientCertificates.unnamed == .topics, self.tls(for: self.listeners.push).clientAuthorities == nil {
            faults.append(
                ("clientCertificates.unnamed", "needs tls.clientCA, without which no client is asked for a certificate")
            )
        }
        // A sender is of one team.
        var teams: [ClientCertificate.Name: (team: TeamID, app: Int)] = [:]
        for (index, app) in self.apps.enumerated() {
            for (place, certificate) in app.clientCertificates.enumerated() {
                if let other = teams[certificate.name], other.team != app.team {
                    let sentence =
                        "is also in apps[\(other.app)], an app of another team; a certificate belongs to one team"
                    faults.append(("apps[\(index)].allowedClientCertificates[\(place)]", sentence))
                }
                teams[certificate.name] = teams[certificate.name] ?? (app.team, index)
            }
        }
        return faults
    }

    private func appFaults() -> [(path: String, sentence: String)] {
        var faults: [(path: String, sentence: String)] = []
        var bundles: [BundleID: Int] = [:]
        let teams = self.teams.map(\.id.rawValue)
        for (index, app) in self.apps.enumerated() {
            let path = "apps[\(index)]"
            if let earlier = bundles[app.bundleID], !app.bundleID.rawValue.isEmpty {
                faults.append(("\(path).bundleID", "is also the bundle id of apps[\(earlier)]; declare each app once"))
            }
            bundles[app.bundleID] = bundles[app.bundleID] ?? index
            if !teams.contains(app.team.rawValue), !app.team.rawValue.isEmpty {
                let hint = teams.closest(to: app.team.rawValue).map { "; did you mean \($0)?" } ?? "; add it to teams"
                faults.append(("\(path).team", "there is no team \(app.team.rawValue.quotedForMessage)\(hint)"))
            }
            if !app.clientCertificates.isEmpty, self.tls(for: self.listeners.push).clientAuthorities == nil {
                let sentence = "needs tls.clientCA, without which no client is asked for a certificate"
                faults.append(("\(path).allowedClientCertificates", sentence))
            }
            for (place, certificate) in app.clientCertificates.enumerated() {
                for (number, topic) in (certificate.topics ?? []).enumerated() where !app.owns(topic: topic) {
                    faults.append(
                        (
                            "\(path).allowedClientCertificates[\(place)].topics[\(number)]",
                            "is not a topic of \(app.bundleID); correct it, or add it to extraTopics"
                        )
                    )
                }
            }
            faults += Self.sharedBudgetFaults(app, path)
            var kinds: [WidgetKind: Int] = [:]
            for (place, kind) in app.kinds.enumerated() where !kind.schema.kind.rawValue.isEmpty {
                if let earlier = kinds[kind.schema.kind] {
                    let sentence = "is also the name of kinds[\(earlier)] of the same app; declare each kind once"
                    faults.append(("\(path).kinds[\(place)].kind", sentence))
                }
                kinds[kind.schema.kind] = kinds[kind.schema.kind] ?? place
            }
        }
        return faults
    }

    /// A budget that all instances of a host share can only be one.
    private static func sharedBudgetFaults(_ app: App, _ path: String) -> [(path: String, sentence: String)] {
        guard let first = app.kinds.firstIndex(where: { $0.budget.scope == .host }) else { return [] }
        return app.kinds.indices.dropFirst(first + 1).compactMap { index in
            guard app.kinds[index].budget.scope == .host, app.kinds[index].budget != app.kinds[first].budget else {
                return nil
            }
            let sentence =
                "is a budget that all widgets of a host share, as that of kinds[\(first)]; give both kinds the same one"
            return ("\(path).kinds[\(index)].budget", sentence)
        }
    }

    private func policyFaults() -> [(path: String, sentence: String)] {
        var names: [String: Int] = [:]
        return self.policies.enumerated().compactMap { index, policy in
            defer { names[policy.name] = names[policy.name] ?? index }
            let path = "policies[\(index)].name"
            if GatewayConfiguration().policy(named: policy.name) != nil {
                return (path, "is the name of a preset; choose another name")
            }
            return names[policy.name].map { (path, "is also the name of policies[\($0)]; choose another") }
        }
    }

    /// The certificate files of a TLS listener: its own, or the common ones.
    package func tls(for listener: Listener) -> TLSFiles {
        listener.tls ?? self.tls
    }
}

extension GatewayConfiguration.Team {
    /// Apple's rules for two keys that share a connection: one team, topics of their own, one environment, and that
    /// neither is related to a third.
    fileprivate func relationFault(of key: GatewayConfiguration.ProviderKey) -> String? {
        guard let name = key.relatedKey else { return nil }
        guard let other = self.keys.first(where: { $0.id == name && $0.id != key.id }) else {
            return "is not another key of the team \(self.id); give one"
        }
        guard key.topics != nil, other.topics != nil else {
            return "relates two keys, but one has no topics; only keys with topics can be related"
        }
        guard key.environment == other.environment else {
            return "is a key of another environment; give both keys the same"
        }
        let pair = [key.id, other.id]
        let isThirdRelated = self.keys.contains { third in
            guard let relation = third.relatedKey else { return false }
            return pair.contains(third.id) != pair.contains(relation)
        }
        return isThirdRelated ? "relates three keys; at most two may be related" : nil
    }
}

extension GatewayConfiguration.Operators {
    /// The shortest access token: 16 characters of a base64 text are 96 bits.
    package static let tokenBytesMin = 16
}

extension GatewayConfiguration.Listener {
    /// Whether both cannot listen on one port.
    fileprivate func overlaps(_ other: Self) -> Bool {
        let any = ["0.0.0.0", "::"]
        return self.address == other.address || any.contains(self.address) || any.contains(other.address)
    }
}

extension GatewayConfiguration.App {
    /// Whether a topic is the app's: its bundle id, with or without a suffix, or one of the extra ones.
    fileprivate func owns(topic: String) -> Bool {
        topic == self.bundleID.rawValue || topic.hasPrefix(self.bundleID.rawValue + ".")
            || self.extraTopics.contains(topic)
    }
}

package import APNSWire
package import Partitions
package import Settings
package import TLS
package import WidgetModel

/// Which verified client certificates speak for which senders: a value that judges, and changes nothing.
///
/// A certificate is known by its fingerprint or its subject's UID, as apps name it, or by the topics that it lists itself
/// (extension 1.2.840.113635.100.6.3.6), if the operator believes those. The topics come from the configuration where it
/// names some, else from the certificate, else they are all of the app's.
package struct ClientCertificateTable: Sendable {
    package typealias Name = GatewayConfiguration.ClientCertificate.Name

    /// An app as certificates see it.
    package struct App: Sendable {
        package let topics: TopicTable.App
        package let team: TeamID
        package let environment: PeerCertificate.Environment
        /// Whether refused pushes slow down the connections of its senders.
        package let slowsDown: Bool

        package init(
            topics: TopicTable.App,
            team: TeamID,
            environment: PeerCertificate.Environment,
            slowsDown: Bool = false
        ) {
            self.topics = topics
            self.team = team
            self.environment = environment
            self.slowsDown = slowsDown
        }

        /// Whether a topic belongs to the app: its bundle id, with or without a suffix, or one of the extra ones.
        fileprivate func owns(_ topic: String) -> Bool {
            let bundle = self.topics.bundle.rawValue
            return topic == bundle || topic.hasPrefix(bundle + ".") || self.topics.extraTopics.contains(topic)
        }
    }

    /// An app's rule about a certificate.
    package struct Rule: Sendable {
        package let name: Name
        /// The app's place among the apps.
        package let app: Int
        /// The only topics that it is for; nil for those that it lists, or for all of the app's if it lists none.
        package let topics: [String]?

        package init(name: Name, app: Int, topics: [String]?) {
            self.name = name
            self.app = app
            self.topics = topics
        }
    }

    /// The verdict on a certificate.
    package enum Verdict: Sendable {
        /// It speaks for this sender.
        case sender(Sender)
        /// It verifies, but is not configured for any sender.
        case unknown
        /// It is on the revocation list.
        case revoked
        /// It is for one of APNs' environments, and its apps are all of the other.
        case wrongEnvironment

        /// The sender that it speaks for; nil if there is none.
        package var sender: Sender? {
            if case .sender(let sender) = self { sender } else { nil }
        }
    }

    private let apps: [App]
    private let rules: [Name: [Rule]]
    private let believesTopics: Bool
    private let rate: RateLimit?
    let revocations: RevocationList

    /// - Parameters:
    ///   - apps: The apps, in the configuration's order.
    ///   - rules: Their rules about certificates.
    ///   - believesTopics: Whether a certificate that no rule names speaks for the topics that it lists.
    ///   - rate: How fast each may push, nil for any speed.
    ///   - revocations: Certificates that are no longer believed.
    package init(
        apps: [App] = [],
        rules: [Rule] = [],
        believesTopics: Bool = false,
        rate: RateLimit? = nil,
        revocations: RevocationList = RevocationList()
    ) {
        self.apps = apps
        self.rules = Dictionary(grouping: rules, by: \.name)
        self.believesTopics = believesTopics
        self.rate = rate
        self.revocations = revocations
    }

    /// The same with another revocation list.
    package func revoking(_ revocations: RevocationList) -> Self {
        Self(
            apps: self.apps,
            rules: self.rules.values.flatMap { $0 },
            believesTopics: self.believesTopics,
            rate: self.rate,
            revocations: revocations
        )
    }

    /// Judges a certificate; O(apps), once for a connection.
    ///
    /// - Parameter before: Its meter under an earlier table, which goes on if the rate is the same.
    package func judge(_ certificate: PeerCertificate, before: RateMeter? = nil) -> Verdict {
        guard !self.revocations.contains(certificate) else { return .revoked }
        let granted = self.grants(certificate)
        guard !granted.isEmpty else { return .unknown }
        let environments = certificate.environments
        let usable = granted.filter { environments.isEmpty || environments.contains(self.apps[$0.app].environment) }
        guard let first = usable.first else { return .wrongEnvironment }
        let team = self.apps[first.app].team
        // A sender is of one team; the configuration refuses to name a certificate for two.
        let grants = usable.filter { self.apps[$0.app].team == team }
        let meter = RateMeter.of(self.rate, before: before)
        let isSlowed = grants.contains { self.apps[$0.app].slowsDown }
        return .sender(
            Sender(team: team, keyID: nil, topics: self.table(grants), isSlowedByRefusals: isSlowed, meter: meter)
        )
    }

    /// An app that a certificate may push to, and the topics it may use there; nil for all.
    private struct Grant {
        let app: Int
        let topics: [String]?
    }

    private func grants(_ certificate: PeerCertificate) -> [Grant] {
        let listed = certificate.topics
        let named =
            self.rules[.fingerprint(certificate.sha256Fingerprint)]
            ?? certificate.userID.flatMap { self.rules[.userID($0)] }
        if let named { return named.map { Grant(app: $0.app, topics: $0.topics ?? listed) } }
        guard self.believesTopics, let listed else { return [] }
        // A bundle id may begin like another one; a topic belongs to the longer.
        let owners = listed.compactMap { topic in
            self.apps.indices.filter { self.apps[$0].owns(topic) }
                .max {
                    self.apps[$0].topics.bundle.rawValue.utf8.count < self.apps[$1].topics.bundle.rawValue.utf8.count
                }
        }
        return self.apps.indices.filter { owners.contains($0) }.map { Grant(app: $0, topics: listed) }
    }

    private func table(_ grants: [Grant]) -> TopicTable {
        // Topics of one app mean nothing to another, so the lists of several need not be kept apart, but for an app that
        // is granted whole beside one that is not.
        let isWhole = grants.allSatisfy { $0.topics == nil }
        let allowed = grants.flatMap { grant in
            grant.topics ?? TopicTable.topicNames(of: self.apps[grant.app].topics)
        }
        return TopicTable(
            grants.map { self.apps[$0.app].topics },
            limitedTo: isWhole ? nil : allowed,
            defaultsToOnlyTopic: true
        )
    }
}

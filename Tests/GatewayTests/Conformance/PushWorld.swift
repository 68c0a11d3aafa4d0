import APNSWire
import Engine
import Ingest
import IntentMatching
import Partitions
import Serving
import Settings
import TLS
import TestSupport
import WidgetModel

/// A gateway as far as it judges pushes: a configuration, its keys, and hosts with tokens. Time stands still.
struct PushWorld {
    /// 2026-11-02T17:00:00Z.
    static let now: Int64 = 1_793_638_800

    static let text = """
        teams:
          - id: TEAM123456
            keys:
              - {id: TEAMKEY001, file: k}
              - {id: TEAMKEY002, file: k}
              - {id: PRODKEY001, file: k, environment: production}
              - {id: SANDKEY001, file: k, environment: development}
              - {id: TOPICKEY01, file: k, topics: [com.example.scores.push-type.widgets], relatedKey: TOPICKEY02}
              - {id: TOPICKEY02, file: k, topics: [com.example.scores.push-type.controls]}
              - {id: TOPICKEY03, file: k, topics: [com.example.weather.push-type.widgets]}
              - {id: DEVICEKEY1, file: k, allows: [devices]}
              - {id: TARGETKEY1, file: k, allows: [targeted, channels, hosts]}
              - {id: HOSTSKEY01, file: k, allows: [hosts]}
          - id: OTHER12345
            keys:
              - {id: OTHERKEY01, file: k}
        apps:
          - bundleID: com.example.scores
            team: TEAM123456
            extraTopics: [com.example.scores.watchkitapp.push-type.widgets, com.example.scores.extension]
            kinds:
              - kind: scores
                parameters: [{name: team, type: string}, {name: limit, type: int}]
              - kind: ticker
          - bundleID: com.example.weather
            team: TEAM123456
            environment: development
            maxTokenDigits: 64
          - {bundleID: com.example.open, team: TEAM123456, unknownTokens: accept}
          - {bundleID: com.example.other, team: OTHER12345}
        """

    static let configuration: GatewayConfiguration = {
        do {
            return try ConfigurationFile.parse(Self.text).configuration
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// The private halves, made once: nothing depends on which they are.
    private static let privateKeys: [String: ES256PrivateKey] = {
        do {
            var keys: [String: ES256PrivateKey] = [:]
            for id in Self.configuration.teams.flatMap(\.keys).map(\.id.rawValue) + ["STRANGER00"] {
                keys[id] = try ES256PrivateKey.generate()
            }
            return keys
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// A key of the configuration, or `STRANGER00`, which is none of it.
    static func key(_ id: String) -> ES256PrivateKey {
        guard let key = Self.privateKeys[id] else { preconditionFailure("there is no key \(id)") }
        return key
    }

    // Device tokens in hex digits.
    static let phone = String(repeating: "0a1B", count: 16)
    static let watch = "00"
    static let tablet = String(repeating: "ef", count: 200)
    static let control = String(repeating: "c0", count: 32)
    static let removed = String(repeating: "dead", count: 16)
    static let expired = String(repeating: "feed", count: 16)
    static let moving = String(repeating: "feee", count: 16)
    static let lost = String(repeating: "fece", count: 16)
    static let removedOfOther = String(repeating: "beef", count: 16)
    static let weatherPhone = String(repeating: "17", count: 32)
    static let otherPhone = String(repeating: "99", count: 32)
    static let unknown = String(repeating: "77", count: 32)

    static let removedAt = Instant(milliseconds: (Self.now - 60) * 1000 + 123)
    /// A token that began to move then is on its way no longer.
    static let lostAt = Instant(seconds: Self.now) - TokenRemoval.moveMax

    static let directory: HostDirectory = {
        let directory = HostDirectory(seed: 11, apps: Self.configuration.apps.map(\.bundleID))
        let scores = BundleID("com.example.scores")
        let bound = [
            (Self.phone, "phone", scores, nil), (Self.watch, "watch", scores, nil),
            (Self.tablet, "tablet", scores, nil),
            (Self.control, "phone", scores, InstanceID("lamp")),
            (Self.weatherPhone, "weather-phone", BundleID("com.example.weather"), nil),
            (Self.otherPhone, "other-phone", BundleID("com.example.other"), nil),
        ]
        for (hex, host, app, instance) in bound {
            guard let token = DeviceToken(hex: hex) else { preconditionFailure("\(hex) is no token") }
            directory.bind(
                token,
                to: TokenBinding(host: HostKey(host, of: app), instance: instance, partition: PartitionID(0))
            )
        }
        let gone = [
            (Self.removed, scores, TokenRemoval.unregistered, Self.removedAt),
            (Self.expired, scores, .leaseEnded, Self.removedAt),
            (Self.moving, scores, .moving, Self.lostAt + .milliseconds(1)),
            (Self.lost, scores, .moving, Self.lostAt),
            (Self.removedOfOther, BundleID("com.example.other"), .unregistered, Self.removedAt),
        ]
        for (hex, app, reason, at) in gone {
            guard let token = DeviceToken(hex: hex) else { preconditionFailure("\(hex) is no token") }
            directory.markRemoved(token, app: app, reason, at: at, in: PartitionID(0))
        }
        return directory
    }()

    /// The senders that a whole run shares: keys and topics as the configuration gives them.
    let senders: SenderDirectory

    /// - Parameter change: Changes the configuration.
    init(_ change: (inout GatewayConfiguration) -> Void = { _ in }) throws {
        var configuration = Self.configuration
        change(&configuration)
        self.senders = try SenderDirectory(configuration) { (key) throws(TLSError) in
            Self.key(key.id.rawValue).publicKey
        }
    }

    /// The same, but that pushes to the scores app may be of any type, as they are where a gateway relays them.
    func takingEveryType() -> PushWorld {
        let app = TopicTable.App(
            number: 0,
            bundle: BundleID("com.example.scores"),
            types: PushTypeSet(PushType.allCases)
        )
        let sender = Sender(
            team: TeamID("TEAM123456"),
            keyID: KeyID("TEAMKEY001"),
            topics: TopicTable([app])
        )
        let key = SenderDirectory.Key(sender: sender, publicKey: Self.key("TEAMKEY001").publicKey)
        return PushWorld(senders: SenderDirectory(keys: [key]))
    }

    private init(senders: SenderDirectory) {
        self.senders = senders
    }

    func judge() -> PushJudge {
        var bounds = ServingBounds()
        bounds.intake.verifiedTokensMax = 8
        return PushJudge(
            apps: LiveApps(ServedApps(Self.configuration), bounds: bounds),
            senders: self.senders,
            directory: Self.directory,
            seed: 7
        )
    }
}

package import APNSWire
package import IntentMatching
package import Timelines
package import WidgetModel

extension GatewayConfiguration {
    /// A developer team and the keys that its back ends sign provider tokens with.
    package struct Team: Hashable, Sendable {
        /// The `iss` of its provider tokens.
        package var id: TeamID
        package var keys: [ProviderKey]
        /// The most hosts and instances of all its apps. Default nil: ``Limits/hosts`` and ``Limits/instances``.
        package var hostsMax: Int?
        package var instancesMax: Int?

        package init(id: TeamID, keys: [ProviderKey] = []) {
            self.id = id
            self.keys = keys
        }
    }

    /// One key of a team.
    package struct ProviderKey: Hashable, Sendable {
        /// The `kid` of the tokens it signs; unique over all teams.
        package var id: KeyID
        /// A PEM file: Apple's .p8, or the public half alone, which is all that a gateway needs. This or ``publicKey``.
        package var file: String?
        /// The public half itself, as PEM.
        package var publicKey: String?
        /// The only topics that the key is for. Default nil: all topics of the team's apps.
        package var topics: [String]?
        /// The environment that the key is for: apps of the other are `BadEnvironmentKeyInToken`. Default nil: both.
        package var environment: App.Environment?
        /// The other key with topics whose tokens may come over the same connection. Default nil: none.
        package var relatedKey: KeyID?
        /// The rights of the key; anything else is `Forbidden`. Default nil: everything. None only where it ``reads``.
        package var allowedActions: [SenderAction]?
        /// Whether tokens that it signs open the team's own pages of the dashboard, and their routes. Default false.
        package var reads = false
        /// How fast it may push. Default nil: ``RateLimits/perKey``.
        package var rateLimit: Rate?

        package init(id: KeyID, file: String? = nil, topics: [String]? = nil) {
            self.id = id
            self.file = file
            self.topics = topics
        }
    }

    /// An app whose widgets the gateway serves.
    package struct App: Hashable, Sendable {
        /// Which of APNs' two environments the app's tokens belong to.
        package enum Environment: String, Hashable, Sendable, CaseIterable {
            case production, development
        }

        /// The answer to a push to a token that no host registered.
        package enum UnknownTokens: String, Hashable, Sendable, CaseIterable {
            /// 400 `BadDeviceToken`.
            case reject
            /// 200, with nothing matched: for a stand-in of APNs in development.
            case accept
        }

        /// How many streams a connection that pushes to it may have open.
        package enum StreamLimit: String, Hashable, Sendable, CaseIterable {
            /// ``Limits/concurrentStreamsMax`` and ``Limits/streamsBeforeTokenMax``, whatever is pushed.
            case constant
            /// One before the first good provider token, and one after a refused push until one is accepted.
            case apns
        }

        package var bundleID: BundleID
        /// The team that owns it; one of ``GatewayConfiguration/teams``.
        package var team: TeamID
        /// Topics beside the two that the bundle id gives, such as a watch app's. Default none.
        package var extraTopics: [String] = []
        /// Default production. In development, a 200 carries `apns-unique-id`.
        package var environment = Environment.production
        /// The longest push token of the app in hex digits. Default nil: ``Limits/tokenDigitsMax``.
        package var tokenDigitsMax: Int?
        /// Whether Apple's defaults hold where this gateway has others: an expiration of 30 days, priority 10. Default false.
        package var isStrict = false
        /// Default reject.
        package var unknownTokens = UnknownTokens.reject
        /// How long a push without `apns-expiration` may wait. Default 4 h, at most 30 days.
        package var defaultExpiration = Interval.hours(4)
        /// The priority of a push without `apns-priority`. Default 5: Apple's own widget sample sends none.
        package var defaultPriority = Priority.normal
        /// Whether reloads are not charged, as in WidgetKit's developer mode. Default false.
        package var isDeveloperMode = false
        /// The most instances that one targeted push may match; more is a 409. Default nil: any number.
        package var matchedMax: Int?
        /// The most work of one push in a partition, as time by the partition's pace. Default nil:
        /// ``Fairness/pushMax``.
        package var pushMax: Interval?
        /// Whether it has channels. Default true; otherwise requests about channels are 400 `FeatureNotEnabled`.
        package var hasChannels = true
        /// Default constant.
        package var streamLimit = StreamLimit.constant
        /// How fast pushes to it may come. Default nil: ``RateLimits/perApp``.
        package var rateLimit: Rate?
        /// The most hosts and instances that it may have. Default nil: ``Limits/hosts`` and ``Limits/instances``.
        package var hostsMax: Int?
        package var instancesMax: Int?
        /// The client certificates that may push to it instead of a provider token. Default none.
        package var clientCertificates: [ClientCertificate] = []
        /// The origins whose web pages may be hosts of the app, as browsers write them. Default none.
        package var origins: [String] = []
        /// The budget of kinds that name none. Default `widgetkit`.
        package var budget = BudgetPolicy.widgetkit
        /// Where reloads of hosts with delivery `apns` go. Default nil: no host may ask for it.
        package var upstream: Upstream?
        /// Where reloads of hosts with delivery `webhook` go. Default nil: no host may ask for it.
        package var webhook: Webhook?
        /// Where the app's senders are told the outcomes of their pushes. Default nil: nowhere.
        package var receipts: Webhook?
        /// In the order of the file; each name once.
        package var kinds: [Kind] = []

        package init(bundleID: BundleID, team: TeamID) {
            self.bundleID = bundleID
            self.team = team
        }

        package var schemas: [KindSchema] { self.kinds.map(\.schema) }
    }

    /// A kind of widget of an app.
    package struct Kind: Hashable, Sendable {
        /// The kind's name and the parameters of its configuration.
        package var schema: KindSchema
        /// The budget of each of its instances, the app's if the kind names none.
        package var budget: BudgetPolicy
        /// Whether its instances reload after a significant change of location, when they are next looked at.
        package var usesLocation: Bool
        /// The provider of its timelines. Default nil: its hosts do.
        package var timelineProvider: TimelineProvider?
        /// An entry's content that a gallery shows of it where its provider says nothing in time. Default nil: none.
        package var sample: JSONValue?

        /// The longest sample, as JSON.
        package static let sampleBytesMax = 16_384

        package init(
            schema: KindSchema,
            budget: BudgetPolicy = .widgetkit,
            usesLocation: Bool = false,
            sample: JSONValue? = nil
        ) {
            self.schema = schema
            self.budget = budget
            self.usesLocation = usesLocation
            self.sample = sample
        }
    }

    /// A sender's client certificate, as verified against ``TLSFiles/clientAuthorities``.
    package struct ClientCertificate: Hashable, Sendable {
        /// The mark by which the certificate is known.
        package enum Name: Hashable, Sendable {
            /// The SHA-256 of the whole certificate in DER: exactly this one.
            case fingerprint([UInt8])
            /// The subject's UID, Apple's place for the bundle id: this one and those that follow it.
            case userID(String)
        }

        package var name: Name
        /// The only topics that it is for. Default nil: all topics of the app.
        package var topics: [String]?

        package init(name: Name, topics: [String]? = nil) {
            self.name = name
            self.topics = topics
        }
    }
}

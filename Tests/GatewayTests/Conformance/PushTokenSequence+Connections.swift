// A connection's memory of its tokens.

import Settings
import WidgetModel

extension PushTokenSequence {
    private static let refused = "403 InvalidProviderToken"
    private static let unrelated = "403 UnrelatedKeyIdInToken"
    private static let expired = "403 ExpiredProviderToken"
    private static let tooOften = "429 TooManyProviderTokenUpdates"

    /// The team and key of a connection.
    static let bindings: [PushTokenSequence] = [
        Self("one token for many pushes", [.init("TEAMKEY001", "200"), .init("TEAMKEY001", at: 9, "200")], 1),
        Self("another team", [.init("TEAMKEY001", "200"), .init("OTHERKEY01", Self.refused)]),
        Self(
            "the first goes on",
            [
                .init("TEAMKEY001", "200"), .init("OTHERKEY01", Self.refused), .init("TEAMKEY001", at: 1, "200"),
            ]
        ),
        Self(
            "another team on a connection of its own",
            [
                .init("TEAMKEY001", "200"), .init("OTHERKEY01", on: 1, "200"),
            ]
        ),
        Self(
            "a push that is wrong binds too",
            [
                .init("TEAMKEY001", "400 BadPriority", sending: ["apns-priority: 7"]),
                .init("OTHERKEY01", Self.refused),
            ]
        ),
        Self(
            "a push without credentials does not",
            [
                .init("TEAMKEY001", "405 MethodNotAllowed", sending: [":method: GET"]), .init("OTHERKEY01", "200"),
            ]
        ),
        Self("nor an expired token", [.init("TEAMKEY001", issued: -4000, Self.expired), .init("OTHERKEY01", "200")]),
        Self(
            "nor a key of the other environment",
            [
                .init("PRODKEY001", "403 BadEnvironmentKeyInToken", sending: [PushRequestCase.weather]),
                .init("OTHERKEY01", "200"),
            ]
        ),
        Self(
            "the team's other key, later",
            [.init("TEAMKEY001", "200"), .init("TEAMKEY002", issued: 1200, at: 1200, "200")]
        ),
        Self(
            "a key for topics after one for the team",
            [.init("TEAMKEY001", "200"), .init("TOPICKEY01", Self.unrelated)]
        ),
        Self(
            "a key for the team after one for topics",
            [.init("TOPICKEY01", "200"), .init("TEAMKEY001", Self.unrelated)]
        ),
        Self(
            "a key of one environment after one of both",
            [
                .init("TEAMKEY001", "200"), .init("PRODKEY001", Self.unrelated),
            ]
        ),
        Self("a key of the other environment", [.init("PRODKEY001", "200"), .init("SANDKEY001", Self.unrelated)]),
        Self(
            "two related keys, to and fro",
            [
                .init("TOPICKEY01", "200"), .init("TOPICKEY02", "200"), .init("TOPICKEY01", "200"),
                .init("TOPICKEY02", at: 1, "200"),
            ],
            2
        ),
        Self("the same, begun by the other", [.init("TOPICKEY02", "200"), .init("TOPICKEY01", "200")]),
        Self("an unrelated key for topics", [.init("TOPICKEY01", "200"), .init("TOPICKEY03", Self.unrelated)]),
        Self(
            "a related key's topics are its own",
            [
                .init("TOPICKEY01", "200"),
                .init(
                    "TOPICKEY02",
                    "400 TopicDisallowed",
                    sending: ["apns-topic: com.example.scores.push-type.widgets", "apns-push-type: widgets"]
                ),
            ]
        ),
        Self(
            "another team before the environment",
            [
                .init("TEAMKEY001", "200"), .init("OTHERKEY01", issued: -4000, Self.refused, sending: ["apns-id: 7"]),
            ]
        ),
        Self(
            "an unrelated key before its age",
            [
                .init("TEAMKEY001", "200"), .init("TOPICKEY01", issued: -4000, Self.unrelated, sending: ["apns-id: 7"]),
            ]
        ),
        Self(
            "the environment before the age",
            [
                .init("PRODKEY001", issued: -4000, "403 BadEnvironmentKeyInToken", sending: [PushRequestCase.weather])
            ]
        ),
        Self(
            "where connections belong to nobody",
            bindsConnections: false,
            [
                .init("TEAMKEY001", "200"), .init("OTHERKEY01", "200"), .init("TOPICKEY01", "200"),
                .init("TEAMKEY001", at: 1, "200"),
            ],
            3
        ),
    ]

    /// How old tokens may be, and how often renewed.
    static let renewals: [PushTokenSequence] = [
        Self(
            "the age is asked on every use, and the signature once",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", at: 3600, "200"),
                .init("TEAMKEY001", at: 3601, Self.expired),
                .init("TEAMKEY001", at: 7200, Self.expired),
            ],
            1
        ),
        Self(
            "a token from ahead comes of age",
            [
                .init("TEAMKEY001", issued: 400, Self.refused), .init("TEAMKEY001", issued: 400, at: 100, "200"),
            ],
            1
        ),
        Self(
            "renewed after an hour",
            [.init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 3600, at: 3600, "200")]
        ),
        Self(
            "renewed after 20 minutes",
            [.init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1200, at: 1200, "200")]
        ),
        Self(
            "renewed a second too soon",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1199, at: 1199, Self.tooOften),
            ]
        ),
        Self("renewed at once", [.init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1, at: 1, Self.tooOften)]),
        Self(
            "a token for every push",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1, at: 1, Self.tooOften),
                .init("TEAMKEY001", issued: 2, at: 2, Self.tooOften),
                .init("TEAMKEY001", issued: 3, at: 3, Self.tooOften),
            ]
        ),
        Self(
            "the old token stays good",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1, at: 1, Self.tooOften),
                .init("TEAMKEY001", at: 2, "200"),
            ]
        ),
        Self(
            "the new one is good when its time has come",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1, at: 1, Self.tooOften),
                .init("TEAMKEY001", issued: 1, at: 1200, "200"),
            ]
        ),
        Self(
            "by the sender's own clock, on a connection that is younger",
            [
                .init("TEAMKEY001", issued: -3000, "200"), .init("TEAMKEY001", issued: 10, at: 10, "200"),
            ]
        ),
        Self(
            "an older token, soon after",
            [.init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: -3000, at: 1, Self.tooOften)]
        ),
        Self(
            "the one before, while processes change over",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1200, at: 1200, "200"),
                .init("TEAMKEY001", at: 1201, "200"), .init("TEAMKEY001", issued: 1200, at: 1202, "200"),
            ],
            2
        ),
        Self(
            "a third, too soon after the second",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1200, at: 1200, "200"),
                .init("TEAMKEY001", issued: 1201, at: 1201, Self.tooOften),
            ]
        ),
        Self(
            "signed again is no renewal",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", at: 1, signedAgain: true, "200"),
            ],
            2
        ),
        Self(
            "two keys of a team are each other's renewals",
            [.init("TEAMKEY001", "200"), .init("TEAMKEY002", Self.tooOften)]
        ),
        Self(
            "a related key is no renewal, its own are",
            [
                .init("TOPICKEY01", "200"), .init("TOPICKEY02", "200"),
                .init("TOPICKEY02", issued: 1, at: 1, Self.tooOften),
            ]
        ),
        Self(
            "each connection by itself",
            [.init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1, at: 1, on: 1, "200")]
        ),
        Self(
            "expired and too soon is expired",
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: -4000, at: 1, Self.expired),
            ]
        ),
        Self(
            "too soon comes before the id",
            [
                .init("TEAMKEY001", "200"),
                .init("TEAMKEY001", issued: 1, at: 1, Self.tooOften, sending: ["apns-id: 7"]),
            ]
        ),
        Self(
            "by key, over connections",
            scope: .key,
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1, at: 1, on: 1, Self.tooOften),
                .init("TEAMKEY001", at: 2, on: 2, "200"), .init("TEAMKEY002", at: 3, on: 3, "200"),
            ]
        ),
        Self(
            "by team, over connections",
            scope: .team,
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY002", issued: 1, at: 1, on: 1, Self.tooOften),
                .init("OTHERKEY01", at: 2, on: 2, "200"), .init("TEAMKEY001", at: 3, on: 3, "200"),
            ]
        ),
        Self(
            "without the rule",
            refreshMin: .zero,
            [
                .init("TEAMKEY001", "200"), .init("TEAMKEY001", issued: 1, at: 1, "200"),
                .init("TEAMKEY001", issued: -9, at: 1, "200"),
            ]
        ),
    ]

    /// Which tokens are remembered: eight in this world.
    static let memories: [PushTokenSequence] = [
        Self(
            "eight tokens are remembered",
            (0..<8).map { Step("TEAMKEY001", issued: -$0, on: Int($0), "200") }
                + (0..<8).map { Step("TEAMKEY001", issued: -$0, on: Int($0), "200") },
            8
        ),
        Self(
            "the ninth takes the place of the first",
            (0..<9).map { Step("TEAMKEY001", issued: -$0, on: Int($0), "200") }
                + [Step("TEAMKEY001", issued: -8, on: 8, "200"), Step("TEAMKEY001", issued: 0, "200")],
            10
        ),
        Self(
            "forgeries take nobody's place",
            [Step("TEAMKEY001", "200")]
                + (0..<20).map { Step("STRANGER00", issued: -$0, on: 1, Self.refused) }
                + [Step("TEAMKEY001", at: 1, "200")],
            21
        ),
    ]

    private init(
        _ name: String,
        scope: GatewayConfiguration.ProviderTokens.RefreshScope = .connection,
        refreshMin: Interval = .minutes(20),
        bindsConnections: Bool = true,
        _ steps: [Step],
        _ verifications: Int? = nil
    ) {
        self.name = name
        self.scope = scope
        self.refreshMin = refreshMin
        self.bindsConnections = bindsConnections
        self.steps = steps
        self.verifications = verifications
    }
}

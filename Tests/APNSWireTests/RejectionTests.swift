import APNSWire
import Testing
import WidgetModel

@Suite struct RejectionTests {
    /// Apple's table, "Handling notification responses from APNs".
    private static let documented: [Int: [String]] = [
        400: [
            "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
            "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
            "MissingTopic", "PayloadEmpty", "TopicDisallowed",
        ],
        403: [
            "BadCertificate", "BadCertificateEnvironment", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
            "MissingProviderToken", "UnrelatedKeyIdInToken", "BadEnvironmentKeyInToken",
        ],
        404: ["BadPath"],
        405: ["MethodNotAllowed"],
        410: ["ExpiredToken", "Unregistered"],
        413: ["PayloadTooLarge"],
        429: ["TooManyProviderTokenUpdates", "TooManyRequests"],
        500: ["InternalServerError"],
        503: ["ServiceUnavailable", "Shutdown"],
    ]

    /// Apple's table for the broadcast and channel-management services, "Handling error responses from APNs".
    private static let documentedForChannels: [Int: [String]] = [
        400: [
            "FeatureNotEnabled", "MissingChannelId", "BadChannelId", "ChannelNotRegistered", "BadRequestParams",
            "BadRequestPayload", "PayloadEmpty", "BadMessageId", "MissingPushType", "InvalidPushType",
            "CannotCreateChannelConfig", "BadExpirationDate", "TopicDisallowed", "BadPriority",
        ],
        403: [
            "BadCertificate", "BadCertificateEnvironment", "TopicMismatch", "MissingProviderToken",
            "ExpiredProviderToken", "InvalidProviderToken",
        ],
        404: ["BadPath"],
        405: ["MethodNotAllowed"],
        413: ["PayloadTooLarge"],
        429: ["TooManyRequests", "TooManyProviderTokenUpdates"],
        500: ["InternalServerError"],
        503: ["Service Unavailable", "Shutdown"],
    ]

    @Test func `every documented reason is here with its status, and one of ours`() {
        for (status, reasons) in Array(Self.documented) + Array(Self.documentedForChannels) {
            for reason in reasons { #expect(Rejection(reason: reason)?.status == status, "\(reason)") }
        }
        let ours = Set(Rejection.allCases.map(\.rawValue)).subtracting(Self.documented.values.joined())
            .subtracting(Self.documentedForChannels.values.joined())
        #expect(ours == ["BadPayload"])
    }

    @Test func `both spellings of the environment reason are read, the one on the wire is written`() {
        #expect(Rejection(reason: "BadEnvironmentKeyIdInToken") == .badEnvironmentKeyInToken)
        #expect(Rejection(reason: "badpath") == nil)
    }

    @Test(
        arguments: [
            (RejectionAnswer(.badTopic), #"{"reason":"BadTopic"}"#),
            (RejectionAnswer(.badTopic, timestamp: Instant(milliseconds: 5)), #"{"reason":"BadTopic"}"#),
            (
                RejectionAnswer(.unregistered, timestamp: Instant(milliseconds: 1_700_000_000_123)),
                #"{"reason":"Unregistered","timestamp":1700000000123}"#
            ),
            (
                RejectionAnswer(.badPayload, detail: "a \"comma\"\n"),
                #"{"reason":"BadPayload","detail":"a \"comma\"\n"}"#
            ),
            (
                RejectionAnswer(.badPayload, detail: String(repeating: "x", count: 2000)),
                #"{"reason":"BadPayload"}"#
            ),
        ]
    )
    func `the body is JSON in one small buffer`(answer: RejectionAnswer, body: String) {
        #expect(String(decoding: answer.body, as: UTF8.self) == body)
        #expect(answer.body.count <= RejectionAnswer.bodyBytesMax)
    }
}

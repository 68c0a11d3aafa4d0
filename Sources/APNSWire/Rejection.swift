/// Why a push or a request about channels was refused: every reason that APNs documents, and one of ours.
///
/// The raw value is the `reason` on the wire. Sources: Apple, "Handling notification responses from APNs" and "Handling
/// error responses from Apple Push Notification service" for the broadcast and channel-management services.
package enum Rejection: String, Error, Hashable, Sendable, CaseIterable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    /// Ours: the body is not JSON, or not a widget push. Apple documents no reason for that.
    case badPayload = "BadPayload"

    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    /// Apple's table says `BadEnvironmentKeyIdInToken`; its servers send this.
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"

    // The broadcast and channel-management services' own.
    case badChannelID = "BadChannelId"
    case badRequestParams = "BadRequestParams"
    case badRequestPayload = "BadRequestPayload"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case channelNotRegistered = "ChannelNotRegistered"
    case featureNotEnabled = "FeatureNotEnabled"
    case missingChannelID = "MissingChannelId"
    case missingPushType = "MissingPushType"
    case topicMismatch = "TopicMismatch"

    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"

    /// The reason that a server's answer names, in any spelling known, or nil.
    package init?(reason: String) {
        switch reason {
        case "BadEnvironmentKeyIdInToken": self = .badEnvironmentKeyInToken
        // As Apple's page on the broadcast service prints it.
        case "Service Unavailable": self = .serviceUnavailable
        default: self.init(rawValue: reason)
        }
    }

    /// The HTTP status that goes with the reason.
    package var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed, .badPayload,
            .badChannelID, .badRequestParams, .badRequestPayload, .cannotCreateChannelConfig, .channelNotRegistered,
            .featureNotEnabled, .missingChannelID, .missingPushType:
            400
        case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyInToken,
            .topicMismatch:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }
}

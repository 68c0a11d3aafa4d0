/// The checks of a broadcast or channel-management request, in the order in which the first that fails gives the reason.
enum ChannelCheck: UInt8, Hashable, Sendable, CaseIterable {
    // beforeCredentials
    /// No `apns-…` header and no `authorization` comes twice: `DuplicateHeaders`.
    case repeatedHeaders
    /// A path of the services: `BadPath`.
    case path
    /// A method that the path has: `MethodNotAllowed`.
    case method
    /// An `authorization`, or a client certificate: `MissingProviderToken`.
    case credentialsPresent
    // Here the owner verifies them: `InvalidProviderToken`, `ExpiredProviderToken`, …
    // requestID
    /// `apns-request-id` is a UUID: `BadMessageId`.
    case requestID
    // app
    /// The path has a bundle id, not a topic: `TopicDisallowed`.
    case bundleForm
    /// The credentials are for that app: `TopicMismatch`.
    case bundle
    // Here the owner knows whether the app has channels: `FeatureNotEnabled`.
    // request
    /// `apns-channel-id`, if the request is about one channel: `MissingChannelId`.
    case channelPresent
    /// Base64, not too long: `BadChannelId`.
    case channelForm
    /// `apns-push-type` of a broadcast: `MissingPushType`.
    case pushTypePresent
    /// `liveactivity`, or `widgets`: `InvalidPushType`.
    case pushType
    /// 10, 5 or 1: `BadPriority`.
    case priority
    /// UNIX seconds: `BadExpirationDate`.
    case expiration
    /// A body, if the request needs one: `PayloadEmpty`.
    case bodyPresent
    /// Not more of it than allowed: `PayloadTooLarge`.
    case bodySize
    // Then the body is read: `BadRequestPayload`, `BadRequestParams`, `InvalidPushType`. Then the owner looks at room
    // and rates: `ServiceUnavailable`, `TooManyRequests`; and at the channel: `ChannelNotRegistered`,
    // `BadExpirationDate` where it stores no messages, `CannotCreateChannelConfig`.
}

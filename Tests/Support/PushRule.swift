/// A rule of the push contract that a request or its provider token can break.
///
/// In the order of the checks: the first broken rule gives the reason. Apple does not document its order. This one
/// agrees with the observed answers of its servers: the method comes before the credentials, the credentials before the
/// device token, the device token before the topic. `docs/apns-conformance.md` has a row for each with its source.
package enum PushRule: UInt8, Hashable, Sendable, CaseIterable {
    // The head, as far as it can be judged without knowing the sender.

    /// No `apns-…` header that counts and no `authorization` comes twice: `DuplicateHeaders`.
    case repeatedHeaders
    /// POST: `MethodNotAllowed`.
    case method
    /// A push route: `BadPath`.
    case path
    /// A device token in the path: `MissingDeviceToken`.
    case deviceTokenPresent

    // The provider token, as text. Each but the first: `InvalidProviderToken`.

    /// An `authorization` with a token in it, unless a client certificate speaks: `MissingProviderToken`.
    case credentialsPresent
    /// The scheme is `bearer`.
    case scheme
    /// Not longer than `CompactToken/bytesMax`.
    case tokenSize
    /// Three parts, not more.
    case tokenParts
    /// Base64 has the padding that is due or none, and no bit left over.
    case tokenEncoding
    /// The parts are not nested deeper than `CompactToken/depthMax`.
    case tokenDepth
    /// No member of the parts occurs twice.
    case tokenMembersOnce
    /// `alg` is `ES256`.
    case algorithm
    /// No `crit`: this gateway understands no extension.
    case criticalHeader
    /// `kid` and `iss` have 1 to `CompactToken/idBytesMax` bytes.
    case idSize
    /// No claim of other tokens, such as a host's credential: `ProviderToken`.
    case foreignClaims
    /// `iat`, and `exp` and `nbf` if present, lie between 1970 and the year 9999.
    case issuedAtRange

    // The provider token, against the gateway's keys and clock.

    /// The key belongs to the team that the token names: `InvalidProviderToken`.
    case keyOfTeam
    /// The signature is the key's: `InvalidProviderToken`.
    case signature
    /// The team of the connection's first push: `InvalidProviderToken`.
    case connectionTeam
    /// The key of the connection's first push, or one that may share its connections: `UnrelatedKeyIdInToken`.
    case connectionKey
    /// The key is for the environment of the app: `BadEnvironmentKeyInToken`.
    case keyEnvironment
    /// `iat` is not older than allowed: `ExpiredProviderToken`.
    case issuedAtAge
    /// `exp`, if present, has not passed: `ExpiredProviderToken`.
    case tokenExpiration
    /// `iat` and `nbf` are not further ahead than clocks may differ: `InvalidProviderToken`.
    case issuedAtFuture
    /// The sender does not renew its token more often than allowed: `TooManyProviderTokenUpdates`.
    case tokenUpdates

    // The sender's rights.

    /// The key is for this kind of push: `Forbidden`.
    case actionOfKey

    // The rest of the head and the body's size.

    /// `apns-id` is a UUID: `BadMessageId`.
    case id
    /// An even number of hex digits: `BadDeviceToken`.
    case deviceTokenForm
    /// Not more digits than the app allows: `BadDeviceToken`.
    case deviceTokenLength
    /// `apns-topic`, but for a targeted push: `MissingTopic`.
    case topicPresent
    /// `apns-topic` looks like one: `BadTopic`.
    case topicForm
    /// `apns-push-type`, if present, names a type; if absent, the topic tells one: `InvalidPushType`.
    case pushType
    /// The type is one that the app's pushes may have here: `InvalidPushType`.
    case pushTypeHandled
    /// The topic's suffix is the type's: `BadTopic`.
    case topicSuffix
    /// The topic of a targeted push is of the app in its path: `BadTopic`.
    case topicOfPath
    /// The app is one of the sender's team: `TopicDisallowed`.
    case topicOfTeam
    /// The topic is one that the key or certificate is for: `TopicDisallowed`.
    case topicOfKey
    /// 1, 5 or 10: `BadPriority`.
    case priority
    /// Not 10 for a background push: `BadPriority`.
    case priorityOfType
    /// UNIX seconds: `BadExpirationDate`.
    case expiration
    /// At most 64 bytes: `BadCollapseId`.
    case collapseID
    /// A body: `PayloadEmpty`.
    case bodyPresent
    /// Not more of it than the type allows: `PayloadTooLarge`.
    case bodySize
    /// A location push comes with a provider token: `Forbidden`.
    case typeOfCredential

    // The body: `BadPayload`, a reason of ours.

    /// `aps` says `content-changed`.
    case contentChanged
    /// The app has the kind that `freshet` names.
    case kind
    /// The pattern asks for parameters that the kind has.
    case pattern

    // Rules about the device token.

    /// A host registered it, unless the app takes any: `BadDeviceToken`.
    case deviceTokenKnown
    /// It is one of the topic's app: `DeviceTokenNotForTopic`.
    case deviceTokenOfApp
    /// It is a control's for a controls push, and no control's for another: `DeviceTokenNotForTopic`.
    case deviceTokenOfType
    /// Its host's lease has not run out: `ExpiredToken`.
    case deviceTokenInTime
    /// It was not removed: `Unregistered`.
    case deviceTokenActive
}

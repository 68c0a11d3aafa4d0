// Requests that break two rules: which of the two is told.

extension PushRequestCase {
    /// Before the credentials; the token is not looked at.
    static let orders: [PushRequestCase] = [
        PushRequestCase("repeats before method", Self.twice("apns-id: 7") + [":method: GET"], "400 DuplicateHeaders")
            .early,
        PushRequestCase("method before path", [":method: GET", ":path: /"], "405 MethodNotAllowed").early,
        PushRequestCase("method before token", [":method: GET", ":path: /3/device/"], "405 MethodNotAllowed").early,
        PushRequestCase("method before credentials", [":method: GET", "authorization"], "405 MethodNotAllowed").early,
        PushRequestCase("path before credentials", [":path: /", "authorization"], "404 BadPath").early,
        PushRequestCase(
            "token present before credentials",
            [":path: /3/device/", "authorization"],
            "400 MissingDeviceToken"
        ).early,
        PushRequestCase(
            "credentials before everything in the headers",
            ["authorization", Self.to("aaaa"), "apns-topic", "apns-id: 7"],
            "403 MissingProviderToken"
        ).early,
        PushRequestCase(
            "a forged token before everything in the headers",
            ["authorization: bearer a.b.c", Self.to("zz"), "apns-topic", "apns-id: 7"],
            "403 InvalidProviderToken"
        ).early,
        PushRequestCase("id before token", ["apns-id: 7", Self.to("zz")], "400 BadMessageId"),
        PushRequestCase("token before topic", [Self.to("zz"), "apns-topic"], "400 BadDeviceToken"),
        PushRequestCase("topic before type", ["apns-topic", "apns-push-type: x"], "400 MissingTopic"),
        PushRequestCase("the topic's form before the type", ["apns-topic: a b", "apns-push-type: x"], "400 BadTopic"),
        PushRequestCase(
            "type before suffix",
            ["apns-push-type: x", "apns-topic: com.example.scores.voip"],
            "400 InvalidPushType"
        ),
        PushRequestCase("suffix before whose topic it is", ["apns-topic: com.example.other.voip"], "400 BadTopic"),
        PushRequestCase(
            "whose topic it is before priority",
            ["apns-topic: com.example.other.push-type.widgets", "apns-priority: 7"],
            "400 TopicDisallowed"
        ),
        PushRequestCase("priority before expiration", ["apns-priority: 7", "apns-expiration: x"], "400 BadPriority"),
        PushRequestCase(
            "expiration before collapse id",
            ["apns-expiration: x", "apns-collapse-id: \(String(repeating: "c", count: 65))"],
            "400 BadExpirationDate"
        ),
        PushRequestCase(
            "collapse id before body",
            ["apns-collapse-id: \(String(repeating: "c", count: 65))"],
            body: "",
            "400 BadCollapseId"
        ),
        PushRequestCase(
            "the body's size before its contents",
            [],
            body: String(repeating: "x", count: 4097),
            "413 PayloadTooLarge"
        ),
        PushRequestCase(
            "the body's size before the token's state",
            [Self.to(PushWorld.removed)],
            body: Self.padded(to: 4097),
            "413 PayloadTooLarge"
        ),
        PushRequestCase(
            "the body's contents before the token's state",
            [Self.to(PushWorld.removed)],
            body: "{}",
            "400 BadPayload"
        ),
        PushRequestCase(
            "whose token it is before whether it lives",
            [Self.to(PushWorld.removedOfOther)],
            "400 DeviceTokenNotForTopic"
        ),
    ]
}

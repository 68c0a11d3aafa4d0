import APNSWire
import TestSupport
import WidgetModel

// The rules in the order of `PushRule`, each with a push on either side of it.

extension PushRuleCase {
    private static let ok = Push.request([])
    private static let open = "apns-topic: com.example.open.push-type.widgets"
    private static let bare = "apns-topic: com.example.scores"
    private static let targeted = ":path: /v1/apps/com.example.scores/pushes"
    private static let controls = [PushRequestCase.to(PushWorld.control)] + PushRequestCase.controls

    static let heads: [PushRuleCase] = [
        PushRuleCase(
            .repeatedHeaders,
            .duplicateHeaders,
            broken: .request(PushRequestCase.twice("apns-collapse-id: a")),
            kept: .request(PushRequestCase.twice("apns-unheard-of: a"))
        ),
        PushRuleCase(.method, .methodNotAllowed, broken: .request([":method: POSTS"]), kept: ok),
        PushRuleCase(
            .path,
            .badPath,
            broken: .request([":path: /4/device/\(PushWorld.phone)"]),
            kept: .request([":path: /3/device/\(PushWorld.phone)"])
        ),
        PushRuleCase(
            .deviceTokenPresent,
            .missingDeviceToken,
            broken: .request([PushRequestCase.to("")]),
            kept: .request([PushRequestCase.to(PushWorld.watch)])
        ),
    ]

    /// The provider token as text.
    static let tokens: [PushRuleCase] = [
        PushRuleCase(.credentialsPresent, .missingProviderToken, broken: .request(["authorization: "]), kept: ok),
        .text(
            .scheme,
            "authorization does not have the scheme bearer",
            broken: .token { $0.scheme = "bearers " },
            kept: .token { $0.scheme = "BEARER " }
        ),
        .text(
            .tokenSize,
            "the token has 4097 bytes, more than 4096",
            broken: .token { $0.fill(to: 4097) },
            kept: .token { $0.fill(to: 4096) }
        ),
        .text(.tokenParts, "the token does not have three parts", broken: .token { $0.tail = ".AAAA" }, kept: ok),
        .text(
            .tokenEncoding,
            "the signature is not base64",
            broken: .token { $0.tail = "=" },
            kept: .token { $0.isStandardBase64 = true }
        ),
        .text(
            .tokenDepth,
            "the claims part is not JSON: arrays and objects are nested deeper than 8",
            broken: claims(#","x":[[[[[[[[]]]]]]]]"#),
            kept: claims(#","x":[[[[[[[]]]]]]]"#)
        ),
        .text(
            .tokenMembersOnce,
            #"the claims part is not JSON: the member "x" occurs twice in one object"#,
            broken: claims(#","x":1,"x":1"#),
            kept: claims(#","x":1,"X":1"#)
        ),
        .text(
            .algorithm,
            "the header's alg is not ES256",
            broken: .token { $0.header = #"{"alg":"ES256K","kid":"TEAMKEY001"}"# },
            kept: .token { $0.header = #"{"alg":"ES256","kid":"TEAMKEY001"}"# }
        ),
        .text(
            .criticalHeader,
            "the header has crit, which is not supported",
            broken: header(#","crit":["b64"]"#),
            kept: header(#","b64":true"#)
        ),
        .text(.idSize, "kid has 0 bytes, not 1 to 64", broken: .token { $0.header = PushToken.header("") }, kept: ok),
        .text(
            .foreignClaims,
            "the claim aud belongs to another kind of token; a provider token has iss and iat",
            broken: claims(#","aud":null"#),
            kept: claims(#","audience":null"#)
        ),
        .text(
            .issuedAtRange,
            "exp is not a time in UNIX seconds",
            broken: claims(#","exp":253402300800"#),
            kept: claims(#","exp":253402300799"#)
        ),
    ]

    /// The provider token against what the gateway knows, and what its sender may do.
    static let senders: [PushRuleCase] = [
        PushRuleCase(
            .keyOfTeam,
            .invalidProviderToken,
            "the token is not signed by a key of the team that it names",
            broken: .token { $0.claims = PushToken.claims(team: "OTHER12345") },
            kept: ok
        ),
        PushRuleCase(
            .signature,
            .invalidProviderToken,
            "the token is not signed by a key of the team that it names",
            broken: .token { $0.signature = .altered },
            kept: .token { $0.signature = .otherS }
        ),
        PushRuleCase(
            .connectionTeam,
            .invalidProviderToken,
            broken: .sequence([.init("TEAMKEY001", ""), .init("OTHERKEY01", "")]),
            kept: .sequence([.init("TEAMKEY001", ""), .init("OTHERKEY01", on: 1, "")])
        ),
        PushRuleCase(
            .connectionKey,
            .unrelatedKeyIDInToken,
            broken: .sequence([.init("TOPICKEY01", ""), .init("TOPICKEY03", "")]),
            kept: .sequence([.init("TOPICKEY01", ""), .init("TOPICKEY02", "")])
        ),
        PushRuleCase(
            .keyEnvironment,
            .badEnvironmentKeyInToken,
            broken: .request([], key: "SANDKEY001"),
            kept: .request([], key: "PRODKEY001")
        ),
        PushRuleCase(.issuedAtAge, .expiredProviderToken, broken: issued(-3601), kept: issued(-3600)),
        PushRuleCase(
            .tokenExpiration,
            .expiredProviderToken,
            broken: claims(#","exp":\#(PushWorld.now)"#),
            kept: claims(#","exp":\#(PushWorld.now + 1)"#)
        ),
        PushRuleCase(
            .issuedAtFuture,
            .invalidProviderToken,
            "iat is too far in the future",
            broken: issued(301),
            kept: issued(300)
        ),
        PushRuleCase(
            .tokenUpdates,
            .tooManyProviderTokenUpdates,
            broken: .sequence([.init("TEAMKEY001", ""), .init("TEAMKEY001", issued: 1199, at: 1199, "")]),
            kept: .sequence([.init("TEAMKEY001", ""), .init("TEAMKEY001", issued: 1200, at: 1200, "")])
        ),
        PushRuleCase(
            .actionOfKey,
            .forbidden,
            broken: .request([], key: "HOSTSKEY01"),
            kept: .request([], key: "DEVICEKEY1")
        ),
    ]

    /// The rest of the head. The app that takes any token shows the rules of the token's form by themselves.
    static let fields: [PushRuleCase] = [
        PushRuleCase(
            .id,
            .badMessageID,
            broken: .request(["apns-id: \(PushRequestCase.id.dropLast())"]),
            kept: .request(["apns-id: \(PushRequestCase.id)"])
        ),
        PushRuleCase(
            .deviceTokenForm,
            .badDeviceToken,
            broken: .request([PushRequestCase.to("777"), open]),
            kept: .request([PushRequestCase.to("7777"), open])
        ),
        PushRuleCase(
            .deviceTokenLength,
            .badDeviceToken,
            broken: .request([PushRequestCase.to(String(repeating: "77", count: 201)), open]),
            kept: .request([PushRequestCase.to(String(repeating: "77", count: 200)), open])
        ),
        PushRuleCase(
            .topicPresent,
            .missingTopic,
            broken: .request(["apns-topic"]),
            kept: .request([targeted, "apns-topic"], body: PushRequestCase.all)
        ),
        PushRuleCase(
            .topicForm,
            .badTopic,
            broken: .request(["apns-topic: com.example scores.push-type.widgets"]),
            kept: .request(["apns-topic: com.example.scores.push-type.widgets"])
        ),
        PushRuleCase(.pushType, .invalidPushType, broken: .request(["apns-push-type: Widgets"]), kept: ok),
        PushRuleCase(
            .pushTypeHandled,
            .invalidPushType,
            broken: .request(["apns-push-type: alert", bare]),
            kept: .request(["apns-push-type: alert", bare], everyType: true)
        ),
        PushRuleCase(
            .topicSuffix,
            .badTopic,
            broken: .request([bare]),
            kept: .request(["apns-topic: com.example.scores.extension"])
        ),
        PushRuleCase(
            .topicOfPath,
            .badTopic,
            broken: .request([targeted, PushRequestCase.weather]),
            kept: .request([targeted], body: PushRequestCase.all)
        ),
        PushRuleCase(
            .topicOfTeam,
            .topicDisallowed,
            broken: .request([
                PushRequestCase.to(PushWorld.otherPhone), "apns-topic: com.example.other.push-type.widgets",
            ]),
            kept: .request([PushRequestCase.to(PushWorld.weatherPhone), PushRequestCase.weather])
        ),
        PushRuleCase(
            .topicOfKey,
            .topicDisallowed,
            broken: .request(controls, key: "TOPICKEY01"),
            kept: .request(controls, key: "TOPICKEY02")
        ),
        PushRuleCase(
            .priority,
            .badPriority,
            broken: .request(["apns-priority: 11"]),
            kept: .request(["apns-priority: 10"])
        ),
        PushRuleCase(
            .priorityOfType,
            .badPriority,
            broken: .request(["apns-push-type: background", bare, "apns-priority: 10"], everyType: true),
            kept: .request(["apns-push-type: background", bare, "apns-priority: 5"], everyType: true)
        ),
        PushRuleCase(
            .expiration,
            .badExpirationDate,
            broken: .request(["apns-expiration: 9223372036854775808"]),
            kept: .request(["apns-expiration: 9223372036854775807"])
        ),
        PushRuleCase(
            .collapseID,
            .badCollapseID,
            broken: .request(["apns-collapse-id: \(String(repeating: "c", count: 65))"]),
            kept: .request(["apns-collapse-id: \(String(repeating: "c", count: 64))"])
        ),
    ]

    static let bodies: [PushRuleCase] = [
        PushRuleCase(.bodyPresent, .payloadEmpty, broken: .request([], body: ""), kept: ok),
        PushRuleCase(
            .bodySize,
            .payloadTooLarge,
            broken: .request([], body: PushRequestCase.padded(to: 4097)),
            kept: .request([], body: PushRequestCase.padded(to: 4096))
        ),
        PushRuleCase(
            .typeOfCredential,
            .forbidden,
            broken: .request(location, certificate: .scoresOfEveryType),
            kept: .request(location, everyType: true)
        ),
        PushRuleCase(
            .contentChanged,
            .badPayload,
            "aps.content-changed: is not true",
            broken: .request([], body: #"{"aps":{"content-changed":1}}"#),
            kept: .request([], body: #"{"aps":{"content-changed":true}}"#)
        ),
        PushRuleCase(
            .kind,
            .badPayload,
            #"freshet.kind: the app has no kind "weather""#,
            broken: freshet(#"{"kind":"weather"}"#),
            kept: freshet(#"{"kind":"scores"}"#)
        ),
        PushRuleCase(
            .pattern,
            .badPayload,
            broken: freshet(#"{"kind":"ticker","match":{"team":["seahawks"]}}"#),
            kept: freshet(#"{"kind":"scores","match":{"team":["seahawks"]}}"#)
        ),
    ]

    /// The standing of the device token.
    static let devices: [PushRuleCase] = [
        PushRuleCase(
            .deviceTokenKnown,
            .badDeviceToken,
            broken: .request([PushRequestCase.to(PushWorld.unknown)]),
            kept: .request([PushRequestCase.to(PushWorld.unknown), open])
        ),
        PushRuleCase(
            .deviceTokenOfApp,
            .deviceTokenNotForTopic,
            broken: .request([PushRequestCase.to(PushWorld.weatherPhone)]),
            kept: .request([PushRequestCase.to(PushWorld.weatherPhone), PushRequestCase.weather])
        ),
        PushRuleCase(
            .deviceTokenOfType,
            .deviceTokenNotForTopic,
            broken: .request([PushRequestCase.to(PushWorld.control)]),
            kept: .request(controls)
        ),
        PushRuleCase(
            .deviceTokenInTime,
            .expiredToken,
            broken: .request([PushRequestCase.to(PushWorld.expired)]),
            kept: ok
        ),
        PushRuleCase(
            .deviceTokenActive,
            .unregistered,
            broken: .request([PushRequestCase.to(PushWorld.removed)]),
            kept: ok
        ),
    ]

    private static let location = [
        "apns-push-type: location", "apns-topic: com.example.scores.location-query",
    ]

    private static func claims(_ rest: String) -> Push { .token { $0.claims = PushToken.claims(rest) } }
    private static func header(_ rest: String) -> Push { .token { $0.header = PushToken.header("TEAMKEY001", rest) } }
    private static func issued(_ seconds: Int64) -> Push { .token { $0.claims = PushToken.claims(issued: seconds) } }

    private static func freshet(_ own: String) -> Push {
        .request([], body: #"{"aps":{"content-changed":true},"freshet":\#(own)}"#)
    }
}

// The rows of one part of Apple's contract. Each has the oddity of the request, the differences of its header list from
// the usual one, and the answer.

extension PushRequestCase {
    static let bodies: [PushRequestCase] = [
        PushRequestCase("no body", [], body: "", "400 PayloadEmpty"),
        PushRequestCase("4,096 bytes", [], body: Self.padded(to: 4096), Self.ok),
        PushRequestCase("4,097 bytes", [], body: Self.padded(to: 4097), "413 PayloadTooLarge"),
        PushRequestCase("4,097 bytes of nothing", [], body: Self.spaces(4097), "413 PayloadTooLarge"),
        PushRequestCase("more than the listener keeps", [], isTooLarge: true, "413 PayloadTooLarge"),
        PushRequestCase(
            "white space",
            [],
            body: " {\n\t\"aps\" : { \"content-changed\" : true }\r\n} ",
            Self.ok
        ),
        PushRequestCase(
            "members of the app's own",
            [],
            body: #"{"x":{"y":[1,2]},"aps":{"alert":"hi","content-changed":true}}"#,
            Self.ok
        ),
        PushRequestCase(
            "a comma too many, as in Apple's sample",
            [],
            body: #"{"aps":{"content-changed":true,}}"#,
            "400 BadPayload"
        ),
        PushRequestCase("one space", [], body: " ", "400 BadPayload"),
        PushRequestCase("no JSON", [], body: "content-changed", "400 BadPayload"),
        PushRequestCase(
            "a JSON text that is cut short",
            [],
            body: #"{"aps":{"content-changed":true}"#,
            "400 BadPayload"
        ),
        PushRequestCase("two JSON texts", [], body: Self.plain + Self.plain, "400 BadPayload"),
        PushRequestCase("an array", [], body: "[\(Self.plain)]", "400 BadPayload"),
        PushRequestCase("null", [], body: "null", "400 BadPayload"),
        PushRequestCase("an empty object", [], body: "{}", "400 BadPayload"),
        PushRequestCase("apn for aps", [], body: #"{"apn":{"content-changed":true}}"#, "400 BadPayload"),
        PushRequestCase("aps that is no object", [], body: #"{"aps":true}"#, "400 BadPayload"),
        PushRequestCase("nothing in aps", [], body: #"{"aps":{}}"#, "400 BadPayload"),
        PushRequestCase("content-available", [], body: #"{"aps":{"content-available":1}}"#, "400 BadPayload"),
        PushRequestCase("content-changed: false", [], body: #"{"aps":{"content-changed":false}}"#, "400 BadPayload"),
        PushRequestCase("content-changed: 1", [], body: #"{"aps":{"content-changed":1}}"#, "400 BadPayload"),
        PushRequestCase(
            "content-changed in quotes",
            [],
            body: #"{"aps":{"content-changed":"true"}}"#,
            "400 BadPayload"
        ),
        PushRequestCase("aps twice", [], body: #"{"aps":{"content-changed":true},"aps":{}}"#, "400 BadPayload"),
        PushRequestCase("nested 25 deep", [], body: Self.nested(25), "400 BadPayload"),
        PushRequestCase("nested 24 deep", [], body: Self.nested(24), Self.ok),

        PushRequestCase("a kind", [], body: Self.freshet(#"{"kind":"scores"}"#), "\(Self.ok) kind=scores"),
        PushRequestCase(
            "a kind that the app does not have",
            [],
            body: Self.freshet(#"{"kind":"weather"}"#),
            "400 BadPayload"
        ),
        PushRequestCase(
            "a pattern",
            [],
            body: Self.freshet(#"{"kind":"scores","match":{"team":["seahawks"]}}"#),
            "\(Self.ok) kind=scores pattern"
        ),
        PushRequestCase("a pattern alone", [], body: Self.freshet(#"{"match":{"limit":5}}"#), "\(Self.ok) pattern"),
        PushRequestCase(
            "a parameter that no kind has",
            [],
            body: Self.freshet(#"{"match":{"tem":["seahawks"]}}"#),
            "400 BadPayload"
        ),
        PushRequestCase(
            "a parameter that the kind does not have",
            [],
            body: Self.freshet(#"{"kind":"ticker","match":{"team":["seahawks"]}}"#),
            "400 BadPayload"
        ),
        PushRequestCase(
            "a pattern that is none",
            [],
            body: Self.freshet(#"{"match":{"team":{"like":"s"}}}"#),
            "400 BadPayload"
        ),
        PushRequestCase("a list for a pattern", [], body: Self.freshet(#"{"match":["team"]}"#), "400 BadPayload"),
        PushRequestCase("a digest", [], body: Self.freshet(#"{"digest":"v7"}"#), "\(Self.ok) digest=v7"),
        PushRequestCase("an empty digest", [], body: Self.freshet(#"{"digest":""}"#), "400 BadPayload"),
        PushRequestCase(
            "not before",
            [],
            body: Self.freshet(#"{"not-before":1793639400}"#),
            "\(Self.ok) not-before=1793639400"
        ),
        PushRequestCase("not before a fraction", [], body: Self.freshet(#"{"not-before":1.5}"#), "400 BadPayload"),
        PushRequestCase("maxMatched", [], body: Self.freshet(#"{"maxMatched":1}"#), "\(Self.ok) maxMatched=1"),
        PushRequestCase("maxMatched of none", [], body: Self.freshet(#"{"maxMatched":0}"#), "400 BadPayload"),
        PushRequestCase("a misspelt match", [], body: Self.freshet(#"{"macth":{}}"#), "400 BadPayload"),
        PushRequestCase("all, to a device", [], body: Self.freshet(#"{"all":true}"#), "400 BadPayload"),
        PushRequestCase("freshet that is no object", [], body: Self.freshet("[]"), "400 BadPayload"),
    ]

    /// To every instance of an app that matches.
    static let targeted: [PushRequestCase] = [
        PushRequestCase(
            "a pattern of 512 steps",
            Self.app("scores"),
            body: Self.freshet(#"{"match":{\#(Self.alternatives(512))}}"#),
            "200 scores widgets everywhere pattern"
        ),
        PushRequestCase(
            "a pattern of 513 steps",
            Self.app("scores"),
            body: Self.freshet(#"{"match":{\#(Self.alternatives(512)),"limit":1}}"#),
            "400 BadPayload"
        ),
        PushRequestCase("neither kind, match nor all", Self.app("scores"), "400 BadPayload"),
        PushRequestCase("freshet that says nothing", Self.app("scores"), body: Self.freshet("{}"), "400 BadPayload"),
        PushRequestCase(
            "maxMatched alone",
            Self.app("scores"),
            body: Self.freshet(#"{"maxMatched":5}"#),
            "400 BadPayload"
        ),
        PushRequestCase(
            "a dry run that says nothing",
            Self.app("scores", "?dry-run=true"),
            "400 BadPayload"
        ),
        PushRequestCase(
            "a misspelt freshet",
            Self.app("scores"),
            body: #"{"aps":{"content-changed":true},"freshett":{"kind":"scores"},"freshet":{"all":true}}"#,
            "400 BadPayload"
        ),
        PushRequestCase(
            "all and a kind",
            Self.app("scores"),
            body: Self.freshet(#"{"all":true,"kind":"scores"}"#),
            "400 BadPayload"
        ),
        PushRequestCase("all: false", Self.app("scores"), body: Self.freshet(#"{"all":false}"#), "400 BadPayload"),
        PushRequestCase(
            "a kind alone",
            Self.app("scores"),
            body: Self.freshet(#"{"kind":"scores"}"#),
            "200 scores widgets everywhere kind=scores"
        ),
        PushRequestCase(
            "a pattern that is empty",
            Self.app("scores"),
            body: Self.freshet(#"{"match":{}}"#),
            "200 scores widgets everywhere pattern"
        ),
        PushRequestCase(
            "the path alone names the app",
            Self.app("scores"),
            body: Self.all,
            "200 scores widgets everywhere"
        ),
        PushRequestCase(
            "a topic that agrees",
            [Self.app("scores")[0], "apns-push-type"],
            body: Self.all,
            "200 scores widgets everywhere"
        ),
        PushRequestCase(
            "controls",
            [Self.app("scores")[0]] + Self.controls,
            body: Self.all,
            "200 scores controls everywhere"
        ),
        PushRequestCase(
            "controls by header alone",
            [Self.app("scores")[0], "apns-topic", "apns-push-type: controls"],
            body: Self.all,
            "200 scores controls everywhere"
        ),
        PushRequestCase(
            "a dry run",
            Self.app("scores", "?dry-run=true"),
            body: Self.all,
            "200 scores widgets everywhere dry"
        ),
        PushRequestCase(
            "no dry run",
            Self.app("scores", "?dry-run=false"),
            body: Self.all,
            "200 scores widgets everywhere"
        ),
        PushRequestCase("an empty query", Self.app("scores", "?"), body: Self.all, "200 scores widgets everywhere"),
        PushRequestCase(
            "an escaped bundle id",
            [":path: /v1/apps/com%2Eexample%2escores/pushes", "apns-topic", "apns-push-type"],
            body: Self.all,
            "200 scores widgets everywhere"
        ),
        PushRequestCase(
            "16,384 bytes",
            Self.app("scores"),
            body: Self.all(padded: 16_384),
            "200 scores widgets everywhere"
        ),
        PushRequestCase("16,385 bytes", Self.app("scores"), body: Self.all(padded: 16_385), "413 PayloadTooLarge"),
        PushRequestCase("an app that is not served", Self.app("stranger"), body: Self.all, "400 TopicDisallowed"),
        PushRequestCase("another team's app", Self.app("other"), body: Self.all, "400 TopicDisallowed"),
        PushRequestCase(
            "an app that the key is not for",
            Self.app("weather"),
            body: Self.all,
            key: "TOPICKEY01",
            "400 TopicDisallowed"
        ),
        PushRequestCase(
            "a topic of another app",
            [Self.app("scores")[0], Self.weather],
            body: Self.all,
            "400 BadTopic"
        ),
        PushRequestCase(
            "a topic that is not served",
            [Self.app("scores")[0], "apns-topic: com.example.stranger.push-type.widgets"],
            body: Self.all,
            "400 TopicDisallowed"
        ),
        PushRequestCase(
            "a type that is not handled",
            [Self.app("scores")[0], "apns-topic", "apns-push-type: alert"],
            body: Self.all,
            "400 InvalidPushType"
        ),
        PushRequestCase(
            "a topic and a type that differ",
            [Self.app("scores")[0], "apns-push-type: controls"],
            body: Self.all,
            "400 BadTopic"
        ),
        PushRequestCase(
            "every header",
            Self.app("scores")
                + ["apns-id: \(Self.id)", "apns-priority: 1", "apns-expiration: 0", "apns-collapse-id: a"],
            body: Self.all,
            "200 scores widgets everywhere id=\(Self.id) priority=1 expiration=0 collapse=a"
        ),
    ]

    /// Requests whose client certificate counts: provider tokens are not looked at.
    static let certificates: [PushRequestCase] = [
        PushRequestCase("no authorization", ["authorization"], certificate: .scores, Self.ok),
        PushRequestCase("an empty authorization", ["authorization: "], certificate: .scores, Self.ok),
        PushRequestCase("a forged token", ["authorization: bearer a.b.c"], certificate: .scores, Self.ok),
        PushRequestCase("a token of another team", [], key: "OTHERKEY01", certificate: .scores, Self.ok),
        PushRequestCase(
            "two authorizations all the same",
            ["+authorization: bearer a.b.c"],
            certificate: .scores,
            "400 DuplicateHeaders"
        ),
        PushRequestCase(
            "a topic that the certificate is not for",
            [Self.to(PushWorld.weatherPhone), Self.weather],
            certificate: .scores,
            "400 TopicDisallowed"
        ),
        PushRequestCase(
            "an alert",
            ["apns-push-type: alert", "apns-topic: com.example.scores"],
            certificate: .scoresOfEveryType,
            "200 scores alert upstream"
        ),
        PushRequestCase(
            "a location push, which takes a token",
            ["apns-push-type: location", "apns-topic: com.example.scores.location-query"],
            certificate: .scoresOfEveryType,
            "403 Forbidden"
        ),
    ]

    /// Keys that are for some kinds of requests only.
    static let actions: [PushRequestCase] = [
        PushRequestCase("to a device with a key for devices", [], key: "DEVICEKEY1", Self.ok),
        PushRequestCase("to a device with a key for all else", [], key: "TARGETKEY1", "403 Forbidden"),
        PushRequestCase("to a device with a key for hosts", [], key: "HOSTSKEY01", "403 Forbidden"),
        PushRequestCase(
            "a targeted push with a key for those",
            Self.app("scores"),
            body: Self.all,
            key: "TARGETKEY1",
            "200 scores widgets everywhere"
        ),
        PushRequestCase(
            "a targeted push with a key for devices",
            Self.app("scores"),
            body: Self.all,
            key: "DEVICEKEY1",
            "403 Forbidden"
        ),
        PushRequestCase(
            "a dry run with a key for devices",
            Self.app("scores", "?dry-run=true"),
            body: Self.all,
            key: "DEVICEKEY1",
            "403 Forbidden"
        ),
        PushRequestCase("forbidden before the id", ["apns-id: 1"], key: "TARGETKEY1", "403 Forbidden"),
        PushRequestCase("forbidden before the token", [Self.to("zz")], key: "TARGETKEY1", "403 Forbidden"),
    ]

    /// A push of so many bytes.
    static func padded(to count: Int) -> String {
        let start = #"{"aps":{"content-changed":true},"x":""#
        return start + String(repeating: "x", count: count - start.utf8.count - 2) + #""}"#
    }

    /// A push to every widget of an app.
    static let all = freshet(#"{"all":true}"#)

    private static func all(padded count: Int) -> String {
        Self.all + Self.spaces(count - Self.all.utf8.count)
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    private static func nested(_ depth: Int) -> String {
        let inner = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
        return #"{"aps":{"content-changed":true},"x":\#(inner)}"#
    }

    private static func alternatives(_ count: Int) -> String {
        #""$or":[\#((0..<count).map { #"{"limit":\#($0)}"# }.joined(separator: ","))]"#
    }

    private static func freshet(_ own: String) -> String { #"{"aps":{"content-changed":true},"freshet":\#(own)}"# }

    private static func app(_ name: String, _ query: String = "") -> [String] {
        [":path: /v1/apps/com.example.\(name)/pushes\(query)", "apns-topic", "apns-push-type"]
    }
}

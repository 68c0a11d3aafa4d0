// The rows of one part of Apple's contract. Each has the oddity of the request, the differences of its header list from
// the usual one, and the answer.

import WidgetModel

extension PushRequestCase {
    /// The device token: its form, and its standing.
    static let tokens: [PushRequestCase] = [
        PushRequestCase("a token in lower case", [Self.to(PushWorld.phone.lowercased())], Self.ok),
        PushRequestCase("a token in upper case", [Self.to(PushWorld.phone.uppercased())], Self.ok),
        PushRequestCase("a token of 2 digits", [Self.to(PushWorld.watch)], "200 scores widgets watch"),
        PushRequestCase("a token of 400 digits", [Self.to(PushWorld.tablet)], "200 scores widgets tablet"),
        PushRequestCase("402 digits", [Self.to(PushWorld.tablet + "ef")], "400 BadDeviceToken"),
        PushRequestCase(
            "402 digits to an app that takes any token",
            [Self.to(PushWorld.tablet + "ef"), "apns-topic: com.example.open.push-type.widgets"],
            "400 BadDeviceToken"
        ),
        PushRequestCase("1 digit", [Self.to("0")], "400 BadDeviceToken"),
        PushRequestCase("63 digits", [Self.to(String(PushWorld.phone.dropLast()))], "400 BadDeviceToken"),
        PushRequestCase("65 digits", [Self.to(PushWorld.phone + "0")], "400 BadDeviceToken"),
        PushRequestCase("a letter beyond f", [Self.to("0g")], "400 BadDeviceToken"),
        PushRequestCase(
            "no hex to an app that takes any token",
            [Self.to("zz"), "apns-topic: com.example.open.push-type.widgets"],
            "400 BadDeviceToken"
        ),
        PushRequestCase("a query", [Self.to(PushWorld.phone + "?a=b")], "400 BadDeviceToken"),
        PushRequestCase("a fragment", [Self.to(PushWorld.phone + "#a")], "400 BadDeviceToken"),
        PushRequestCase("escaped digits", [Self.to("%30%30")], "400 BadDeviceToken"),
        PushRequestCase("angle brackets, as NSData printed them", [Self.to("<0a1b>")], "400 BadDeviceToken"),
        PushRequestCase("a space within", [Self.to("0a1b 0a1b")], "400 BadDeviceToken"),
        PushRequestCase("base64", [Self.to("ChsKGw==")], "400 BadDeviceToken"),
        PushRequestCase("digits of another script", [Self.to("٠٠")], "400 BadDeviceToken"),
        PushRequestCase(
            "as long as the app allows",
            [Self.to(PushWorld.weatherPhone), Self.weather],
            "200 weather widgets weather-phone"
        ),
        PushRequestCase(
            "longer than the app allows",
            [Self.to(PushWorld.weatherPhone + "17"), Self.weather, "apns-priority: 7"],
            "400 BadDeviceToken"
        ),

        PushRequestCase("a token that nobody registered", [Self.to(PushWorld.unknown)], "400 BadDeviceToken"),
        PushRequestCase(
            "to an app that takes any token",
            [Self.to(PushWorld.unknown), "apns-topic: com.example.open.push-type.widgets"],
            "200 open widgets a derived host"
        ),
        PushRequestCase(
            "a token of another app",
            [Self.to(PushWorld.weatherPhone)],
            "400 DeviceTokenNotForTopic"
        ),
        PushRequestCase(
            "a token of another team's app",
            [Self.to(PushWorld.otherPhone)],
            "400 DeviceTokenNotForTopic"
        ),
        PushRequestCase("a removed token", [Self.to(PushWorld.removed)], "410 Unregistered 1793638740123"),
        PushRequestCase(
            "a removed token in capitals",
            [Self.to(PushWorld.removed.uppercased())],
            "410 Unregistered 1793638740123"
        ),
        PushRequestCase("a token whose lease ran out", [Self.to(PushWorld.expired)], "410 ExpiredToken 1793638740123"),
        PushRequestCase(
            "a control's token whose lease ran out",
            [Self.to(PushWorld.expired)] + Self.controls,
            "410 ExpiredToken 1793638740123"
        ),
        PushRequestCase(
            "a token whose lease ran out, of another app",
            [Self.to(PushWorld.expired), "apns-topic: com.example.open.push-type.widgets"],
            "400 DeviceTokenNotForTopic"
        ),
        PushRequestCase("a token on its way to another host", [Self.to(PushWorld.moving)], "503 ServiceUnavailable"),
        PushRequestCase(
            "a token that was lost on its way an hour ago",
            [Self.to(PushWorld.lost)],
            "410 Unregistered \(PushWorld.lostAt.milliseconds)"
        ),
        PushRequestCase(
            "a removed token of another app",
            [Self.to(PushWorld.removedOfOther)],
            "400 DeviceTokenNotForTopic"
        ),
        PushRequestCase("a control's token", [Self.to(PushWorld.control)], "400 DeviceTokenNotForTopic"),
        PushRequestCase(
            "a control's token for a controls push",
            [Self.to(PushWorld.control)] + Self.controls,
            "200 scores controls phone / lamp"
        ),
        PushRequestCase("a host's token for a controls push", Self.controls, "400 DeviceTokenNotForTopic"),
        PushRequestCase(
            "an old control's token",
            [Self.to(PushWorld.removed)] + Self.controls,
            "410 Unregistered 1793638740123"
        ),
    ]

    static let topics: [PushRequestCase] = [
        PushRequestCase("no topic", ["apns-topic"], "400 MissingTopic"),
        PushRequestCase("no topic and no type", ["apns-topic", "apns-push-type"], "400 MissingTopic"),
        PushRequestCase("an empty topic", ["apns-topic: "], "400 MissingTopic"),
        PushRequestCase("the topic alone tells the type", ["apns-push-type"], Self.ok),
        PushRequestCase(
            "controls by topic alone",
            [Self.to(PushWorld.control), Self.controls[0], "apns-push-type"],
            "200 scores controls phone / lamp"
        ),
        PushRequestCase(
            "a watch app's topic",
            ["apns-topic: com.example.scores.watchkitapp.push-type.widgets"],
            Self.ok
        ),
        PushRequestCase("an extension's topic without a suffix", ["apns-topic: com.example.scores.extension"], Self.ok),
        PushRequestCase(
            "it carries controls too",
            [Self.to(PushWorld.control), "apns-topic: com.example.scores.extension", "apns-push-type: controls"],
            "200 scores controls phone / lamp"
        ),
        PushRequestCase(
            "but does not tell the type",
            ["apns-topic: com.example.scores.extension", "apns-push-type"],
            "400 InvalidPushType"
        ),
        PushRequestCase("a space", ["apns-topic: com.example scores.push-type.widgets"], "400 BadTopic"),
        PushRequestCase("a slash", ["apns-topic: com/example.push-type.widgets"], "400 BadTopic"),
        PushRequestCase("an umlaut", ["apns-topic: cöm.example.push-type.widgets"], "400 BadTopic"),
        PushRequestCase("a colon", ["apns-topic: topic:com.example"], "400 BadTopic"),
        PushRequestCase(
            "a topic of 280 bytes, not ours",
            ["apns-topic: \(String(repeating: "a", count: 262)).push-type.widgets"],
            "400 TopicDisallowed"
        ),
        PushRequestCase(
            "a topic of 281 bytes",
            ["apns-topic: \(String(repeating: "a", count: 263)).push-type.widgets"],
            "400 BadTopic"
        ),
        PushRequestCase("the bundle id alone", ["apns-topic: com.example.scores"], "400 BadTopic"),
        PushRequestCase("the suffix alone", ["apns-topic: .push-type.widgets"], "400 BadTopic"),
        PushRequestCase(
            "the suffix without its dot",
            ["apns-topic: com.example.scorespush-type.widgets"],
            "400 BadTopic"
        ),
        PushRequestCase("widget", ["apns-topic: com.example.scores.push-type.widget"], "400 BadTopic"),
        PushRequestCase("a suffix in capitals", ["apns-topic: com.example.scores.push-type.Widgets"], "400 BadTopic"),
        PushRequestCase(
            "the suffix of controls",
            ["apns-topic: com.example.scores.push-type.controls"],
            "400 BadTopic"
        ),
        PushRequestCase("the suffix of voip", ["apns-topic: com.example.scores.voip"], "400 BadTopic"),
        PushRequestCase(
            "a stranger's suffix of controls",
            ["apns-topic: com.example.stranger.push-type.controls"],
            "400 BadTopic"
        ),
        PushRequestCase("a space after it", ["apns-topic: com.example.scores.push-type.widgets "], "400 BadTopic"),
        PushRequestCase(
            "an app that is not served",
            ["apns-topic: com.example.stranger.push-type.widgets"],
            "400 TopicDisallowed"
        ),
        PushRequestCase(
            "a bundle id in capitals",
            ["apns-topic: COM.EXAMPLE.SCORES.push-type.widgets"],
            "400 TopicDisallowed"
        ),
        PushRequestCase(
            "another team's app",
            [Self.to(PushWorld.otherPhone), "apns-topic: com.example.other.push-type.widgets"],
            "400 TopicDisallowed"
        ),
        PushRequestCase(
            "a topic that the key is not for",
            [Self.to(PushWorld.weatherPhone), Self.weather],
            key: "TOPICKEY01",
            "400 TopicDisallowed"
        ),
        PushRequestCase("the topic that the key is for", [], key: "TOPICKEY01", Self.ok),
        PushRequestCase(
            "another topic of the same app",
            [Self.to(PushWorld.control)] + Self.controls,
            key: "TOPICKEY01",
            "400 TopicDisallowed"
        ),
    ]

    static let types: [PushRequestCase] = [
        PushRequestCase("an empty type", ["apns-push-type: "], "400 InvalidPushType"),
        PushRequestCase("widget, as some notes print it", ["apns-push-type: widget"], "400 InvalidPushType"),
        PushRequestCase("Widgets", ["apns-push-type: Widgets"], "400 InvalidPushType"),
        PushRequestCase("control", ["apns-push-type: control"], "400 InvalidPushType"),
        PushRequestCase("a type that is none", ["apns-push-type: smoke-signal"], "400 InvalidPushType"),
        PushRequestCase("a space after the type", ["apns-push-type: widgets "], "400 InvalidPushType"),
        PushRequestCase("alert", ["apns-push-type: alert", Self.bare], "400 InvalidPushType"),
        PushRequestCase("background", ["apns-push-type: background", Self.bare], "400 InvalidPushType"),
        PushRequestCase("complication", Self.other("complication", "complication"), "400 InvalidPushType"),
        PushRequestCase("fileprovider", Self.other("fileprovider", "pushkit.fileprovider"), "400 InvalidPushType"),
        PushRequestCase("liveactivity", Self.other("liveactivity", "push-type.liveactivity"), "400 InvalidPushType"),
        PushRequestCase("location", Self.other("location", "location-query"), "400 InvalidPushType"),
        PushRequestCase("mdm", ["apns-push-type: mdm", Self.bare], "400 InvalidPushType"),
        PushRequestCase("pushtotalk", Self.other("pushtotalk", "voip-ptt"), "400 InvalidPushType"),
        PushRequestCase("voip", Self.other("voip", "voip"), "400 InvalidPushType"),
        PushRequestCase("a bare topic without a type", ["apns-push-type", Self.bare], "400 InvalidPushType"),
        PushRequestCase(
            "a voip topic without a type",
            ["apns-push-type", "apns-topic: com.example.scores.voip"],
            "400 InvalidPushType"
        ),
    ]

    /// The other types, where pushes may be of any.
    static let relayedTypes: [PushRequestCase] = [
        PushRequestCase("alert", ["apns-push-type: alert", Self.bare], everyType: true, "200 scores alert upstream"),
        PushRequestCase(
            "a bare topic without a type",
            ["apns-push-type", Self.bare],
            everyType: true,
            "200 scores alert upstream"
        ),
        PushRequestCase(
            "alert with a suffix",
            Self.other("alert", "voip"),
            everyType: true,
            "400 BadTopic"
        ),
        PushRequestCase(
            "voip without its suffix",
            ["apns-push-type: voip", Self.bare],
            everyType: true,
            "400 BadTopic"
        ),
        PushRequestCase(
            "background, and no priority",
            ["apns-push-type: background", Self.bare],
            everyType: true,
            "200 scores background upstream"
        ),
        PushRequestCase(
            "background, power-aware",
            ["apns-push-type: background", Self.bare, "apns-priority: 5"],
            everyType: true,
            "200 scores background upstream priority=5"
        ),
        PushRequestCase(
            "background, immediate",
            ["apns-push-type: background", Self.bare, "apns-priority: 10"],
            everyType: true,
            "400 BadPriority"
        ),
        PushRequestCase(
            "alert, immediate",
            ["apns-push-type: alert", Self.bare, "apns-priority: 10"],
            everyType: true,
            "200 scores alert upstream priority=10"
        ),
        PushRequestCase(
            "LiveActivity, as Apple's own page has it",
            Self.other("LiveActivity", "push-type.liveactivity"),
            everyType: true,
            "200 scores liveactivity upstream"
        ),
        PushRequestCase(
            "complication",
            Self.other("complication", "complication"),
            everyType: true,
            "200 scores complication upstream"
        ),
        PushRequestCase(
            "a voip push of 5,120 bytes",
            Self.other("voip", "voip"),
            body: Self.padded(to: 5120),
            everyType: true,
            "200 scores voip upstream"
        ),
        PushRequestCase(
            "a voip push of 5,121 bytes",
            Self.other("voip", "voip"),
            body: Self.padded(to: 5121),
            everyType: true,
            "413 PayloadTooLarge"
        ),
        PushRequestCase(
            "an alert of 4,097 bytes",
            ["apns-push-type: alert", Self.bare],
            body: Self.padded(to: 4097),
            everyType: true,
            "413 PayloadTooLarge"
        ),
    ]

    static func to(_ token: String) -> String { ":path: /3/device/\(token)" }

    private static func other(_ type: String, _ suffix: String) -> [String] {
        ["apns-push-type: \(type)", "apns-topic: com.example.scores.\(suffix)"]
    }

    static let weather = "apns-topic: com.example.weather.push-type.widgets"
    private static let bare = "apns-topic: com.example.scores"
    static let controls = ["apns-topic: com.example.scores.push-type.controls", "apns-push-type: controls"]
}

import APNSWire
import Testing

/// The advice in a refusal, beside APNs' reason: the change to make.
@Suite struct PushAdviceTests {
    private static let targeted = ":path: /v1/apps/com.example.scores/pushes"

    private static let rows: [(changes: [String], detail: String)] = [
        ([":path: /3/devices/77"], "pushes go to /3/device/<token> and /v1/apps/<bundle-id>/pushes"),
        (["\(targeted)?dry-run=1"], "the query of a targeted push must be dry-run=true, dry-run=false or empty"),
        (["\(targeted)?maxMatched=5"], "the query of a targeted push must be dry-run=true, dry-run=false or empty"),
        ([":method: PUT"], "send a push with POST"),
        ([":path: /3/device/"], "the path ends before the push token, as in /3/device/<token>"),
        (["apns-id: 7"], "apns-id is not a UUID: 8-4-4-4-12 hex digits"),
        ([":path: /3/device/xyzw"], "the push token in the path is not in hex"),
        ([":path: /3/device/777"], "the push token in the path has an odd number of digits"),
        ([":path: /3/device/7777"], "no host is registered with this push token"),
        (["apns-topic"], "apns-topic is missing: send the bundle id with .push-type.widgets or .push-type.controls"),
        (["apns-topic: a b"], "apns-topic is not a bundle id with a suffix"),
        (["apns-push-type: Widgets"], "apns-push-type must be widgets or controls, or a type that the app relays"),
        (
            ["apns-push-type", "apns-topic: com.example.stranger"],
            "apns-push-type is missing, and apns-topic does not end in .push-type.widgets or .push-type.controls"
        ),
        (
            ["apns-topic: com.example.stranger.push-type.widgets"],
            "the credentials are not for this topic, or the gateway has no app with it"
        ),
        (["apns-priority: 7"], "apns-priority must be 10, 5 or 1, and not 10 for background"),
        (["apns-expiration: x"], "apns-expiration must be a time in whole UNIX seconds, or 0"),
        (["apns-collapse-id: \(String(repeating: "c", count: 65))"], "apns-collapse-id has 65 bytes, more than 64"),
    ]

    @Test(arguments: rows.indices)
    func `a refusal says what to change`(index: Int) throws {
        let row = Self.rows[index]
        let verdict = PushRequestCase("", row.changes, "").verdict(in: try PushWorld())
        #expect(verdict.detail == row.detail, "\(verdict)")
    }

    /// Those about a token say when it ended; a sequence is told by its status alone here.
    @Test(arguments: PushRuleCase.heads + PushRuleCase.fields + PushRuleCase.bodies + PushRuleCase.devices.prefix(3))
    func `every rule of a push has a sentence`(row: PushRuleCase) throws {
        #expect(try row.broken.outcome().detail != nil)
    }
}

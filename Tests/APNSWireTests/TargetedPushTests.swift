import APNSWire
import Testing
import WidgetModel

@Suite struct TargetedPushTests {
    private var targeted: PushFixture {
        PushFixture.full.with(":path", "/v1/apps/com.example.scores/pushes").with("apns-topic", nil)
            .with("apns-push-type", nil)
    }

    @Test func `the path alone names the app`() throws {
        let push = try self.targeted.validate()
        #expect(push.app == 7)
        #expect(push.type == .widgets)
    }

    @Test(
        arguments: [
            ("/v1/apps/com.example.scores/pushes", false), ("/v1/apps/com.example.scores/pushes?", false),
            ("/v1/apps/com.example.scores/pushes?dry-run=false", false),
            ("/v1/apps/com.example.scores/pushes?dry-run=true", true),
            ("/v1/apps/com%2Eexample%2escores/pushes", false),
        ]
    )
    func `these paths are targeted pushes`(path: String, isDryRun: Bool) throws {
        guard case .targeted(_, let answer) = try self.targeted.with(":path", path).validate().target else {
            Issue.record("not a targeted push")
            return
        }
        #expect(answer == isDryRun)
    }

    @Test(
        arguments: [
            ("/v1/apps/com.example.scores/pushes?dry-run=yes", Rejection.badPath),
            ("/v1/apps/com.example.scores/pushes?dry-run", .badPath),
            ("/v1/apps/com.example.scores/pushes/", .badPath), ("/v1/apps//pushes", .badPath),
            ("/v1/apps/com.example.other/pushes", .topicDisallowed),
            ("/v1/apps/com.example%2/pushes", .topicDisallowed), ("/v1/apps/%ff/pushes", .topicDisallowed),
        ]
    )
    func `these are not`(path: String, reason: Rejection) {
        #expect(self.targeted.with(":path", path).rejection == reason)
    }

    @Test func `topic and type must agree with the path where they are present`() {
        let fixture = self.targeted
        #expect(fixture.with("apns-topic", "com.example.scores.push-type.widgets").rejection == nil)
        #expect(fixture.with("apns-topic", "com.example.scores.push-type.controls").rejection == nil)
        #expect(fixture.with("apns-push-type", "controls").rejection == nil)
        #expect(fixture.with("apns-push-type", "alert").rejection == .invalidPushType)
        #expect(fixture.with("apns-topic", "com.example.weather.push-type.widgets").rejection == .badTopic)
        #expect(fixture.with("apns-topic", "com.example.other.push-type.widgets").rejection == .topicDisallowed)
        let both = fixture.with("apns-topic", "com.example.scores.push-type.widgets")
        #expect(both.with("apns-push-type", "controls").rejection == .badTopic)
    }

    @Test(
        arguments: [
            ("/v1/pushes/1", PushRoute.other), ("/v1/", .other), ("/v1", .unknown), ("", .unknown),
            ("/v1/apps/", .other), ("/v1/apps/x", .other), ("/v1/apps/x/reload", .other),
            ("/v1/apps/x/pushesx", .other), ("/3/device", .missingDeviceToken), ("/3/device/", .missingDeviceToken),
            ("/3/devicex", .unknown), ("/4/broadcasts/apps", .unknown), ("/1/apps", .unknown),
            ("/1/apps/", .channels(nil)),
            ("/v1/apps/x/pushes?", .targeted(bundle: ByteRange(9..<10), isDryRun: false)),
            ("/v1/apps/x/pushes?dry-run=1", .unknown), ("/v1/apps/x/pushes/bulk?", .other),
            ("/v1/apps/x/pushes/bulk", .bulk(path: ByteRange(0..<17))),
            ("/3/device/zz", .device(token: ByteRange(10..<12))),
            ("/v1/apps/x/pushes?dry-run=true", .targeted(bundle: ByteRange(9..<10), isDryRun: true)),
        ]
    )
    func `a path is classified`(path: String, route: PushRoute) {
        let bytes = Array(path.utf8)
        #expect(PushRoute(path: ByteRange(0..<bytes.count), in: bytes.span) == route)
    }

    @Test(arguments: PushPath.all)
    func `each path of the list is found by its own kind`(path: PushPath) {
        let bytes = Array(path.description.replacing("{", with: "").replacing("}", with: "").utf8)
        let range = ByteRange(0..<bytes.count)
        let kind: PushPath.Kind? =
            switch PushRoute(path: range, in: bytes.span) {
            case .device: .device
            case .targeted: .targeted
            case .bulk: .bulk
            case .channels(let route): route?.path.kind
            case .missingDeviceToken, .other, .unknown: nil
            }
        #expect(kind == path.kind && PushPath[path.kind].kind == path.kind)
        // `PushValidation` takes no other method of a push.
        if [.device, .targeted, .bulk].contains(path.kind) { #expect(path.methods == ["POST"]) }
    }

    @Test(
        arguments: [
            ("a", "a"), ("com%2eexample", "com.example"), ("%41%2D", "A-"), ("", nil), ("a%2", nil), ("a%", nil),
            ("a%zz", nil), ("a%2fb", nil), ("a b", nil), ("%00", nil), (String(repeating: "a", count: 256), nil),
        ] as [(String, String?)]
    )
    func `a bundle id is decoded`(segment: String, bundle: String?) {
        let bytes = Array(segment.utf8)
        #expect(PushRoute.bundle(decoding: ByteRange(0..<bytes.count), in: bytes.span)?.rawValue == bundle)
    }
}

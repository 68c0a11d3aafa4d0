import APNSWire
import Testing
import WidgetModel

@Suite struct PushValidationTests {
    @Test func `a full request comes out with every field typed`() throws {
        let fixture = PushFixture.full
        let push = try fixture.validate()
        #expect(push.app == 7)
        #expect(push.type == .widgets)
        #expect(push.id == PushID("123e4567-e89b-12d3-a456-4266554400a0"))
        #expect(fixture.text(push.idText) == "123e4567-e89b-12d3-a456-4266554400a0")
        #expect(push.priority == .normal)
        #expect(push.expiration == 1_700_000_000)
        #expect(fixture.text(push.collapseID) == "game-1")
        guard case .device(let token) = push.target else {
            Issue.record("not a device push")
            return
        }
        #expect(fixture.text(token) == PushFixture.token)
    }

    @Test func `a request with nothing optional is accepted`() throws {
        var fixture = PushFixture.full
        for name in [
            "apns-id", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id", "content-type",
            "content-length", ":authority",
        ] { fixture.set(name, nil) }
        let push = try fixture.validate()
        #expect(push.type == .widgets)
        #expect(push.id == nil && push.idText == nil)
        #expect(push.priority == nil && push.expiration == nil && push.collapseID == nil)
    }

    @Test(
        arguments: [
            (":method", "GET", Rejection.methodNotAllowed), (":method", "post", .methodNotAllowed),
            (":path", "/", .badPath), (":path", "/4/device/00", .badPath), (":path", "/3/devices", .badPath),
            (":path", "/3/device/", .missingDeviceToken), (":path", "/3/device", .missingDeviceToken),
            (":path", "/3/device/00/11", .badPath), (":path", "/v1/pushes/1", .badPath),
            (":path", "/4/broadcasts/apps/com.example.scores", .badPath),
            ("authorization", "", .missingProviderToken),
            ("apns-id", "", .badMessageID), ("apns-id", "123e4567e89b12d3a4564266554400a0", .badMessageID),
            (":path", "/3/device/0", .badDeviceToken), (":path", "/3/device/0g", .badDeviceToken),
            (":path", "/3/device/00?x", .badDeviceToken), (":path", "/3/device/%30%30", .badDeviceToken),
            ("apns-topic", "", .missingTopic), ("apns-topic", "com.example scores.push-type.widgets", .badTopic),
            ("apns-topic", String(repeating: "a", count: 281), .badTopic),
            ("apns-push-type", "", .invalidPushType), ("apns-push-type", "widget", .invalidPushType),
            ("apns-push-type", "Widgets", .invalidPushType), ("apns-push-type", "alert", .invalidPushType),
            ("apns-push-type", "controls", .badTopic), ("apns-topic", "com.example.scores.voip", .badTopic),
            ("apns-topic", ".push-type.widgets", .badTopic), ("apns-topic", "com.example.scores", .badTopic),
            ("apns-topic", "com.example.other.push-type.widgets", .topicDisallowed),
            ("apns-priority", "", .badPriority), ("apns-priority", "0", .badPriority),
            ("apns-priority", "2", .badPriority), ("apns-priority", "11", .badPriority),
            ("apns-priority", "05", .badPriority), ("apns-priority", " 5", .badPriority),
            ("apns-expiration", "", .badExpirationDate), ("apns-expiration", "-1", .badExpirationDate),
            ("apns-expiration", "1.5", .badExpirationDate), ("apns-expiration", "soon", .badExpirationDate),
            ("apns-expiration", "9223372036854775808", .badExpirationDate),
            ("apns-collapse-id", String(repeating: "c", count: 65), .badCollapseID),
        ]
    )
    func `one wrong header gives its reason`(name: String, value: String, reason: Rejection) {
        #expect(PushFixture.full.with(name, value).rejection == reason)
    }

    @Test(
        arguments: [
            (":path", "/3/device/00"), (":path", "/3/device/AbCdEf"),
            (":path", "/3/device/" + String(repeating: "f", count: 400)),
            ("apns-priority", "1"), ("apns-priority", "10"), ("apns-expiration", "0"),
            ("apns-expiration", "9223372036854775807"), ("apns-collapse-id", String(repeating: "c", count: 64)),
            ("apns-collapse-id", ""), ("apns-id", "123E4567-E89B-12D3-A456-4266554400A0"),
            ("apns-topic", "com.example.scores.watchkitapp.push-type.widgets"), ("apns-topic", "scores"),
            ("content-type", "application/x-www-form-urlencoded"), ("user-agent", "curl/8"),
            ("apns-unheard-of", "x"),
        ]
    )
    func `what is just inside the rules is accepted`(name: String, value: String) {
        #expect(PushFixture.full.with(name, value).rejection == nil)
    }

    @Test func `a token may be as long as the limit and no longer`() {
        let longer = PushFixture.full.with(":path", "/3/device/" + String(repeating: "f", count: 402))
        #expect(longer.rejection == .badDeviceToken)
        var roomy = longer
        roomy.limits.tokenDigitsMax = 402
        #expect(roomy.rejection == nil)
    }

    @Test(
        arguments: [(0, Rejection.payloadEmpty), (1, nil), (4096, nil), (4097, .payloadTooLarge)] as [(Int, Rejection?)]
    )
    func `a body has 1 to 4096 bytes`(bytes: Int, reason: Rejection?) {
        var fixture = PushFixture.full
        fixture.bodyBytes = bytes
        #expect(fixture.rejection == reason)
    }

    @Test(
        arguments: [
            "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id",
            "apns-channel-id", "authorization",
        ]
    )
    func `a header that counts may come once`(name: String) {
        var fixture = PushFixture.full
        fixture.set(
            name,
            fixture.lines.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) } ?? "x"
        )
        fixture.lines += fixture.lines.filter { $0.name == name }
        #expect(fixture.rejection == .duplicateHeaders)
    }

    @Test func `other headers may come twice`() {
        var fixture = PushFixture.full.with("accept", "*/*")
        fixture.lines += fixture.lines.filter { ["accept", "content-type"].contains($0.name) }
        #expect(fixture.rejection == nil)
    }

    @Test func `a certificate stands in for a token`() {
        var fixture = PushFixture.full.with("authorization", nil)
        #expect(fixture.rejection == .missingProviderToken)
        fixture.hasCertificate = true
        #expect(fixture.rejection == nil)
    }

    @Test func `a control push needs the controls topic`() throws {
        let fixture = PushFixture.full.with("apns-push-type", "controls")
            .with("apns-topic", "com.example.weather.push-type.controls")
        let push = try fixture.validate()
        #expect(push.type == .controls)
        #expect(push.app == 3)
    }

    @Test func `an extra topic without a suffix takes its type from the header alone`() throws {
        let fixture = PushFixture.full.with("apns-topic", "scores")
        #expect(try fixture.with("apns-push-type", "controls").validate().type == .controls)
        #expect(fixture.with("apns-push-type", nil).rejection == .invalidPushType)
    }

    @Test func `a key for some topics may push to those only`() {
        var fixture = PushFixture.full
        fixture.topics = TopicTable(
            [TopicTable.App(number: 7, bundle: PushFixture.app)],
            limitedTo: ["com.example.scores.push-type.controls"]
        )
        #expect(fixture.rejection == .topicDisallowed)
        let other = fixture.with("apns-topic", "com.example.scores.push-type.controls").with("apns-push-type", nil)
        #expect(other.rejection == nil)
    }
}

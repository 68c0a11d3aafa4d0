import APNSWire
import Testing
import WidgetModel

/// Every push type of APNs with its topic, priorities and body, for apps that take it.
@Suite struct PushTypeTests {
    private static let everything = TopicTable([
        TopicTable.App(number: 7, bundle: PushFixture.app, types: PushTypeSet(PushType.allCases))
    ])

    private func fixture(_ type: PushType, _ topics: TopicTable = everything) -> PushFixture {
        var fixture = PushFixture.full.with("apns-push-type", type.name)
            .with("apns-topic", Topic.of(PushFixture.app, type: type))
        fixture.topics = topics
        return fixture
    }

    @Test(
        arguments: [
            (.alert, "com.example.scores"), (.background, "com.example.scores"),
            (.complication, "com.example.scores.complication"), (.controls, "com.example.scores.push-type.controls"),
            (.fileprovider, "com.example.scores.pushkit.fileprovider"),
            (.liveactivity, "com.example.scores.push-type.liveactivity"),
            (.location, "com.example.scores.location-query"), (.mdm, "com.example.scores"),
            (.pushtotalk, "com.example.scores.voip-ptt"), (.voip, "com.example.scores.voip"),
            (.widgets, "com.example.scores.push-type.widgets"),
        ] as [(PushType, String)]
    )
    func `each type has its topic`(type: PushType, topic: String) throws {
        #expect(Topic.of(PushFixture.app, type: type) == topic)
        #expect(try self.fixture(type).validate().type == type)
    }

    @Test(arguments: PushType.allCases, PushType.allCases)
    func `a type goes with topics of its own suffix only`(type: PushType, other: PushType) {
        let topic = Topic.of(PushFixture.app, type: other)
        let isRight = topic == Topic.of(PushFixture.app, type: type)
        #expect(self.fixture(type).with("apns-topic", topic).rejection == (isRight ? nil : .badTopic))
    }

    @Test(arguments: PushType.allCases)
    func `a topic tells the type where the header is absent`(type: PushType) throws {
        let isBare = Topic.suffix(of: type).utf8CodeUnitCount == 0
        let push = try self.fixture(type).with("apns-push-type", nil).validate()
        #expect(push.type == (isBare ? .alert : type))
    }

    @Test(arguments: PushType.allCases)
    func `a type that no app takes is refused as if there were no such type`(type: PushType) {
        let isHandled = type == .widgets || type == .controls
        #expect(self.fixture(type, PushFixture.topics).rejection == (isHandled ? nil : .invalidPushType))
        let untold = self.fixture(type, PushFixture.topics).with("apns-push-type", nil)
        #expect(untold.rejection == (isHandled ? nil : .invalidPushType))
    }

    @Test(arguments: PushType.allCases, ["1", "5", "10"])
    func `a background push may not be immediate`(type: PushType, priority: String) {
        let isWrong = type == .background && priority == "10"
        #expect(self.fixture(type).with("apns-priority", priority).rejection == (isWrong ? .badPriority : nil))
    }

    @Test(arguments: PushType.allCases, [4096, 4097, 5120, 5121])
    func `a voip push may bring more`(type: PushType, bytes: Int) {
        var fixture = self.fixture(type)
        fixture.bodyBytes = bytes
        #expect(fixture.rejection == (bytes <= (type == .voip ? 5120 : 4096) ? nil : .payloadTooLarge))
    }

    @Test(
        arguments: [
            ("Liveactivity", nil), ("LiveActivity", nil), ("LIVEACTIVITY", nil), ("Widgets", .invalidPushType),
            ("liveactivitx", .invalidPushType), ("Alert", .invalidPushType),
        ] as [(String, Rejection?)]
    )
    func `only the type that Apple spells in several ways is read so`(name: String, reason: Rejection?) {
        #expect(self.fixture(.liveactivity).with("apns-push-type", name).rejection == reason)
    }

    @Test func `an app's own bound on its tokens comes before the gateway's`() {
        var fixture = PushFixture.full.with(":path", "/3/device/" + String(repeating: "f", count: 66))
        fixture.topics = TopicTable([TopicTable.App(number: 7, bundle: PushFixture.app, tokenDigitsMax: 64)])
        #expect(fixture.rejection == .badDeviceToken)
        #expect(fixture.with(":path", "/3/device/" + String(repeating: "f", count: 64)).rejection == nil)
        fixture.topics = TopicTable([TopicTable.App(number: 7, bundle: PushFixture.app, tokenDigitsMax: 500)])
        #expect(fixture.with(":path", "/3/device/" + String(repeating: "f", count: 500)).rejection == nil)
        #expect(fixture.with(":path", "/3/device/" + String(repeating: "f", count: 502)).rejection == .badDeviceToken)
    }
}

import APNSWire
import Testing
import WidgetModel

@Suite struct PushCheckOrderTests {
    /// A change that violates one check and, as far as that can be, no other.
    private static func violate(_ check: PushCheck, _ fixture: inout PushFixture) {
        switch check {
        case .repeatedHeaders: fixture.lines += fixture.lines.filter { $0.name == "apns-priority" }
        case .method: fixture.set(":method", "GET")
        case .path: fixture.set(":path", "/nowhere")
        case .tokenPresent: fixture.set(":path", "/3/device/")
        case .credentialsPresent: fixture.set("authorization", nil)
        case .id: fixture.set("apns-id", "no id")
        case .tokenForm: fixture.set(":path", "/3/device/xyz")
        case .topicPresent: fixture.set("apns-topic", nil)
        case .topicForm: fixture.set("apns-topic", "no topic")
        case .pushType: fixture.set("apns-push-type", "smoke-signal")
        case .topicSuffix: fixture.set("apns-topic", "com.example.scores.push-type.controls")
        case .topicAllowed: fixture.topics = TopicTable([])
        case .priority: fixture.set("apns-priority", "7")
        case .expiration: fixture.set("apns-expiration", "never")
        case .collapseID: fixture.set("apns-collapse-id", String(repeating: "x", count: 65))
        case .bodyPresent: fixture.bodyBytes = 0
        case .bodySize: fixture.bodyBytes = 5000
        }
    }

    private static func reason(_ check: PushCheck) -> Rejection {
        switch check {
        case .repeatedHeaders: .duplicateHeaders
        case .method: .methodNotAllowed
        case .path: .badPath
        case .tokenPresent: .missingDeviceToken
        case .credentialsPresent: .missingProviderToken
        case .id: .badMessageID
        case .tokenForm: .badDeviceToken
        case .topicPresent: .missingTopic
        case .topicForm, .topicSuffix: .badTopic
        case .pushType: .invalidPushType
        case .topicAllowed: .topicDisallowed
        case .priority: .badPriority
        case .expiration: .badExpirationDate
        case .collapseID: .badCollapseID
        case .bodyPresent: .payloadEmpty
        case .bodySize: .payloadTooLarge
        }
    }

    /// Checks that look at one thing in two ways, so that no request can violate both.
    private static let exclusive: Set<Set<PushCheck>> = [
        [.path, .tokenPresent], [.path, .tokenForm], [.tokenPresent, .tokenForm], [.topicPresent, .topicForm],
        [.topicPresent, .topicSuffix], [.topicForm, .topicSuffix], [.bodyPresent, .bodySize],
    ]

    @Test(arguments: PushCheck.allCases)
    func `a request that violates one check gets its reason`(check: PushCheck) {
        var fixture = PushFixture.full
        Self.violate(check, &fixture)
        #expect(fixture.rejection == Self.reason(check))
    }

    @Test(arguments: PushCheck.allCases, PushCheck.allCases)
    func `a request that violates two checks gets the earlier one's reason`(first: PushCheck, second: PushCheck) {
        guard first.rawValue < second.rawValue, !Self.exclusive.contains([first, second]) else { return }
        var fixture = PushFixture.full
        // The later check first: what both change, the earlier one then has as it wants it.
        Self.violate(second, &fixture)
        Self.violate(first, &fixture)
        #expect(fixture.rejection == Self.reason(first))
    }
}

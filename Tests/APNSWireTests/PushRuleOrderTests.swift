import APNSWire
import TestSupport
import Testing
import WidgetModel

/// The rules that a request's head alone can break, and which of two is told.
@Suite struct PushRuleOrderTests {
    /// How a request breaks one rule and, as far as that can be, no other.
    struct Violation: Sendable, CustomTestStringConvertible {
        let rule: PushRule
        let reason: Rejection
        let change: @Sendable (inout PushFixture) -> Void
        /// The part that it looks at: two rules about one part cannot both be broken, or the one hides the other.
        let subject: String

        init(
            _ rule: PushRule,
            _ reason: Rejection,
            of subject: String,
            _ change: @escaping @Sendable (inout PushFixture) -> Void
        ) {
            self.rule = rule
            self.reason = reason
            self.subject = subject
            self.change = change
        }

        var testDescription: String { "\(self.rule)" }

        func broken() -> PushFixture {
            var fixture = PushFixture.full
            self.change(&fixture)
            return fixture
        }
    }

    static let all: [Violation] = [
        Violation(.repeatedHeaders, .duplicateHeaders, of: "repeats") { fixture in
            fixture.lines += fixture.lines.filter { $0.name == "content-type" || $0.name == "apns-priority" }
        },
        Violation(.method, .methodNotAllowed, of: "method") { $0.set(":method", "GET") },
        Violation(.path, .badPath, of: "path") { $0.set(":path", "/nowhere") },
        Violation(.deviceTokenPresent, .missingDeviceToken, of: "path") { $0.set(":path", "/3/device/") },
        Violation(.credentialsPresent, .missingProviderToken, of: "credentials") { $0.set("authorization", nil) },
        Violation(.keyEnvironment, .badEnvironmentKeyInToken, of: "topic") { $0.topics = PushFixture.otherEnvironment },
        Violation(.id, .badMessageID, of: "id") { $0.set("apns-id", "no id") },
        Violation(.deviceTokenForm, .badDeviceToken, of: "path") { $0.set(":path", "/3/device/xyz") },
        Violation(.deviceTokenLength, .badDeviceToken, of: "path") { $0.limits.tokenDigitsMax = 62 },
        Violation(.topicPresent, .missingTopic, of: "topic") { $0.set("apns-topic", nil) },
        Violation(.topicForm, .badTopic, of: "topic") { $0.set("apns-topic", "no topic") },
        Violation(.pushType, .invalidPushType, of: "type") { $0.set("apns-push-type", "smoke-signal") },
        Violation(.pushTypeHandled, .invalidPushType, of: "type") { $0.set("apns-push-type", "voip") },
        Violation(.topicSuffix, .badTopic, of: "topic") {
            $0.set("apns-topic", "com.example.scores.push-type.controls")
        },
        Violation(.topicOfTeam, .topicDisallowed, of: "topic") { $0.topics = TopicTable([]) },
        Violation(.priority, .badPriority, of: "priority") { $0.set("apns-priority", "7") },
        Violation(.expiration, .badExpirationDate, of: "expiration") { $0.set("apns-expiration", "never") },
        Violation(.collapseID, .badCollapseID, of: "collapse id") {
            $0.set("apns-collapse-id", String(repeating: "x", count: 65))
        },
        Violation(.bodyPresent, .payloadEmpty, of: "body") { $0.bodyBytes = 0 },
        Violation(.bodySize, .payloadTooLarge, of: "body") { $0.bodyBytes = 5000 },
    ]

    @Test func `they stand in the order of the rules`() {
        #expect(Self.all.map(\.rule.rawValue) == Self.all.map(\.rule.rawValue).sorted())
    }

    @Test(arguments: all)
    func `a request that breaks one rule gets its reason`(violation: Violation) {
        #expect(violation.broken().rejection == violation.reason)
    }

    @Test(arguments: all.indices, all.indices)
    func `a request that breaks two rules gets the earlier one's reason`(first: Int, second: Int) {
        let (earlier, later) = (Self.all[first], Self.all[second])
        guard first < second, earlier.subject != later.subject else { return }
        var fixture = later.broken()
        earlier.change(&fixture)
        #expect(fixture.rejection == earlier.reason)
    }

    @Test func `a suffix is judged before whose topic it is, and after its form`() {
        let stranger = "com.example.other.push-type.controls"
        #expect(PushFixture.full.with("apns-topic", stranger).rejection == .badTopic)
        #expect(PushFixture.full.with("apns-topic", "no topic.push-type.controls").rejection == .badTopic)
        #expect(
            PushFixture.full.with("apns-topic", stranger).with("apns-push-type", "voip").rejection == .invalidPushType
        )
    }
}

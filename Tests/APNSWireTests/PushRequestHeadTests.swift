import APNSWire
import Testing
import WidgetModel

@Suite struct PushRequestHeadTests {
    @Test(
        arguments: [
            (":method", PushRequestHead.Field.method), (":path", .path), ("authorization", .authorization),
            ("apns-id", .id), ("apns-topic", .topic), ("apns-push-type", .pushType), ("apns-priority", .priority),
            ("apns-expiration", .expiration), ("apns-collapse-id", .collapseID), ("apns-channel-id", .channelID),
            ("", nil), ("host", nil), ("apns-ie", nil), (":schema", nil), ("apns-topix", nil), ("apns-topicx", nil),
            ("content-length", nil), ("authorizatiom", nil), ("APNS-ID", nil), ("user-agent", nil),
        ] as [(String, PushRequestHead.Field?)]
    )
    func `a name stands for a field`(name: String, field: PushRequestHead.Field?) {
        #expect(PushRequestHead.field(named: Array(name.utf8).span) == field)
    }

    @Test func `what has not come is nil and what came empty is empty`() {
        let (head, _) = PushFixture([("apns-topic", "")]).received
        #expect(head.topic?.isEmpty == true)
        #expect(head.id == nil && head.path == nil && head.method == nil && head.authorization == nil)
        #expect(!head.isRepeating)
    }

    @Test(
        arguments: [
            ("POST", PushRequestHead.Method.post), ("GET", .get), ("PUT", .put), ("DELETE", .delete),
            ("HEAD", .other), ("post", .other), ("", .other), ("POSTS", .other),
        ]
    )
    func `a method is known by its exact spelling`(text: String, method: PushRequestHead.Method) {
        #expect(PushFixture([(":method", text)]).received.head.method == method)
    }

    @Test func `the head is small and plain`() {
        #expect(MemoryLayout<PushRequestHead>.size <= 72)
        #expect(_isPOD(PushRequestHead.self))
    }
}

import APNSWire
import Testing
import WidgetModel

/// The bodies that create channels and that are broadcast on them.
@Suite struct ChannelBodiesTests {
    private static func creation(_ text: String) -> (creation: ChannelCreation?, answer: RejectionAnswer?) {
        do throws(RejectionAnswer) {
            return (try ChannelCreation.parse(Array(text.utf8).span, reader: JSONReader()), nil)
        } catch {
            return (nil, error)
        }
    }

    private static func broadcast(_ text: String) -> (body: BroadcastBody?, answer: RejectionAnswer?) {
        do throws(RejectionAnswer) {
            return (try BroadcastBody.parse(Array(text.utf8).span, reader: JSONReader()), nil)
        } catch {
            return (nil, error)
        }
    }

    @Test func `Apple's body, APNSwift's and ours create channels`() {
        let apple = Self.creation(#"{"message-storage-policy": 1, "push-type": "LiveActivity"}"#).creation
        #expect(apple == ChannelCreation(storesMessages: true, isForWidgets: false, isAlias: false, audience: nil))
        let node = Self.creation(#"{"message-storage-policy":0,"push-type":"liveactivity"}"#).creation
        #expect(node == ChannelCreation(storesMessages: false, isForWidgets: false, isAlias: false, audience: nil))
        let swift = Self.creation(#"{"message-storage-policy":1}"#).creation
        #expect(swift == ChannelCreation(storesMessages: true, isForWidgets: false, isAlias: true, audience: nil))
        let ours = Self.creation(
            #"{"message-storage-policy":1,"push-type":"widgets","freshet":{"kind":"scores","match":{"team":["rams"]}}}"#
        ).creation
        let match = JSONValue.object([JSONValue.Member(name: "team", value: .array([.string("rams")]))])
        #expect(
            ours
                == ChannelCreation(
                    storesMessages: true,
                    isForWidgets: true,
                    isAlias: false,
                    audience: PushPayload(kind: WidgetKind("scores"), match: match)
                )
        )
        #expect(Self.creation(#"{"message-storage-policy":1,"freshet":{}}"#).creation?.audience == .plain)
    }

    @Test(
        arguments: [
            ("", Rejection.badRequestPayload), ("{", .badRequestPayload), ("[]", .badRequestPayload),
            ("1", .badRequestPayload), (#"{"push-type":"LiveActivity"}"#, .badRequestParams),
            (#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, .badRequestParams),
            (#"{"message-storage-policy":-1}"#, .badRequestParams),
            (#"{"message-storage-policy":"1"}"#, .badRequestParams),
            (#"{"message-storage-policy":true}"#, .badRequestParams),
            (#"{"message-storage-policy":1,"message-storage-policy":1}"#, .badRequestPayload),
            (#"{"message-storage-policy":1,"colour":"blue"}"#, .badRequestParams),
            (#"{"message-storage-policy":1,"push-type":"alert"}"#, .invalidPushType),
            (#"{"message-storage-policy":1,"push-type":""}"#, .invalidPushType),
            (#"{"message-storage-policy":1,"push-type":7}"#, .invalidPushType),
            (#"{"message-storage-policy":1,"freshet":7}"#, .badRequestParams),
            (#"{"message-storage-policy":1,"freshet":{"mach":{}}}"#, .badRequestParams),
            (#"{"message-storage-policy":1,"freshet":{"match":[]}}"#, .badRequestParams),
            (#"{"message-storage-policy":1,"freshet":{"digest":"x"}}"#, .badRequestParams),
            (#"{"message-storage-policy":1,"freshet":{"not-before":1}}"#, .badRequestParams),
            (#"{"message-storage-policy":1,"freshet":{"maxMatched":1}}"#, .badRequestParams),
        ]
    )
    func `what creates no channel is refused`(text: String, rejection: Rejection) {
        let answer = Self.creation(text).answer
        #expect(answer?.rejection == rejection)
        #expect(answer?.detail != nil)
    }

    @Test(
        arguments: [
            #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"home":3}}}"#,
            #"{"aps":{"timestamp":1700000000,"event":"end","dismissal-date":1700000000}}"#,
            #"{"aps":{"content-changed":true}}"#, #"{"aps":{}}"#, #"{"aps":{},"own":[1,2]}"#,
        ]
    )
    func `the content of a broadcast is the app's own`(text: String) {
        #expect(Self.broadcast(text).body?.own == .plain)
    }

    @Test func `a broadcast may bring a digest, a time and a guard`() {
        let text = #"{"aps":{},"freshet":{"digest":"d","not-before":1700000000,"maxMatched":5}}"#
        let own = PushPayload(digest: "d", notBefore: Instant(seconds: 1_700_000_000), maxMatched: 5)
        #expect(Self.broadcast(text).body?.own == own)
    }

    @Test(
        arguments: [
            ("", Rejection.badRequestPayload), ("{}", .badRequestPayload), (#"{"aps":1}"#, .badRequestPayload),
            (#"{"aps":{"event":"start"}}"#, .badRequestPayload), (#"{"aps":{"event":1}}"#, .badRequestPayload),
            (#"{"aps":{},"aps":{}}"#, .badRequestPayload), (#"{"aps":{},}"#, .badRequestPayload),
            (#"{"aps":{},"freshet":[]}"#, .badRequestParams), (#"{"aps":{},"freshet":{"x":1}}"#, .badRequestParams),
            (#"{"aps":{},"freshet":{"kind":"scores"}}"#, .badRequestParams),
            (#"{"aps":{},"freshet":{"match":{}}}"#, .badRequestParams),
            (#"{"aps":{},"freshet":{"all":true}}"#, .badRequestParams),
        ]
    )
    func `what is no broadcast is refused`(text: String, rejection: Rejection) {
        let answer = Self.broadcast(text).answer
        #expect(answer?.rejection == rejection)
        #expect(answer?.detail != nil)
    }
}

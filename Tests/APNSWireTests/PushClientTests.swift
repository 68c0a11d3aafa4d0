@testable import APNSWire
import Testing
import WidgetModel

@Suite struct PushClientTests {
    private let reader = JSONReader()

    private func payload(_ request: PushRequest) throws(PayloadError) -> PushPayload {
        let body = request.body
        var isTargeted = false
        if case .app = request.target { isTargeted = true }
        return try PushPayload.parse(body.span, isTargeted: isTargeted, reader: self.reader)
    }

    @Test func `what a sender writes is what the gateway reads`() throws {
        var request = PushRequest.device(DeviceToken(bytes: [1, 2, 255]), app: PushFixture.app)
        request.id = PushID(high: 1, low: 2)
        request.priority = .high
        request.expiration = 0
        request.collapseID = "game-1"
        let headers = request.headers(authority: "localhost:2197", token: Array("a.b.c".utf8))
        let fixture = PushFixture(headers.map { ($0.name, $0.value) })
        let push = try fixture.validate()
        #expect(push.type == .widgets && push.app == 7)
        #expect(push.id == PushID(high: 1, low: 2))
        #expect(push.priority == .high && push.expiration == 0)
        #expect(fixture.text(push.collapseID) == "game-1")
        #expect(fixture.text(fixture.received.head.path) == "/3/device/0102ff")
        #expect(fixture.text(fixture.received.head.authorization) == "bearer a.b.c")
        #expect(try self.payload(request) == .plain)
    }

    @Test(arguments: [false, true])
    func `a targeted request needs no topic`(isDryRun: Bool) throws {
        let payload = PushPayload(kind: WidgetKind("scores"), match: .object([]))
        let request = PushRequest(.app(PushFixture.app, isDryRun: isDryRun), payload: payload)
        let headers = request.headers(authority: "localhost", token: Array("a.b.c".utf8))
        let push = try PushFixture(headers.map { ($0.name, $0.value) }).validate()
        guard case .targeted(_, let answer) = push.target else {
            Issue.record("not targeted")
            return
        }
        #expect(answer == isDryRun)
        #expect(try self.payload(request) == payload)
    }

    @Test func `a control's topic is the controls topic`() {
        let request = PushRequest.device(DeviceToken(bytes: [1]), app: PushFixture.app, type: .controls)
        #expect(request.topic == "com.example.scores.push-type.controls")
    }

    private func response(_ status: Int, _ body: String, id: String? = "X") -> PushResponse {
        PushResponse.parse(status: status, id: id, body: Array(body.utf8).span, reader: self.reader)
    }

    private func refusal(
        _ status: Int,
        _ reason: PushResponse.Reason?,
        timestamp: Int64? = nil,
        detail: String? = nil
    ) -> PushResponse {
        .refused(
            PushResponse.Refusal(
                status: status,
                reason: reason,
                timestamp: timestamp.map(Instant.init(milliseconds:)),
                detail: detail
            )
        )
    }

    @Test(arguments: Rejection.allCases)
    func `what the gateway answers is what a sender reads`(rejection: Rejection) {
        let answer = RejectionAnswer(rejection, timestamp: Instant(milliseconds: 17), detail: "why")
        let read = PushResponse.parse(status: answer.status, id: nil, body: answer.body.span, reader: self.reader)
        let timestamp: Int64? = answer.status == 410 ? 17 : nil
        #expect(read == self.refusal(answer.status, .known(rejection), timestamp: timestamp, detail: "why"))
    }

    @Test func `answers of other servers are read`() {
        #expect(self.response(200, "") == .accepted(id: "X"))
        #expect(self.response(200, "{}", id: nil) == .accepted(id: nil))
        #expect(
            self.response(403, #"{"reason":"BadEnvironmentKeyIdInToken"}"#)
                == self.refusal(403, .known(.badEnvironmentKeyInToken))
        )
        #expect(self.response(400, #"{"reason":"NewReason","x":1}"#) == self.refusal(400, .unknown("NewReason")))
        #expect(
            self.response(410, #"{"timestamp":9,"reason":"Unregistered"}"#)
                == self.refusal(410, .known(.unregistered), timestamp: 9)
        )
        for body in ["", "<html>", "[]", #"{"reason":7}"#, #"{"reason":"#, "\u{0}"] {
            #expect(self.response(502, body) == self.refusal(502, nil))
        }
        let long = String(repeating: "é", count: 100)
        #expect(
            self.response(400, #"{"reason":"\#(long)"}"#)
                == self.refusal(400, .unknown(String(repeating: "é", count: 64)))
        )
    }
}

import Delivery
import HTTP2
import HTTPTransport
import Ownership
import TLS
import Testing
import WidgetModel

/// Deliveries as HTTP requests.
@Suite struct DeliveryHTTPTests {
    @Test(
        arguments: [
            (nil, nil), ("", nil), ("soon", nil), ("-1", nil), ("0", Interval.zero), ("77", .seconds(77)),
            ("99999999", .hours(24)), ("9223372036854775807", .hours(24)), ("99999999999999999999", .hours(24)),
        ] as [(String?, Interval?)]
    )
    func `retry-after is taken in seconds, and never for more than a day`(text: String?, wait: Interval?) {
        var headers: HTTPFields = ["apns-id": "A"]
        if let text { headers.append("retry-after", text) }
        let response = DeliveryResponse(HTTPClientResponse(status: 503, headers: headers, body: [1]))
        #expect(response == DeliveryResponse(status: 503, id: "A", retryAfter: wait, body: [1]))
    }

    @Test(
        arguments: [
            (.connect, false), (.tls, false), (.connectionClosed, false), (.goAway(.noError), false), (.timeout, false),
            (.queueFull, false), (.streamReset(.refusedStream), false), (.request, true), (.responseTooLarge, true),
            (.addressRefused, true),
        ] as [(HTTPTransportError.Code, Bool)]
    )
    func `what cannot be sent is final, whatever else goes wrong is not`(code: HTTPTransportError.Code, isFinal: Bool) {
        let failure = DeliveryFailure(HTTPTransportError(code, "why"))
        #expect(failure.isFinal == isFinal && failure.detail == "why")
    }

    @Test func `no answer is a failure without a status`() {
        let error = HTTPTransportError(.connect, "connection refused")
        let answer = TargetHealth.Answer(error, at: Sports.start)
        #expect(answer.meaning == .failure && answer.status == nil)
        #expect(answer.reason == "no connection" && answer.detail == "connection refused")
    }

    @Test func `a token is used for its time, renewed once, and not too soon when it is called expired`() throws {
        var window = UpstreamTokens.Window()
        window.age = .minutes(50)
        let tokens = UpstreamTokens(keyID: KeyID("K"), team: TeamID("T"), key: try .generate(), window: window)
        let start = Sports.start
        let first = try tokens.token(now: start)
        #expect(try tokens.token(now: start + .minutes(50) - .milliseconds(1)) == first)
        tokens.expire(now: start + .minutes(20) - .milliseconds(1))
        #expect(try tokens.token(now: start + .minutes(20)) == first)
        let second = try tokens.token(now: start + .minutes(50))
        #expect(second != first)
        tokens.expire(now: start + .minutes(70))
        #expect(try tokens.token(now: start + .minutes(70)) != second)
        #expect(tokens.minted == 3)
        // A clock that was set back far makes another one: the old one would be from the future.
        _ = try tokens.token(now: start)
        #expect(tokens.minted == 4)
    }

    @Test func `a webhook is signed over time, id and body`() {
        // printf '%s' '1793638800.id-1.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let value = WebhookSignature.value(
            secret: Array("0123456789abcdef".utf8),
            id: "id-1",
            body: Array(#"{"a":1}"#.utf8),
            at: Instant(seconds: 1_793_638_800)
        )
        #expect(value == "t=1793638800,v1=4937b6d502495bde189f5ad851b1958aa8ed2d65585094ece3fcd3fc3daed848")
    }
}

import APNSWire
import Gateway
import HTTPTransport
import TLS
import Testing
import WidgetModel

@Suite struct DeliveryVerdictTests {
    private static let retries = DeliveryRetries()

    private static func verdict(_ status: Int, _ body: String = "", headers: HTTPFields = [:], tries: Int = 1)
        -> DeliveryVerdict
    {
        .ofUpstream(
            HTTPClientResponse(status: status, headers: headers, body: Array(body.utf8)),
            tries: tries,
            seed: 7,
            retries: Self.retries,
            reader: JSONReader()
        )
    }

    private static func reason(_ rejection: Rejection) -> String { #"{"reason":"\#(rejection.rawValue)"}"# }

    @Test func `200 is delivered`() {
        #expect(Self.verdict(200) == .delivered)
    }

    /// Apple: "Don't retry" these, and other 4xx only after they were fixed.
    @Test(
        arguments: [
            .badDeviceToken, .deviceTokenNotForTopic, .forbidden, .payloadTooLarge, .badTopic, .badCollapseID,
            .badExpirationDate, .badMessageID, .badPriority, .topicDisallowed, .badPath, .methodNotAllowed,
            .payloadEmpty, .invalidPushType,
        ] as [Rejection]
    )
    func `reasons that are never retried are final`(rejection: Rejection) {
        #expect(Self.verdict(rejection.status, Self.reason(rejection)) == .refused(rejection.rawValue))
    }

    @Test(arguments: [.unregistered, .expiredToken] as [Rejection])
    func `410 takes the token away, since the instant that it names`(rejection: Rejection) {
        let body = #"{"reason":"\#(rejection.rawValue)","timestamp":1793638800123}"#
        #expect(Self.verdict(410, body) == .gone(rejection.rawValue, since: Instant(milliseconds: 1_793_638_800_123)))
        #expect(Self.verdict(410, Self.reason(rejection)) == .gone(rejection.rawValue, since: nil))
    }

    @Test func `429 and 503 wait longer each time, and as long as asked`() {
        var waits: [Int64] = []
        for tries in 1...14 {
            guard
                case .again(let wait, "TooManyRequests") = Self.verdict(
                    429,
                    Self.reason(.tooManyRequests),
                    tries: tries
                )
            else {
                Issue.record("429 was not retried")
                return
            }
            waits.append(wait.milliseconds)
        }
        for (index, wait) in waits.enumerated() {
            let whole = min(900_000, Int64(1000) << index)
            #expect((whole / 2...whole).contains(wait), "\(waits)")
        }
        let asked = Self.verdict(503, Self.reason(.shutdown), headers: ["retry-after": "77"])
        #expect(asked == .again(after: .seconds(77), "Shutdown"))
        for endless in ["99999999", "9223372036854775807", "99999999999999999999"] {
            let tooLong = Self.verdict(503, "", headers: ["retry-after": endless])
            #expect(tooLong == .again(after: .hours(24), "status 503"), "\(endless)")
        }
    }

    @Test func `a 500 waits for at least a quarter of an hour, and not all for the same`() {
        let waits = (0..<100 as Range<UInt64>).map { Self.retries.waitAfterServerError(seed: $0).milliseconds }
        #expect(waits.allSatisfy { (900_000...1_125_000).contains($0) })
        #expect(Set(waits).count > 90)
        guard case .again(let wait, "InternalServerError") = Self.verdict(500, Self.reason(.internalServerError)) else {
            Issue.record("500 was not retried")
            return
        }
        #expect(wait >= .minutes(15))
    }

    @Test(
        arguments: [
            .invalidProviderToken, .missingProviderToken, .badCertificate, .badCertificateEnvironment,
            .unrelatedKeyIDInToken, .badEnvironmentKeyInToken, .tooManyProviderTokenUpdates,
        ] as [Rejection]
    )
    func `what is about the gateway's credentials holds everything back and loses nothing`(rejection: Rejection) {
        let verdict = Self.verdict(rejection.status, Self.reason(rejection))
        #expect(verdict == .laneInTrouble(after: .minutes(15), rejection.rawValue, renewsToken: false))
    }

    @Test func `an expired provider token is renewed`() {
        let verdict = Self.verdict(403, Self.reason(.expiredProviderToken))
        #expect(verdict == .laneInTrouble(after: .seconds(1), "ExpiredProviderToken", renewsToken: true))
    }

    @Test func `no answer is tried again, what cannot be sent is not`() {
        let lost = HTTPTransportError(.connectionClosed, "gone")
        guard case .again = DeliveryVerdict.ofFailure(lost, tries: 1, seed: 1, retries: Self.retries) else {
            Issue.record("a lost answer was not retried")
            return
        }
        let refused = HTTPTransportError(.addressRefused, "127.0.0.1 is loopback", isUnprocessed: true)
        #expect(
            DeliveryVerdict.ofFailure(refused, tries: 1, seed: 1, retries: Self.retries)
                == .refused("127.0.0.1 is loopback")
        )
    }

    @Test(arguments: [(200, true), (204, true), (301, false), (308, false), (400, false), (404, false), (410, false)])
    func `of a webhook 2xx is evidence, redirects and refusals are final`(status: Int, isDelivered: Bool) {
        let response = HTTPClientResponse(status: status, headers: ["location": "https://elsewhere.example/"], body: [])
        let verdict = DeliveryVerdict.ofWebhook(response, tries: 1, seed: 1, retries: Self.retries)
        switch verdict {
        case .delivered: #expect(isDelivered)
        case .refused: #expect(!isDelivered)
        default: Issue.record("\(verdict)")
        }
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func `a webhook in trouble is tried again`(status: Int) {
        let response = HTTPClientResponse(status: status, headers: [:], body: [])
        guard case .again = DeliveryVerdict.ofWebhook(response, tries: 1, seed: 1, retries: Self.retries) else {
            Issue.record("\(status) was not retried")
            return
        }
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

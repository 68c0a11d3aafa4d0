import APNSWire
import Ownership
import Testing
import WidgetModel

@Suite struct DeliveryVerdictTests {
    private static let retries = DeliveryRetries()

    private static func verdict(_ status: Int, _ body: String = "", retryAfter: Interval? = nil, tries: Int = 1)
        -> DeliveryVerdict
    {
        .ofUpstream(
            DeliveryResponse(status: status, retryAfter: retryAfter, body: Array(body.utf8)),
            tries: tries,
            seed: 7,
            retries: Self.retries,
            reader: JSONReader()
        )
    }

    private static func webhookVerdict(_ answer: DeliveryAnswer) -> DeliveryVerdict {
        DeliveryVerdict(ofWebhook: answer, tries: 1, seed: 1, retries: Self.retries)
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
        let asked = Self.verdict(503, Self.reason(.shutdown), retryAfter: .seconds(77))
        #expect(asked == .again(after: .seconds(77), "Shutdown"))
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
        #expect(verdict == .destinationInTrouble(after: .minutes(15), rejection.rawValue, renewsToken: false))
    }

    @Test func `an expired provider token is renewed`() {
        let verdict = Self.verdict(403, Self.reason(.expiredProviderToken))
        #expect(verdict == .destinationInTrouble(after: .seconds(1), "ExpiredProviderToken", renewsToken: true))
    }

    @Test func `no answer is tried again, what cannot be sent is not`() {
        let lost = DeliveryFailure(isFinal: false, reason: "connection lost", detail: "gone")
        guard case .again = Self.webhookVerdict(.failure(lost)) else {
            Issue.record("a lost answer was not retried")
            return
        }
        let refused = DeliveryFailure(isFinal: true, reason: "address not allowed", detail: "127.0.0.1 is loopback")
        #expect(Self.webhookVerdict(.failure(refused)) == .refused("127.0.0.1 is loopback"))
    }

    @Test(arguments: [(200, true), (204, true), (301, false), (308, false), (400, false), (404, false), (410, false)])
    func `of a webhook 2xx is evidence, redirects and refusals are final`(status: Int, isDelivered: Bool) {
        let verdict = Self.webhookVerdict(.response(DeliveryResponse(status: status)))
        switch verdict {
        case .delivered: #expect(isDelivered)
        case .refused: #expect(!isDelivered)
        default: Issue.record("\(verdict)")
        }
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func `a webhook in trouble is tried again`(status: Int) {
        guard case .again = Self.webhookVerdict(.response(DeliveryResponse(status: status))) else {
            Issue.record("\(status) was not retried")
            return
        }
    }

    @Test(
        arguments: [
            (200, "", TargetHealth.Answer.Meaning.success), (400, "BadDeviceToken", .refusal),
            (400, "DeviceTokenNotForTopic", .refusal), (410, "Unregistered", .refusal),
            (413, "PayloadTooLarge", .refusal),
            (429, "TooManyRequests", .refusal), (403, "InvalidProviderToken", .failure), (403, "Forbidden", .failure),
            (400, "TopicDisallowed", .failure), (404, "", .failure), (500, "InternalServerError", .failure),
            (503, "ServiceUnavailable", .failure), (429, "TooManyProviderTokenUpdates", .failure),
        ]
    )
    func `of an upstream's answers those about one device are no failures`(
        status: Int,
        reason: String,
        meaning: TargetHealth.Answer.Meaning
    ) {
        let body = reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#
        let response = DeliveryResponse(status: status, body: Array(body.utf8))
        let verdict = DeliveryVerdict.ofUpstream(response, tries: 1, seed: 1, retries: .init(), reader: .init())
        let answer = verdict.health(of: .response(response), at: Instant(seconds: 1_793_638_800))
        #expect(answer.meaning == meaning)
        #expect(answer.reason == (status == 200 ? "" : reason.isEmpty ? "status \(status)" : reason))
    }

    @Test(arguments: [(204, TargetHealth.Answer.Meaning.success), (301, .failure), (404, .failure), (503, .failure)])
    func `of a webhook's answers all but 2xx are failures`(status: Int, meaning: TargetHealth.Answer.Meaning) {
        let response = DeliveryResponse(status: status)
        let verdict = Self.webhookVerdict(.response(response))
        #expect(verdict.health(of: .response(response), at: Instant(seconds: 1_793_638_800)).meaning == meaning)
    }
}

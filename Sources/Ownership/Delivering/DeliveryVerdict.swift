package import APNSWire
package import WidgetModel

/// The meaning of an answer to a delivery, or of a missing one.
package enum DeliveryVerdict: Hashable, Sendable {
    /// The other side has it: the evidence that the outcome `reloaded` asks for.
    case delivered
    /// It will not take it, now or later, for this reason.
    case refused(String)
    /// The push token is no longer valid; `since` is nil if the answer gives no instant.
    case gone(String, since: Instant?)
    /// Nothing is decided: try again after this time, with the same id.
    case again(after: Interval, String)
    /// Not this push but its sender is in trouble: everything for the destination waits for this time.
    case destinationInTrouble(after: Interval, String, renewsToken: Bool)
}

/// When a delivery is tried again.
package struct DeliveryRetries: Hashable, Sendable {
    /// The wait after the first try; it doubles. Default 1 s.
    package var first = Interval.seconds(1)
    /// The longest wait. Default 15 min.
    package var max = Interval.minutes(15)
    /// The wait after a 500, as Apple asks. Default 15 min.
    package var afterServerError = Interval.minutes(15)

    package init() {}

    /// The wait after this number of tries (from 1), a pure function of the delivery's seed.
    package func wait(after tries: Int, seed: UInt64) -> Interval {
        Backoff(first: self.first, max: self.max).wait(after: tries, seed: seed)
    }

    /// The wait after a 500: never shorter than asked, and up to a quarter longer so that not all come at once.
    package func waitAfterServerError(seed: UInt64) -> Interval {
        let least = self.afterServerError.milliseconds
        return .milliseconds(least + Int64(StableHash.reduce(StableHash.mix(seed), below: UInt64(least / 4 + 1))))
    }
}

extension DeliveryVerdict {
    /// The verdict on the result of a request.
    package init(
        _ answer: DeliveryAnswer,
        to request: DeliveryRequest,
        _ retries: DeliveryRetries,
        _ reader: JSONReader
    ) {
        let (tries, seed) = (request.tryNumber, request.id.low)
        if case .response(let response) = answer, request.target.kind == .upstream {
            self = .ofUpstream(response, tries: tries, seed: seed, retries: retries, reader: reader)
        } else {
            self.init(ofWebhook: answer, tries: tries, seed: seed, retries: retries)
        }
    }

    /// The verdict on a POST to a webhook, or on any request that was not answered: any 2xx is evidence. Redirects are not
    /// followed.
    ///
    /// - Parameters:
    ///   - tries: How often it was tried, this time included.
    ///   - seed: A hash of the told things, for the jitter.
    package init(ofWebhook answer: DeliveryAnswer, tries: Int, seed: UInt64, retries: DeliveryRetries) {
        let wait = retries.wait(after: tries, seed: seed)
        switch answer {
        case .failure(let failure):
            self = failure.isFinal ? .refused(failure.detail) : .again(after: wait, failure.detail)
        case .response(let response):
            let status = "status \(response.status)"
            self =
                switch response.status {
                case 200..<300: .delivered
                case 408, 425, 429, 500...: .again(after: max(wait, response.retryAfter ?? .zero), status)
                case 300..<400: .refused("\(status): redirects are not followed")
                default: .refused(status)
                }
        }
    }

    /// The verdict on an answer of APNs, or of another gateway. Source: Apple, "Handling notification responses from
    /// APNs".
    ///
    /// - Parameters:
    ///   - tries: The number of tries, with this one.
    ///   - seed: The delivery's, for the jitter.
    package static func ofUpstream(
        _ response: DeliveryResponse,
        tries: Int,
        seed: UInt64,
        retries: DeliveryRetries,
        reader: JSONReader
    ) -> DeliveryVerdict {
        let answer = PushResponse.parse(
            status: response.status,
            id: response.id,
            body: response.body.span,
            reader: reader
        )
        guard case .refused(let refusal) = answer else { return .delivered }
        let reason = Self.text(refusal)
        let wait = max(retries.wait(after: tries, seed: seed), response.retryAfter ?? .zero)
        if case .known(let rejection) = refusal.reason, let verdict = Self.ofSender(rejection, reason, wait, retries) {
            return verdict
        }
        switch response.status {
        case 410: return .gone(reason, since: refusal.timestamp)
        case 429, 408: return .again(after: wait, reason)
        case 503: return .again(after: wait, reason)
        case 500...: return .again(after: max(retries.waitAfterServerError(seed: seed), wait), reason)
        default: return .refused(reason)
        }
    }

    /// Answers that are about the sender's credentials, which every push of it would get.
    private static func ofSender(
        _ rejection: Rejection,
        _ reason: String,
        _ wait: Interval,
        _ retries: DeliveryRetries
    ) -> DeliveryVerdict? {
        switch rejection {
        case .expiredProviderToken:
            // Renewed at once if the last one is old enough; else the waits grow until it is.
            .destinationInTrouble(after: max(retries.first, wait), reason, renewsToken: true)
        case .tooManyProviderTokenUpdates:
            // The token in force stays good at APNs; one that was renewed too soon becomes good in time.
            .destinationInTrouble(after: retries.max, reason, renewsToken: false)
        case .invalidProviderToken, .missingProviderToken, .badCertificate, .badCertificateEnvironment,
            .unrelatedKeyIDInToken, .badEnvironmentKeyInToken:
            // A person has to look at the configuration; until then only time is lost.
            .destinationInTrouble(after: retries.max, reason, renewsToken: false)
        default:
            nil
        }
    }

    private static func text(_ refusal: PushResponse.Refusal) -> String {
        switch refusal.reason {
        case .known(let rejection): rejection.rawValue
        case .unknown(let text): text
        case nil: "status \(refusal.status)"
        }
    }
}

// MARK: - Health of the other side

extension DeliveryVerdict {
    /// The other side's health by an answer, or by a missing one.
    package func health(of answer: DeliveryAnswer, at now: Instant) -> TargetHealth.Answer {
        switch (answer, self) {
        case (.failure(let failure), _):
            TargetHealth.Answer(.failure, status: nil, reason: failure.reason, detail: failure.detail, at: now)
        case (.response(let response), .delivered):
            TargetHealth.Answer(.success, status: response.status, at: now)
        case (.response(let response), .refused(let reason)), (.response(let response), .gone(let reason, _)),
            (.response(let response), .again(_, let reason)),
            (.response(let response), .destinationInTrouble(_, let reason, _)):
            TargetHealth.Answer(
                Self.aboutOneDevice.contains(reason) ? .refusal : .failure,
                status: response.status,
                reason: reason,
                at: now
            )
        }
    }

    /// Reasons of APNs that are about the device, or the push to it: another push may be taken.
    private static let aboutOneDevice: Set<String> = Set(
        ([
            .badCollapseID, .badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .payloadTooLarge, .tooManyRequests,
            .unregistered,
        ] as [Rejection]).map(\.rawValue)
    )
}

package import TimelineProviding
package import WidgetModel

extension GatewayConfiguration {
    /// A service that makes the timelines of a kind.
    package struct TimelineProvider: Hashable, Sendable {
        /// Where it is asked.
        package var url: ProviderURL
        /// A file whose first line is sent as `authorization: bearer …`. Default nil: none is sent.
        package var tokenFile: String?
        /// The certificates that it is trusted by, in PEM. Default nil: the system's.
        package var authorities: String?
        /// How long one request may take. Default 10 s.
        package var timeout = Interval.seconds(10)
        /// How long it has to call back once it has said 202. Default 60 s.
        package var callbackMax = Interval.seconds(60)
        /// Requests on their way at once. Default 4.
        package var inFlightMax = 4
        /// Instances in one request. Default 100.
        package var batchMax = 100
        /// Requests, at most. Default 50 a second.
        package var rate: Rate?

        package init(url: ProviderURL) {
            self.url = url
        }

        /// The token in the text of ``tokenFile``, or nil if its first line is none: printable ASCII without spaces.
        package static func token(in text: String) -> String? {
            let line = text.prefix { !$0.isNewline }
            return !line.isEmpty && line.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? String(line) : nil
        }

        /// The planner's limits.
        package func limits(waitingMax: Int) -> FetchLimits {
            var limits = FetchLimits()
            limits.inFlightMax = self.inFlightMax
            limits.batchMax = self.batchMax
            limits.callbackMax = self.callbackMax
            limits.waitingMax = waitingMax
            if let rate = self.rate {
                limits.rateCount = rate.count
                limits.ratePeriod = rate.period
                limits.rateBurst = rate.burstInForce
            }
            return limits
        }
    }

    /// How much is kept of the timelines that providers give.
    package struct Timelines: Hashable, Sendable {
        /// All timelines with their content, about. Default 256 MiB; above it the one stored longest ago makes room.
        package var contentBytesMax = 268_435_456
        /// One provider's answer, for all instances of a request. Default 16 MiB; above it the request has failed.
        package var answerBytesMax = 16_777_216
        /// Reloads that wait for one provider. Default 200,000; more are looked for again when half have gone.
        package var waitingMax = 200_000
        /// How long a provider's answers for the gallery are taken for new. Default 24 h.
        package var galleryAge = Interval.hours(24)

        package init() {}
    }
}

extension GatewayConfiguration.TimelineProvider {
    static let empty = Self(url: ProviderURL(isSecure: true, host: "", port: 443, path: "/"))

    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalar("url", &self.url, .providerURL, isRequired: true)
        visitor.optionalFile("tokenFile", &self.tokenFile, .bearerToken)
        visitor.optionalFile("ca", &self.authorities, .certificates)
        visitor.scalar("timeout", &self.timeout, .duration(.milliseconds(100) ... .minutes(10)))
        visitor.scalar("callback", &self.callbackMax, .duration(.seconds(1) ... .hours(24)))
        visitor.scalar("maxInFlight", &self.inFlightMax, .integer(1...1000))
        visitor.scalar("maxBatch", &self.batchMax, .integer(1...10_000))
        visitor.rate("rateLimit", &self.rate)
    }
}

extension GatewayConfiguration.Timelines {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalar("maxContentBytes", &self.contentBytesMax, .bytes(65_536...1_099_511_627_776))
        visitor.scalar("maxAnswerBytes", &self.answerBytesMax, .bytes(4096...1_073_741_824))
        visitor.scalar("maxWaiting", &self.waitingMax, .integer(16...10_000_000))
        visitor.scalar("galleryAge", &self.galleryAge, .duration(.seconds(1) ... .days(30)))
    }
}

extension SettingType<ProviderURL> {
    static let providerURL = SettingType<String>.text(
        "an https URL, or an http URL of this machine (http://127.0.0.1:8080/timelines)"
    ) { ProviderURL($0) != nil }.map(
        { text in ProviderURL(text) ?? ProviderURL(isSecure: true, host: "", port: 443, path: "/") },
        \.description
    )
}

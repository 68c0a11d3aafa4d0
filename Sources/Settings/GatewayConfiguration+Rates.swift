package import WidgetModel

extension GatewayConfiguration {
    /// How fast something may come: so many in a length of time, and so many at once.
    package struct Rate: Hashable, Sendable {
        /// 1 to 1,000,000.
        package var count: Int
        /// 1 s to 24 h.
        package var period: Interval
        /// How many may come at once, 1 to 10,000,000. Default nil: the rate of one second, at least 1.
        package var burst: Int?

        package init(count: Int, period: Interval, burst: Int? = nil) {
            self.count = count
            self.period = period
            self.burst = burst
        }

        /// The burst that counts.
        package var burstInForce: Int {
            self.burst ?? max(1, self.count * 1000 / Int(self.period.milliseconds))
        }
    }

    /// How fast senders may push. Every limit is off by default; beyond one: 429 `TooManyRequests` with `retry-after`.
    package struct RateLimits: Hashable, Sendable {
        /// All pushes to one app, for apps that have no limit of their own. Default nil: no limit.
        package var perApp: Rate?
        /// All pushes of one provider key or client certificate, for keys that have no limit of their own. Default nil.
        package var perKey: Rate?
        /// All pushes to one device token. Default nil.
        package var perToken: Rate?
        /// Device tokens whose rate is remembered, 16 bytes each. Default 65,536; of more, those that are nearest to
        /// having recovered are forgotten, which admits too much rather than too little.
        package var tokensMax = 65_536

        package init() {}
    }
}

extension GatewayConfiguration.RateLimits {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.rate("perApp", &self.perApp)
        visitor.rate("perKey", &self.perKey)
        visitor.rate("perToken", &self.perToken)
        visitor.scalar("maxTokens", &self.tokensMax, .integer(64...16_777_216))
    }
}

extension SettingsVisitor {
    /// A rate: a section with `rate` and perhaps `burst`.
    mutating func rate(_ key: String, _ rate: inout GatewayConfiguration.Rate?) {
        let empty = GatewayConfiguration.Rate(count: 1, period: .seconds(1))
        self.optionalSection(key, &rate, empty: empty) { rate, visitor in
            var pace = Pace(count: rate.count, period: rate.period)
            visitor.scalar("rate", &pace, .pace, isRequired: true)
            (rate.count, rate.period) = (pace.count, pace.period)
            visitor.optional("burst", &rate.burst, .integer(1...10_000_000))
        }
    }
}

/// A rate as it is written, without its burst: `100/s`, `20/m`, `3/10s`.
private struct Pace: Hashable, Sendable {
    var count: Int
    var period: Interval
}

extension SettingType<Pace> {
    private static var units: [(name: String, period: Interval)] {
        [("s", .seconds(1)), ("m", .minutes(1)), ("h", .hours(1)), ("d", .days(1))]
    }

    fileprivate static let pace = SettingType(
        phrase: "a rate (100/s, 20/m, 3/10s) of 1 to 1,000,000 in 1s to 24h",
        isText: true,
        value: { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let count = SettingType<Int>.integer(1...1_000_000).value(String(parts[0])) else {
                return nil
            }
            let unit = Self.units.first { $0.name == parts[1] }?.period
            guard let period = unit ?? SettingType<Interval>.duration(String(parts[1])),
                (Interval.seconds(1) ... .days(1)).contains(period)
            else { return nil }
            return Pace(count: count, period: period)
        },
        json: { pace in
            let unit = Self.units.first { $0.period == pace.period }?.name
            return .string("\(pace.count)/\(unit ?? SettingType<Interval>.text(pace.period))")
        },
        schema: JSONSchema.text("^[0-9_]+/([0-9]+(ms|s|m|h|d)|s|m|h|d)$"),
        suggestion: { text in Int(text).map { "\($0)/s" } }
    )
}

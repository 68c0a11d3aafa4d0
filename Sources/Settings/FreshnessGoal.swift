package import WidgetModel

/// The share of widgets that are to be fresh within a time: the goal by which the gateway's freshness is judged.
package struct FreshnessGoal: Hashable, Sendable {
    /// The range of shares, in hundredths of a percent. All of them is no goal: nothing could ever be late.
    package static let shares = 100...9_999
    /// The range of times, in whole minutes: ages are told by the minute, up to a day.
    package static let times = Interval.minutes(1) ... .day

    /// In hundredths of a percent. Default 95 %.
    package var share = 9_500
    /// How long a widget may be behind. Default 15 min.
    package var within = Interval.minutes(15)

    package init() {}

    /// The share as a fraction of 1.
    package var fraction: Double { Double(self.share) / 10_000 }

    /// Reads it as it is written, `95% within 15m`; nil if it is not written so, or is out of range.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 3, words[1] == "within", words[0].hasSuffix("%"),
            let share = Self.hundredths(words[0].dropLast()), Self.shares.contains(share),
            let within = SettingType<Interval>.duration(String(words[2])), Self.times.contains(within),
            within.milliseconds.isMultiple(of: 60_000)
        else { return nil }
        self.share = share
        self.within = within
    }

    /// As it is written.
    package var text: String { "\(self.shareText)% within \(SettingType<Interval>.text(self.within))" }

    private var shareText: String {
        let (whole, rest) = (self.share / 100, self.share % 100)
        guard rest > 0 else { return "\(whole)" }
        return rest.isMultiple(of: 10) ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Whether so many of so many widgets may be late.
    package func isMet(late: Int, of instances: Int) -> Bool {
        late.multipliedReportingOverflow(by: 10_000).partialValue <= instances * (10_000 - self.share)
    }

    /// How many times as many are late as may be: above 1 the goal is missed. 0 without widgets.
    package func burnRate(late: Int, of instances: Int) -> Double {
        guard instances > 0 else { return 0 }
        return Double(late) / Double(instances) * 10_000 / Double(10_000 - self.share)
    }

    private static func hundredths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = Self.digits(parts[0], atMost: 3) else { return nil }
        guard parts.count == 2 else { return whole * 100 }
        guard let rest = Self.digits(parts[1], atMost: 2) else { return nil }
        return whole * 100 + (parts[1].count == 1 ? rest * 10 : rest)
    }

    private static func digits(_ text: Substring, atMost count: Int) -> Int? {
        guard (1...count).contains(text.utf8.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }

    /// The goal that a wrong text probably meant: it has a share and a time somewhere.
    fileprivate static func suggestion(_ text: String) -> String? {
        let words = text.split(separator: " ").map { $0.hasSuffix(",") ? $0.dropLast() : $0 }
        let time = words.first { $0.last?.isLetter == true && SettingType<Interval>.duration(String($0)) != nil }
        let share = words.first { Self.hundredths($0.hasSuffix("%") ? $0.dropLast() : $0) != nil }
        guard let time, let share else { return nil }
        let meant = "\(share.hasSuffix("%") ? share : share + "%") within \(time)"
        return FreshnessGoal(meant) == nil ? nil : meant
    }
}

extension SettingType<FreshnessGoal> {
    static let goal = SettingType(
        phrase:
            "a share of the widgets and a time (95% within 15m), from 1% to 99.99% and from 1m to 24h in whole minutes",
        isText: true,
        value: { FreshnessGoal($0) },
        json: { .string($0.text) },
        schema: JSONSchema.text("^[0-9]+([.][0-9]{1,2})?% within [0-9]+(m|h|d)$"),
        suggestion: { FreshnessGoal.suggestion($0) }
    )
}

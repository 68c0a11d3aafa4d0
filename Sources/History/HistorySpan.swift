package import WidgetModel

/// How far back a question about history goes, as people write it: `45s`, `90m`, `24h`, `2d`.
package enum HistorySpan {
    /// The longest: ten years.
    private static let max = Interval.days(3653)

    /// The length of time that a text says, nil if it says none, or none above zero.
    package static func parse(_ text: String) -> Interval? {
        guard let unit = text.last, let count = Int64(text.dropLast()), count > 0, count < 1 << 40 else { return nil }
        let span: Interval
        switch unit {
        case "s": span = .seconds(count)
        case "m": span = .minutes(count)
        case "h": span = .hours(count)
        case "d" where count < 1 << 30: span = .days(count)
        default: return nil
        }
        return span <= Self.max ? span : nil
    }
}

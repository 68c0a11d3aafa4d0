import Partitions
import WidgetModel

/// Instants for people: when, and how long before or after now.
enum Moment {
    /// `2026-11-26 17:44:00Z (3m ago)`; a text that is no date as it is.
    ///
    /// - Parameters:
    ///   - text: RFC 3339, in UTC as the gateway writes it.
    ///   - now: The time of the answer that it is in.
    static func text(_ text: String, now: Instant) -> String {
        guard let instant = try? RFC3339.parse(text) else { return text }
        return Self.text(instant, now: now)
    }

    static func text(_ instant: Instant, now: Instant) -> String {
        let text = RFC3339.nearestText(to: Instant(seconds: instant.seconds))
        return "\(text.replacing("T", with: " ", maxReplacements: 1)) (\(Self.distance(instant, now)))"
    }

    private static func distance(_ instant: Instant, _ now: Instant) -> String {
        let seconds = (instant - now).milliseconds / 1000
        if seconds == 0 { return "now" }
        return seconds < 0 ? "\(Self.length(-seconds)) ago" : "in \(Self.length(seconds))"
    }

    /// A length of time in its largest unit, as in `3m`.
    static func length(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3600)h"
        default: "\(seconds / 86_400)d"
        }
    }

    /// The time of an answer: the log's, else this machine's.
    static func now(of answer: JSONValue) -> Instant {
        answer["asOf"]?.text.flatMap { try? RFC3339.parse($0) } ?? LogClock.wallTime()
    }
}

import History
import Partitions
import WidgetModel

/// Instants as people write them: dates, or lengths of time from now.
enum TimeText {
    /// When the verb began, for all that it says.
    private static let now = LogClock.wallTime()

    /// How long ago, as in `90m`, as a date; nil if it is no length of time.
    static func past(_ text: String) -> String? {
        HistorySpan.parse(text).map { RFC3339.nearestText(to: Self.now - $0) }
    }

    /// In how long, as in `90m`, as a date; nil if it is no length of time.
    static func future(_ text: String) -> String? {
        HistorySpan.parse(text).map { RFC3339.nearestText(to: Self.now + $0) }
    }
}

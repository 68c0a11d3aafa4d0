package import WidgetModel

/// Why a log cannot answer for its past: the entries are gone that it would take.
package enum HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The log begins in the middle, and there is no state to begin with; the reason says why no snapshot can be used.
    case noState(partition: PartitionID, first: LogPosition, reason: String)
    /// The question goes back behind the oldest state that can be read.
    case tooLongAgo(partition: PartitionID, earliest: Instant)

    package var description: String {
        switch self {
        case .noState(let partition, let first, let reason):
            "partition \(partition): the log begins with entry \(first), and there is no state to start from: \(reason)"
        case .tooLongAgo(let partition, let earliest):
            "partition \(partition): the log only goes back to \(RFC3339.text(of: earliest) ?? "\(earliest.milliseconds)"); ask about the time since then"
        }
    }
}

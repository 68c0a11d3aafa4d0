package import WidgetModel

/// Why an engine cannot apply a record. The state is unchanged; the partition must stop, since its log is not readable.
package enum EngineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are no record of a kind that this engine knows.
    case damaged(LogPosition, ByteError)
    /// A position before one already applied.
    case outOfOrder(LogPosition, applied: LogPosition)
    /// Settings of an engine with another layout of records.
    case olderVersion(LogPosition, version: Int)

    package var description: String {
        switch self {
        case .damaged(let position, let fault): "record at position \(position) cannot be read: \(fault)"
        case .outOfOrder(let position, let applied): "position \(position) comes after position \(applied) was applied"
        case .olderVersion(let position, let version):
            "the log was written under decision rules version \(version) (position \(position)), and this program reads"
                + " version \(Engine.version) only; start the version that wrote it, or start with an empty data directory"
        }
    }
}

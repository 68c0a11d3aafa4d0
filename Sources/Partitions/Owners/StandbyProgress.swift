package import WidgetModel

/// How far a standby is behind the owner that it follows.
package struct StandbyProgress: Hashable, Sendable {
    package let partition: PartitionID
    package let applied: LogPosition
    /// Entries that the owner has committed, and that are not applied here.
    package let lag: UInt64
}

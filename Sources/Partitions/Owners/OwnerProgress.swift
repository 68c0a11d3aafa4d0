package import WidgetModel

/// How far an owner is with its partition's log.
package struct OwnerProgress: Hashable, Sendable {
    package let partition: PartitionID
    package let applied: LogPosition
    package let announced: LogPosition
    package let uncommittedEffects: Int
    /// Outputs since the start that others had to complete, since they were too large for one commit.
    package let outputChunks: Int
    /// Bytes of the entries that were applied since the process started, in all lives.
    package let appliedBytes: Int
    package let hasFailed: Bool
    /// How long the oldest entry that is not applied has been known; zero if there is none. To a tenth of a second.
    package let lagTime: Interval
    /// The work since the start, the replay included, in ``WorkUnits``.
    package let unitsDone: Int

    /// Entries that are logged and not applied yet.
    package var lag: UInt64 { self.announced.rawValue - self.applied.rawValue }
}

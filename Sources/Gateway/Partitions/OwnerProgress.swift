package import WidgetModel

/// How far an owner is with its partition's log.
package struct OwnerProgress: Hashable, Sendable {
    package let partition: PartitionID
    package let applied: LogPosition
    package let announced: LogPosition
    package let uncommittedEffects: Int
    /// Outputs since the start that others had to complete, since they were too large for one commit.
    package let outputPieces: Int
    /// Bytes of the entries that were applied since the start.
    package let appliedBytes: Int
    package let hasFailed: Bool
    /// How long the oldest entry that is not applied has been known; zero if there is none. To a tenth of a second.
    package let lagTime: Interval
    /// What was done since the start, with what was replayed for it, in ``WorkUnits``.
    package let unitsDone: Int

    /// Entries that are logged and not applied yet.
    package var lag: UInt64 { self.announced.rawValue - self.applied.rawValue }
}

/// What an owner has committed of its state: how far, and the engine's hash there.
struct OwnerCheckpoint: Hashable, Sendable {
    let through: LogPosition
    let runningHash: UInt64
}

/// Why an owner does not go on.
package enum OwnerFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The engine came to another state than the one that wrote the output at this position.
    case engineDisagrees(partition: PartitionID, position: LogPosition)
    /// The output log speaks of entries that the log does not have.
    case logEndsEarly(partition: PartitionID, applied: LogPosition, through: LogPosition)
    /// The log does not begin with its first entry any more, and no snapshot of what came before can be used.
    case noState(partition: PartitionID, reason: String)
    case stopped(partition: PartitionID)
    /// The gateway ends before the owner has applied the whole log.
    case shutDown(partition: PartitionID)

    var isShutdown: Bool {
        if case .shutDown = self { true } else { false }
    }

    package var description: String {
        switch self {
        case .engineDisagrees(let partition, let position):
            """
            partition \(partition): replaying the log up to position \(position) gave another state than the one its \
            output record names; this program decides differently from the one that wrote the log. Start the version \
            that wrote it
            """
        case .logEndsEarly(let partition, let applied, let through):
            """
            partition \(partition): the log ends at position \(applied), but its output log speaks of position \
            \(through); entries were lost. Restore the data directory from a backup
            """
        case .noState(let partition, let reason):
            """
            partition \(partition): the log was trimmed, and what came before is in no snapshot that can be used: \(reason). \
            Start the version that wrote it, or restore the data directory from a backup
            """
        case .stopped(let partition):
            "partition \(partition) has stopped; see the log for the reason"
        case .shutDown(let partition):
            "partition \(partition): the gateway shuts down; the next start applies the rest of the log"
        }
    }
}

import Engine
package import Journaling
package import WidgetModel

/// The next step that an ``OwnerMachine`` asks for.
package enum OwnerAction: Sendable {
    /// Read entries from this position on, and pass them to ``OwnerMachine/takeEntries(_:)``, also if there are none.
    /// Other actions and events may come meanwhile.
    case read(from: LogPosition)
    /// An entry was applied whole: answer the callers that wait for it.
    case tell(EntryRun)
    /// Append an output behind the one that is expected to be the newest, and tell ``OwnerMachine/committed(_:)``.
    case commit(OutputRecord, expected: OutputPosition?)
    /// The journal did not write an output or read entries this time: call ``OwnerMachine/retry()`` after a while.
    case awaitRetry
    /// The output may have been written or not: read the newest one, and give it to ``OwnerMachine/takeNewestOutput(_:)``.
    case readNewestOutput(JournalError)
    /// Hand on the effects that an output has made durable.
    case publish(CommittedEffects)
    /// Write a snapshot of the state at this checkpoint, and call ``OwnerMachine/stateWritten()``: nothing more is decided.
    case writeState(OwnerCheckpoint)
    /// Give the checkpoint to those who asked for one.
    case tellCheckpoint(OwnerCheckpoint)
}

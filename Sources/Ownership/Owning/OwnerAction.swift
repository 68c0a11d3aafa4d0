package import Engine
package import Journaling
package import WidgetModel

/// What an ``OwnerMachine`` wants done next.
package enum OwnerAction: Sendable {
    /// Read entries from here on, and give them to ``OwnerMachine/takeEntries(_:)``, also if there are none. Other actions may come
    /// meanwhile, and what happens may be told.
    case read(from: LogPosition)
    /// An entry was applied whole: those who wait for its answers may have them.
    case tell(EntryRun)
    /// Append an output behind the one that is expected to be the newest, and tell ``OwnerMachine/committed(_:)``.
    case commit(OutputRecord, expected: OutputPosition?)
    /// The output was not written and nothing is wrong with it: call ``OwnerMachine/retryCommit()`` after a while.
    case awaitRetry
    /// The output may have been written or not: read the newest one, and give it to ``OwnerMachine/takeNewestOutput(_:)``.
    case readNewestOutput(JournalError)
    /// Hand on effects, which are durable.
    case publish([Effect])
    /// Those who asked for a checkpoint may have it.
    case tellCheckpoint(OwnerCheckpoint)
}

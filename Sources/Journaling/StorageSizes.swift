package import WidgetModel

/// The size of the data directory and of its file system, in bytes; and the time of the last backup. For a log that is elsewhere,
/// the same of its part with the least room.
package struct StorageSizes: Hashable, Sendable {
    /// The measured place, in words.
    package var subject = "the data directory"
    /// The log's files.
    package var log = 0
    /// SQLite's files beside them: write-ahead logs and their indexes.
    package var writeAheadLog = 0
    /// Snapshots, damaged and unfinished ones included.
    package var snapshots = 0
    /// The largest of them.
    package var largestSnapshot = 0
    /// The databases beside the log: timelines, the audit log, samples, receipts, decisions.
    package var archives = 0
    /// Everything else.
    package var other = 0
    /// The file system's size.
    package var fileSystem = 0
    /// The bytes that the gateway's user may still write there, shared with every other program.
    package var free = 0

    /// When a copy of the log was last made, as far as that is known.
    package var lastBackup: Instant?

    package init() {}
}

package import Journaling
package import WidgetModel

extension SQLiteJournal {
    /// The page size of new files in bytes. A commit writes whole pages, at least one for each partition that has something:
    /// larger ones make one push alone dearer, smaller ones a commit of thousands.
    static let pageBytes = 4096

    /// Where a log is and how it is kept.
    package struct Configuration: Hashable, Sendable {
        /// The data directory. It is created (mode 0700) if its parent exists; files in it have mode 0600.
        package var directory: String
        /// How many partitions a new log gets; an existing one must have as many. Default 8.
        package var partitions: Int
        /// How much is taken at once.
        package var limits: JournalLimits
        /// A new file is begun when the newest one has about this many bytes. Default 268,435,456.
        package var fileBytesMax: Int
        /// How many bytes of the newest entries are kept in memory, all partitions together. Default 33,554,432. An owner
        /// that lags behind further than this reads the disk.
        package var cacheBytesMax: Int
        /// The most bytes of one file's write-ahead log, but for a single submission or output that is larger by itself.
        /// Default 33,554,432. It is copied into the file, and started over, when it is half as large as the file, and at the
        /// latest when it has half of these bytes. Fewer make a restart after a crash shorter, and write pages that are
        /// filled slowly more often.
        package var walBytesMax: Int
        /// How many bytes one read returns at most, beyond its first entry. Default 8,388,608.
        package var readBytesMax: Int
        /// While several callers append, a commit begins no sooner than this after the one before began, so that it takes
        /// more along: each one costs the disk and the processor as much as a hundred pushes do. A caller that is alone
        /// never waits. Default 3 ms; 0 for never.
        package var commitSpacing: Interval

        package init(
            directory: String,
            partitions: Int = 8,
            limits: JournalLimits = JournalLimits(),
            fileBytesMax: Int = 268_435_456,
            cacheBytesMax: Int = 33_554_432,
            walBytesMax: Int = 33_554_432,
            readBytesMax: Int = 8_388_608,
            commitSpacing: Interval = Interval(milliseconds: 3)
        ) {
            precondition((1...JournalFormat.partitionsMax).contains(partitions))
            precondition(
                fileBytesMax > 0 && cacheBytesMax >= 0 && walBytesMax > 0 && readBytesMax > 0
                    && commitSpacing >= .zero
            )
            self.directory = directory
            self.partitions = partitions
            self.limits = limits
            self.fileBytesMax = fileBytesMax
            self.cacheBytesMax = cacheBytesMax
            self.walBytesMax = walBytesMax
            self.readBytesMax = readBytesMax
            self.commitSpacing = commitSpacing
        }
    }
}

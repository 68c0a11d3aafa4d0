package import WidgetModel

/// The fixed properties of a log, from its creation.
package struct JournalFormat: Hashable, Sendable {
    /// The version this program writes and reads.
    package static let currentVersion: UInt32 = 1
    /// The most partitions a log can have.
    package static let partitionsMax = 1024

    /// A random UUID, so that positions and effect ids of one log are not taken for another's.
    package let journalID: String
    package let formatVersion: UInt32
    /// How many partitions the log has; `1...partitionsMax`.
    package let partitions: Int
    package let createdAt: Instant

    package init(
        journalID: String,
        formatVersion: UInt32 = Self.currentVersion,
        partitions: Int,
        createdAt: Instant
    ) {
        self.journalID = journalID
        self.formatVersion = formatVersion
        self.partitions = partitions
        self.createdAt = createdAt
    }
}

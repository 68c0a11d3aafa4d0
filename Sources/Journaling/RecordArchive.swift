/// A store for records beside the log: each is written with a number, and all are read again at the next start.
///
/// Its contents can be restored from elsewhere, so it promises less than a ``Journal``: a written record survives the
/// end of the process, but a power cut may lose the last ones.
package protocol RecordArchive: Sendable {
    /// Writes records and removes others, in one transaction. Blocks until the operating system has them.
    ///
    /// - Parameters:
    ///   - records: Numbers that were never used before.
    ///   - removed: Numbers of records; of those that do not exist nothing happens.
    func write(_ records: [ArchivedRecord], removing removed: [UInt64]) throws(JournalError)

    /// Hands out every record in the order of their numbers. Blocks.
    func readAll(_ body: (ArchivedRecord) -> Void) throws(JournalError)

    /// The bytes of a record; nil if there is none with that number. Blocks.
    func read(_ number: UInt64) throws(JournalError) -> [UInt8]?

    /// Removes every record, so that no byte of them is left on the disk. Blocks.
    func removeAll() throws(JournalError)

    /// Nothing is written after it.
    func close()
}

/// One record of a ``RecordArchive``.
package struct ArchivedRecord: Hashable, Sendable {
    /// At least 1, at most `Int64.max`.
    package let number: UInt64
    package let bytes: [UInt8]

    package init(number: UInt64, bytes: [UInt8]) {
        self.number = number
        self.bytes = bytes
    }
}

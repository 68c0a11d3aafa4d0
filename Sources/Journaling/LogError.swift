package import WidgetModel

/// A fault of a stored log, with its place.
package struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// A file is missing, empty, of another log, or no database at all.
        case file
        /// SQLite finds a page of a file damaged, or the file ends early.
        case page
        /// The bytes of a row do not fit its checksum.
        case checksum
        /// A row of another place, whole: another position's, or another partition's.
        case place
        /// A position is missing.
        case missing
        /// Time goes back from one entry to the next.
        case time
        /// The row's number of records differs from its bytes, or the records cannot be separated.
        case framing
        /// A record is none that this program can read.
        case record
        /// A record of a host that belongs to another partition.
        case partition
        /// Decision rules, or a format, of a version that this program does not know.
        case version
        /// Outputs do not follow each other, or speak of entries that there are none of.
        case output
        /// A replay gives another state than the output says.
        case state
        /// A replay gives other effects than the output holds.
        case effects
        /// The end of the write-ahead log was not written whole.
        case tail
        /// A snapshot is damaged, or has another state than a replay gives.
        case snapshot
    }

    package enum Table: String, Hashable, Sendable, CaseIterable {
        case entries
        case outputs
    }

    package let code: Code
    /// The file's name; nil if the fault is not in a single file.
    package let file: String?
    package let partition: PartitionID?
    package let table: Table?
    /// The position of the entry, or of the output; nil if the fault has none.
    package let position: UInt64?
    /// The fault as a sentence. Lower case, without a full stop.
    package let sentence: String

    package init(
        _ code: Code,
        file: String? = nil,
        partition: PartitionID? = nil,
        table: Table? = nil,
        position: UInt64? = nil,
        _ sentence: String
    ) {
        self.code = code
        self.file = file
        self.partition = partition
        self.table = table
        self.position = position
        self.sentence = sentence
    }

    package var description: String {
        var place: [String] = []
        if let file { place.append(file) }
        if let partition { place.append("partition \(partition)") }
        if let position { place.append("\(self.table == .outputs ? "output" : "entry") \(position)") }
        return (place + [self.sentence]).joined(separator: ": ")
    }
}

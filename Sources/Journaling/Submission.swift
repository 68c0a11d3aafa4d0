package import WidgetModel

/// Records that one caller appends to one partition at once: all of them or none.
package struct Submission: Hashable, Sendable {
    package let partition: PartitionID
    package let records: PackedRecords

    /// - Parameters:
    ///   - partition: The partition of the log.
    ///   - records: At least one; a journal refuses none with `.invalid`.
    package init(partition: PartitionID, records: PackedRecords) {
        self.partition = partition
        self.records = records
    }

    /// The bytes of the records, for limits.
    package var byteCount: Int { self.records.bytes.count }
}

/// Records that one caller appends to every partition: the same records for all, or other ones for each.
package struct SubmissionToAll: Hashable, Sendable {
    /// One element: the records for all partitions. Or one for each partition, in the order of the partitions.
    private let parts: [PackedRecords]

    /// - Parameter records: At least one record, for every partition.
    package init(_ records: PackedRecords) { self.parts = [records] }

    /// - Parameter each: By partition, at least one record each, one element for each partition of the log.
    package init(each: [PackedRecords]) { self.parts = each }

    /// Whether every partition gets the same.
    package var isSame: Bool { self.parts.count == 1 }

    /// The records of a partition.
    package func records(for partition: PartitionID) -> PackedRecords {
        self.isSame ? self.parts[0] : self.parts[Int(partition.rawValue)]
    }

    /// The records to store: once if they are for all, else those of each.
    package var distinctRecords: [PackedRecords] { self.parts }

    /// The bytes to store; records for all partitions count once.
    package var byteCount: Int { self.parts.reduce(0) { $0 + $1.bytes.count } }

    /// The bytes of all partitions together.
    package func byteCount(among partitions: Int) -> Int {
        self.isSame ? self.byteCount * partitions : self.byteCount
    }
}

/// Where the records of one submission for one partition are.
package struct AppendReceipt: Hashable, Sendable {
    package let partition: PartitionID
    /// The entry they are in.
    package let position: LogPosition
    /// The place of the submission's first record among that entry's records; the others follow it.
    package let firstRecordIndex: Int

    package init(partition: PartitionID, position: LogPosition, firstRecordIndex: Int) {
        self.partition = partition
        self.position = position
        self.firstRecordIndex = firstRecordIndex
    }
}

package import WidgetModel

/// What one caller appends at once: packed records for one or more partitions, all of them or none.
package struct Submission: Hashable, Sendable {
    package struct Batch: Hashable, Sendable {
        package let partition: PartitionID
        package let records: PackedRecords

        package init(partition: PartitionID, records: PackedRecords) {
            self.partition = partition
            self.records = records
        }
    }

    /// In the order of the partitions, each at most once.
    package let batches: [Batch]

    /// - Parameter batches: In the order of the partitions, each at most once, with at least one record each; a journal
    ///   refuses anything else with `.invalid`.
    package init(_ batches: [Batch]) {
        self.batches = batches
    }

    package init(partition: PartitionID, records: PackedRecords) {
        self.batches = [Batch(partition: partition, records: records)]
    }

    /// The bytes of all batches, for limits.
    package var byteCount: Int { self.batches.reduce(0) { $0 + $1.records.bytes.count } }
}

/// Where the records of one submission for one partition are.
package struct AppendReceipt: Hashable, Sendable {
    package let partition: PartitionID
    /// The entry they are in.
    package let position: LogPosition
    /// The place of the submission's first record among that entry's records; the others follow it.
    package let firstRecordIndex: Int
    /// The entry's time.
    package let logTime: Instant

    package init(partition: PartitionID, position: LogPosition, firstRecordIndex: Int, logTime: Instant) {
        self.partition = partition
        self.position = position
        self.firstRecordIndex = firstRecordIndex
        self.logTime = logTime
    }
}

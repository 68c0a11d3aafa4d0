package import WidgetModel

/// One entry of a partition's log: the packed records of one or several submissions.
package struct LogEntry: Hashable, Sendable {
    package let position: LogPosition
    /// When the entry was written, never before the entry ahead of it.
    package let logTime: Instant
    package let packed: PackedRecords

    package init(position: LogPosition, logTime: Instant, packed: PackedRecords) {
        self.position = position
        self.logTime = logTime
        self.packed = packed
    }

    /// The packed records.
    package var bytes: [UInt8] { self.packed.bytes }
    package var recordCount: Int { self.packed.count }
    /// Where each record is in ``bytes``, in order; the place in this sequence is the index that receipts speak of.
    package var records: PackedRecords.Ranges { self.packed.ranges }

    /// The checksum that is stored beside the entry: over its place as well, so that a row in the wrong place is found.
    package func checksum(in partition: PartitionID) -> UInt32 {
        var checksum = CRC32C()
        checksum.combine(UInt64(partition.rawValue))
        checksum.combine(self.position.rawValue)
        checksum.combine(UInt64(bitPattern: self.logTime.milliseconds))
        checksum.combine(UInt64(self.packed.count))
        checksum.combine(self.packed.bytes.span)
        return checksum.value
    }
}

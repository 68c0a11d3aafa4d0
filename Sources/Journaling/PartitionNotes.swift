package import WidgetModel

/// The notes on a partition beside its log.
package enum PartitionNote: String, Sendable {
    /// How far senders have their receipts.
    case receipts
}

/// Notes on partitions, kept with the log: every node that has it open finds them. All methods wait for the store.
package protocol PartitionNotes: Sendable {
    /// Nil if nothing was noted yet.
    func readNote(_ note: PartitionNote, of partition: PartitionID) throws(JournalError) -> [UInt8]?
    /// Has a note say this from now on, whatever it said.
    func writeNote(_ note: PartitionNote, _ bytes: [UInt8], of partition: PartitionID) throws(JournalError)
}

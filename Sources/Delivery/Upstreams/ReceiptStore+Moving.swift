import Engine
package import Logging
import WidgetModel

extension ReceiptStore {
    /// Has another store say how far senders were told, as this one does: for a log that moves.
    ///
    /// - Parameter partitions: How many the log has.
    /// - Throws: Why they cannot be read or written; one attempt is made.
    package func copy(to other: ReceiptStore, partitions: Int, logger: Logger) async throws {
        let places = self.places(partitions: partitions, logger)
        var known: [BundleID: [CompletionPlace?]] = [:]
        for number in 0..<partitions {
            known.merge(try await places.readOnce(homeIn: PartitionID(UInt16(number)))) { $1 }
        }
        if !known.isEmpty { try await other.places(partitions: partitions, logger).writeOnce(known) }
    }
}

import Engine
package import Logging
import WidgetModel

extension ReceiptStore {
    /// Has another store say how far senders were told, as this one does: for a log that moves.
    ///
    /// - Parameter partitions: How many the log has.
    package func copy(to other: ReceiptStore, partitions: Int, logger: Logger) async {
        let places = self.places(partitions: partitions, logger)
        var known: [BundleID: [CompletionPlace?]] = [:]
        for number in 0..<partitions {
            known.merge(await places.read(homeIn: PartitionID(UInt16(number)))) { $1 }
        }
        if !known.isEmpty { await other.places(partitions: partitions, logger).write(known) }
    }
}

package import Journaling
import WidgetModel

extension WorkAdmission {
    /// What became of a submission that was charged: its work is in the log now, or never will be.
    ///
    /// Call it from the journal's receipt callback, before that returns: the entries are announced after it.
    package func end(_ charges: WorkCharges, with result: Result<[AppendReceipt], JournalError>) {
        guard case .success(let receipts) = result else { return self.end(charges) }
        for charge in charges.all {
            let work = self.partitions[Int(charge.partition.rawValue)]
            if let receipt = receipts.first(where: { $0.partition == charge.partition }) {
                work.log(charge, at: receipt.position)
            } else {
                work.end(charge)
            }
        }
    }
}

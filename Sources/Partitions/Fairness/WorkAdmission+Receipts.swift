package import Journaling
import WidgetModel

extension WorkAdmission {
    /// Takes the result of a charged submission: its work is in the log now, or never will be.
    ///
    /// Call it from the journal's receipt callback, before that returns: the entries are announced after it.
    package func end(_ charges: WorkCharges, with result: Result<AppendReceipt, JournalError>) {
        switch result {
        case .failure: self.end(charges)
        case .success(let receipt): self.log(charges, at: receipt)
        }
    }

    /// A charged submission is in a partition's log: notes that its charges there are, too.
    package func log(_ charges: WorkCharges, at receipt: AppendReceipt) {
        for charge in charges.all where charge.partition == receipt.partition {
            self.partitions[Int(charge.partition.rawValue)].log(charge, at: receipt.position)
        }
    }
}

package import Engine
import Journaling
package import WidgetModel

extension CommandLog {
    /// Logs a record for a partition, wherever its owner is, and waits until it is durable; no owner is waited for.
    package func store(_ record: Record, in partition: PartitionID) async throws(Problem) {
        var builder = SubmissionBuilder(partitions: self.partitions)
        _ = builder.append(record, to: partition)
        for submission in builder.takeSubmissions() {
            let stored = await withCheckedContinuation { continuation in
                self.journal.append(submission) { continuation.resume(returning: $0) }
            }
            if case .failure(let error) = stored { throw Problem(of: error) }
        }
    }
}

import Journaling
import WidgetModel

extension Journal {
    /// The newest output of a partition, nil if there is none.
    func newestOutput(_ partition: PartitionID) async throws -> OutputEntry? {
        try await withCheckedThrowingContinuation { continuation in
            self.readNewestOutput(partition) { continuation.resume(with: $0) }
        }
    }
}

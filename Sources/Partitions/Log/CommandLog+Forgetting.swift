import Ownership
import WidgetModel

extension CommandLog {
    /// Has every node forget the history of its partitions, one node after the other.
    ///
    /// - Parameter here: Forgets it on this node.
    /// - Returns: How many files of the log were removed.
    /// - Throws: The reason of a node that could not, or that it does not answer. Others may have forgotten theirs; it may be asked again.
    package func forgetHistory(here: ForgetHistory) async throws(Problem) -> Int {
        var left = Set(self.partitionIDs)
        var files = 0
        while let partition = left.min() {
            let forgotten = try await self.ask(partition, .forgetHistory) { _, _ in try await here() }
            // It has moved while it was asked for.
            guard forgotten.partitions.contains(partition) else {
                throw Problem(OwnerError.away(partition: partition, owner: nil))
            }
            left.subtract(forgotten.partitions)
            files += forgotten.files
        }
        return files
    }
}

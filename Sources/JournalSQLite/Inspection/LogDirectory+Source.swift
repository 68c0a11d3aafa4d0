package import Journaling
package import WidgetModel

extension LogDirectory: SourceLog {
    package func outputRange(_ partition: PartitionID) throws(JournalError) -> ClosedRange<OutputPosition>? {
        guard let newest = try self.newestOutput(partition)?.position else { return nil }
        let before = self.files.first?.starts[Int(partition.rawValue)].newestOutput
        return (before?.next ?? .first)...newest
    }
}

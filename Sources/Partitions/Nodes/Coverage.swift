import Synchronization
package import WidgetModel

/// Which partitions an answer lacks that is merged from all.
package final class Coverage: Sendable {
    private let silent = Mutex<Set<PartitionID>>([])
    private let partitions: Int

    package init(of partitions: Int) { self.partitions = partitions }

    package func noteSilence(of partition: PartitionID) { self.silent.withLock { _ = $0.insert(partition) } }

    /// How many answered, of how many, and which did not; nil where all did.
    package var json: JSONValue? {
        let silent = self.silent.withLock { $0.sorted { $0.rawValue < $1.rawValue } }
        guard !silent.isEmpty else { return nil }
        return JSONValue.object(of: [
            ("answered", .count(self.partitions - silent.count)),
            ("of", .count(self.partitions)),
            ("missing", .array(silent.map { .count(Int($0.rawValue)) })),
        ])
    }
}

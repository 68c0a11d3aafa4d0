import Synchronization
import WidgetModel

/// The observers of new entries, by partition.
final class AppendObservers: Sendable {
    typealias Observer = @Sendable (LogPosition) -> Void

    private let observers: Mutex<[[Observer]]>

    init(partitions: Int) {
        self.observers = Mutex(Array(repeating: [], count: partitions))
    }

    func add(_ partition: PartitionID, _ observer: @escaping Observer) {
        self.observers.withLock { $0[Int(partition.rawValue)].append(observer) }
    }

    func all(of partition: PartitionID) -> [Observer] {
        self.observers.withLock { $0[Int(partition.rawValue)] }
    }
}

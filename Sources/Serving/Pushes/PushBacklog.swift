import Synchronization

/// How many requests of all event loops wait for the log or for the partitions: a bound on the memory that they hold.
///
/// The journal bounds the bytes of records; this bounds the requests, whose streams, ids and answers take more.
package final class PushBacklog: Sendable {
    private let waiting = Atomic<Int>(0)
    private let max: Atomic<Int>

    /// - Parameter max: The most requests that may wait, at least 1.
    package init(max: Int) {
        self.max = Atomic(max)
    }

    /// Lets more or fewer wait from now on; those that do stay.
    package func setLimit(max: Int) { self.max.store(max, ordering: .relaxed) }

    /// How many wait.
    package var count: Int { self.waiting.load(ordering: .relaxed) }

    /// Whether there is no room for one more, beside those that a loop holds and has not added yet.
    package func isFull(beside own: Int) -> Bool { self.count + own >= self.max.load(ordering: .relaxed) }

    package func add(_ count: Int) { self.waiting.wrappingAdd(count, ordering: .relaxed) }
    package func remove(_ count: Int) { self.waiting.wrappingSubtract(count, ordering: .relaxed) }
}

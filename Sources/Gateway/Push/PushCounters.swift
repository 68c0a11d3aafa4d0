package import APNSWire
import Synchronization

/// What the push listener has answered since the process started. Lock-free; read by the operators' routes.
package final class PushCounters: Sendable {
    private let acceptedCount = Atomic<Int>(0)
    private let unavailableCount = Atomic<Int>(0)
    private let tooManyMatchedCount = Atomic<Int>(0)
    private let verifiedCount = Atomic<Int>(0)
    private let rejectedCounts = Mutex<[Rejection: Int]>([:])

    package init() {}

    package func add(accepted count: Int) { self.acceptedCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(unavailable count: Int) { self.unavailableCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(tooManyMatched count: Int) { self.tooManyMatchedCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(verified count: Int) { self.verifiedCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(rejected rejection: Rejection) {
        self.rejectedCounts.withLock { $0[rejection, default: 0] += 1 }
    }

    /// Pushes answered 200.
    package var accepted: Int { self.acceptedCount.load(ordering: .relaxed) }
    /// Pushes answered 503, since they could not be made durable.
    package var unavailable: Int { self.unavailableCount.load(ordering: .relaxed) }
    /// Pushes, dry runs and broadcasts answered 409, since they match too many instances.
    package var tooManyMatched: Int { self.tooManyMatchedCount.load(ordering: .relaxed) }
    /// Signatures of provider tokens that were checked; a remembered token costs none.
    package var verified: Int { self.verifiedCount.load(ordering: .relaxed) }
    /// Pushes rejected, by reason, in the order of the reasons.
    package var rejected: [(Rejection, Int)] {
        let counts = self.rejectedCounts.withLock { $0 }
        return Rejection.allCases.compactMap { rejection in counts[rejection].map { (rejection, $0) } }
    }
}

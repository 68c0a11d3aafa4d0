import Synchronization

/// How many gateways share the log and live, this one among them: each has its part of the senders' rates.
package final class LiveNodes: Sendable {
    private let known = Atomic<Int>(1)

    package init() {}

    /// At least 1.
    package var count: Int { self.known.load(ordering: .relaxed) }

    package func set(_ count: Int) { self.known.store(max(1, count), ordering: .relaxed) }
}

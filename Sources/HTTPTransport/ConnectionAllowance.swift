import Synchronization

/// How many connections several listeners may have open together, so that the process keeps descriptors for itself.
///
/// A process without a single one is not safe: libdispatch, whose threads run Swift's tasks, ends it when it cannot open a file
/// of its own.
package final class ConnectionAllowance: Sendable {
    /// Nil for no bound.
    package let max: Int?
    private let used = Atomic<Int>(0)

    /// - Parameter max: At least 1; nil for no bound.
    package init(max: Int?) {
        self.max = max.map { Swift.max(1, $0) }
    }

    /// Whether nothing more should be accepted now.
    var isUsedUp: Bool { self.max.map { self.used.load(ordering: .relaxed) >= $0 } ?? false }

    func takeOne() { self.used.add(1, ordering: .relaxed) }
    func giveBack() { self.used.subtract(1, ordering: .relaxed) }
}

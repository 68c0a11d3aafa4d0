import Dispatch
import Synchronization

/// Collects what callbacks say, in their order, and waits for a number of them.
package final class Inbox<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let arrived = DispatchSemaphore(value: 0)

    package init() {}

    package func add(_ value: Value) {
        self.values.withLock { $0.append(value) }
        self.arrived.signal()
    }

    /// The values so far once there are at least `count` more than the last call waited for.
    package func wait(for count: Int) -> [Value] {
        for _ in 0..<count { self.arrived.wait() }
        return self.values.withLock { $0 }
    }

    package var all: [Value] { self.values.withLock { $0 } }
}

import Synchronization

/// A value that several threads read and one replaces.
package final class Shared<Value: Sendable>: Sendable {
    private let held: Mutex<Value>

    package init(_ value: Value) {
        self.held = Mutex(value)
    }

    package var value: Value { self.held.withLock { $0 } }

    package func set(_ value: Value) { self.held.withLock { $0 = value } }
}

import Synchronization

/// A value that several threads read and one replaces.
final class Shared<Value: Sendable>: Sendable {
    private let held: Mutex<Value>

    init(_ value: Value) {
        self.held = Mutex(value)
    }

    var value: Value { self.held.withLock { $0 } }

    func set(_ value: Value) { self.held.withLock { $0 = value } }
}

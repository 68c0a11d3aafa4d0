import Synchronization

/// A value on its way from one thread to another.
///
/// Whoever takes it has the only one: what it refers to is shared with nobody, and so not copied when it is changed. Results of
/// futures and captured values stay where they were as well, which for an engine would be a copy of its tables.
final class Handover<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
    }

    /// The value, for whoever comes first.
    func take() -> Value? {
        self.value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}

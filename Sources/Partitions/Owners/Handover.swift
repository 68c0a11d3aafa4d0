import Synchronization

/// A value on its way from one thread to another.
///
/// Results of futures and captured values are copied, which a noncopyable value does not allow.
final class Handover<Value: ~Copyable & Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func give(_ value: consuming Value) {
        var given: Value? = consume value
        self.value.withLock { $0 = given.take() }
    }

    /// The value, for the first that takes it.
    func take() -> Value? { self.value.withLock { $0.take() } }
}

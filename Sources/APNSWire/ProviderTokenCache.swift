/// Verified tokens, by the raw bytes of their `authorization` value.
///
/// Verifying costs as much as a dozen requests, so it is done once per token and owner. Bounded: the entry that was
/// added first makes room. The guessed entry is compared first, in constant time; any other hit is a hash and one
/// comparison of all bytes, which tells an attacker nothing, because it takes place only after the seeded hashes agree.
/// The cache knows no time: check the age on every hit (``ProviderTokenRules``), and empty it when keys change.
///
/// Not copyable: it belongs to one event loop, and a look into it must not copy its tables.
package struct ProviderTokenCache<Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline var keys: ByteKeys
    @usableFromInline var values: [Value] = []

    /// - Parameters:
    ///   - capacity: The most entries, at least 1.
    ///   - seed: A secret random number, so that no peer can choose tokens that collide.
    package init(capacity: Int, seed: UInt64) {
        self.keys = ByteKeys(capacity: capacity, seed: seed)
    }

    package var count: Int { self.values.count }

    /// The value for an `authorization` value, or nil. O(bytes / 8).
    ///
    /// - Parameter guess: A number that it may have; becomes its real number. Pass the last one, because senders use a
    ///   token for an hour. Any number is allowed.
    @inlinable
    package func value(for authorization: Span<UInt8>, guess: inout Int) -> Value? {
        if self.keys.holds(authorization, as: guess) { return self.values[guess] }
        guard let number = self.keys.number(of: authorization) else { return nil }
        guess = number
        return self.values[number]
    }

    /// Keeps a value, in place of the oldest entry if there is no room, or of the one under the same bytes.
    package mutating func insert(_ value: Value, for authorization: Span<UInt8>) {
        let number = self.keys.insert(authorization)
        if number == self.values.count { self.values.append(value) } else { self.values[number] = value }
    }

    /// Forgets everything, as when a key was taken away.
    package mutating func removeAll() {
        self.keys.removeAll()
        self.values.removeAll(keepingCapacity: true)
    }
}

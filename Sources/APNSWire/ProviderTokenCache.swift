/// Tokens that were verified, by the raw bytes of the `authorization` value that brought them.
///
/// Verifying costs as much as a dozen requests, so it is done once per token and owner. Bounded: the entry that was
/// added first makes room. A hit is a hash and one comparison of all bytes, which tells an attacker nothing, since it
/// takes place only after the seeded hashes agree. The cache knows no time: check the age on every hit
/// (``ProviderTokenRules``), and empty it when keys change.
package struct ProviderTokenCache<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let hash: UInt64
        let key: [UInt8]
        var value: Value
    }

    /// The most entries.
    package let capacity: Int
    private let hash: ByteHash
    private var entries: [Entry] = []
    /// The entry that was added first, once the cache is full.
    private var oldest = 0
    /// Numbers of entries plus one; zero is free. A power of two, at least twice ``capacity``.
    private var slots: [UInt32]

    /// - Parameters:
    ///   - capacity: The most entries, at least 1.
    ///   - seed: A secret random number, so that nobody can choose tokens that collide.
    package init(capacity: Int, seed: UInt64) {
        precondition(capacity >= 1 && capacity < 1 << 30)
        self.capacity = capacity
        self.hash = ByteHash(seed: seed)
        var slots = 8
        while slots < capacity * 2 { slots *= 2 }
        self.slots = Array(repeating: 0, count: slots)
    }

    package var count: Int { self.entries.count }

    /// What was kept for an `authorization` value, or nil. O(bytes / 16).
    package func value(for authorization: Span<UInt8>) -> Value? {
        self.slot(of: authorization, self.hash.hash(authorization)).map { self.entries[Int(self.slots[$0]) - 1].value }
    }

    /// Keeps a value, in place of the oldest entry if there is no room, or of the one under the same bytes.
    package mutating func insert(_ value: Value, for authorization: Span<UInt8>) {
        let hash = self.hash.hash(authorization)
        if let slot = self.slot(of: authorization, hash) {
            self.entries[Int(self.slots[slot]) - 1].value = value
            return
        }
        var key: [UInt8] = []
        key.reserveCapacity(authorization.count)
        for index in authorization.indices { key.append(authorization[index]) }
        let entry = Entry(hash: hash, key: key, value: value)
        if self.entries.count < self.capacity {
            self.entries.append(entry)
            self.place(self.entries.count - 1)
        } else {
            self.free(self.oldest)
            self.entries[self.oldest] = entry
            self.place(self.oldest)
            self.oldest = (self.oldest + 1) % self.capacity
        }
    }

    /// Forgets everything, as when a key was taken away.
    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.oldest = 0
        for slot in self.slots.indices { self.slots[slot] = 0 }
    }

    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (self.slots.count - 1) }

    private func slot(of key: Span<UInt8>, _ hash: UInt64) -> Int? {
        let mask = self.slots.count - 1
        var slot = self.home(hash)
        while self.slots[slot] != 0 {
            let index = Int(self.slots[slot]) - 1
            if self.entries[index].hash == hash {
                let stored = self.entries[index].key
                if stored.span.equals(key) { return slot }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private mutating func place(_ index: Int) {
        let mask = self.slots.count - 1
        var slot = self.home(self.entries[index].hash)
        while self.slots[slot] != 0 { slot = (slot + 1) & mask }
        self.slots[slot] = UInt32(index + 1)
    }

    /// Takes an entry out of the slots and closes the gap, so that no probe ends early (Knuth 6.4, algorithm R).
    private mutating func free(_ index: Int) {
        let mask = self.slots.count - 1
        var gap = self.home(self.entries[index].hash)
        while self.slots[gap] != UInt32(index + 1) { gap = (gap + 1) & mask }
        var slot = (gap + 1) & mask
        while self.slots[slot] != 0 {
            let home = self.home(self.entries[Int(self.slots[slot]) - 1].hash)
            if (slot &- home) & mask >= (slot &- gap) & mask {
                self.slots[gap] = self.slots[slot]
                gap = slot
            }
            slot = (slot + 1) & mask
        }
        self.slots[gap] = 0
    }
}

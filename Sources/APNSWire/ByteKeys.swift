import WidgetModel

/// A bounded set of byte strings, each with a small number, in the order in which they were added.
///
/// The part of ``ProviderTokenCache`` that does not depend on its values, so that it is compiled once and fast. When
/// it is full, the key that was added first makes room, and its number goes to the new key.
package struct ByteKeys: Sendable {
    private struct Entry: Sendable {
        let hash: UInt64
        let key: [UInt8]
    }

    /// The most keys.
    package let capacity: Int
    private let hash: ByteHash
    private var entries: [Entry] = []
    /// The key that was added first, once the set is full.
    private var oldest = 0
    /// Numbers of keys plus one; zero is free. A power of two, at least twice ``capacity``; linear probing.
    private var slots: [UInt32]

    package init(capacity: Int, seed: UInt64) {
        precondition(capacity >= 1 && capacity < 1 << 30)
        self.capacity = capacity
        self.hash = ByteHash(seed: seed)
        var slots = 8
        while slots < capacity * 2 { slots *= 2 }
        self.slots = Array(repeating: 0, count: slots)
    }

    package var count: Int { self.entries.count }

    /// The number of a key, in `0..<capacity`, or nil. O(bytes / 16).
    package func number(of key: Span<UInt8>) -> Int? { self.number(of: key, self.hash.hash(key)) }

    /// Whether a number is a key's; false for a number that no key has. Takes as long for any key of one length.
    package func holds(_ key: Span<UInt8>, as number: Int) -> Bool {
        guard self.entries.indices.contains(number) else { return false }
        let stored = self.entries[number].key
        return stored.span.equalsInConstantTime(key)
    }

    private func number(of key: Span<UInt8>, _ hash: UInt64) -> Int? {
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while self.slots[slot] != 0 {
            let index = Int(self.slots[slot]) - 1
            if self.entries[index].hash == hash {
                let stored = self.entries[index].key
                if stored.span.equals(key) { return index }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The number of a key that is added if it is not there; at most one more than any number before.
    package mutating func insert(_ key: Span<UInt8>) -> Int {
        let hash = self.hash.hash(key)
        if let number = self.number(of: key, hash) { return number }
        let entry = Entry(hash: hash, key: Array(copying: key))
        let index: Int
        if self.entries.count < self.capacity {
            index = self.entries.count
            self.entries.append(entry)
        } else {
            index = self.oldest
            self.free(index)
            self.entries[index] = entry
            self.oldest = (index + 1) % self.capacity
        }
        self.place(index)
        return index
    }

    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.oldest = 0
        for slot in self.slots.indices { self.slots[slot] = 0 }
    }

    private func home(_ index: Int) -> Int {
        Int(truncatingIfNeeded: self.entries[index].hash) & (self.slots.count - 1)
    }

    private mutating func place(_ index: Int) {
        let mask = self.slots.count - 1
        var slot = self.home(index)
        while self.slots[slot] != 0 { slot = (slot + 1) & mask }
        self.slots[slot] = UInt32(index + 1)
    }

    /// Takes a key out of the slots and closes the gap, so that no probe ends early (Knuth, TAOCP 6.4, algorithm R).
    private mutating func free(_ index: Int) {
        let mask = self.slots.count - 1
        var gap = self.home(index)
        while self.slots[gap] != UInt32(index + 1) { gap = (gap + 1) & mask }
        var slot = (gap + 1) & mask
        while self.slots[slot] != 0 {
            let home = self.home(Int(self.slots[slot]) - 1)
            if (slot &- home) & mask >= (slot &- gap) & mask {
                self.slots[gap] = self.slots[slot]
                gap = slot
            }
            slot = (slot + 1) & mask
        }
        self.slots[gap] = 0
    }
}

import Storage
import WidgetModel

/// A bounded set of byte strings, each with a small number, in the order in which they were added.
///
/// The part of ``ProviderTokenCache`` that does not depend on its values, so that it is compiled once and fast. When
/// it is full, the key that was added first makes room, and its number goes to the new key.
package struct ByteKeys: ~Copyable, Sendable {
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
    private var index = SlotIndex()

    package init(capacity: Int, seed: UInt64) {
        precondition(capacity >= 1 && capacity < 1 << 30)
        self.capacity = capacity
        self.hash = ByteHash(seed: seed)
    }

    /// The number of a key, in `0..<capacity`, or nil. O(bytes / 16).
    package func number(of key: Span<UInt8>) -> Int? { self.number(of: key, self.hash.hash(key)) }

    /// Whether a number is a key's; false for a number that no key has. Takes as long for any key of one length.
    package func holds(_ key: Span<UInt8>, as number: Int) -> Bool {
        guard self.entries.indices.contains(number) else { return false }
        let stored = self.entries[number].key
        return stored.span.equalsInConstantTime(key)
    }

    private func number(of key: Span<UInt8>, _ hash: UInt64) -> Int? {
        let found = self.index.find(hash) { number in
            let stored = self.entries[Int(number)].key
            return stored.span.equals(key)
        }
        return found.map { Int($0) }
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
            self.index.remove(UInt32(index), self.entries[index].hash)
            self.entries[index] = entry
            self.oldest = (index + 1) % self.capacity
        }
        self.index.insert(UInt32(index), hash)
        return index
    }

    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.oldest = 0
        self.index = SlotIndex()
    }
}

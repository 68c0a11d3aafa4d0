/// A small hash table from byte strings that are known beforehand to values.
///
/// Linear probing, at most half full. The keys come from the configuration, so the hash needs no secret seed.
struct ByteTable<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let hash: UInt64
        let key: [UInt8]
        let value: Value
    }

    private let hash = ByteHash(seed: 0)
    private var entries: [Entry] = []
    /// Numbers of entries plus one; zero is free. The count is a power of two.
    private var slots: [UInt32] = Array(repeating: 0, count: 8)

    init() {}

    var count: Int { self.entries.count }

    /// Adds a key. One that is there already keeps its value.
    mutating func insert(_ key: [UInt8], _ value: Value) {
        guard self.value(for: key.span) == nil else { return }
        let hash = self.hash.hash(key.span)
        self.entries.append(Entry(hash: hash, key: key, value: value))
        if self.entries.count * 2 > self.slots.count {
            self.slots = Array(repeating: 0, count: self.slots.count * 2)
            for index in self.entries.indices { self.place(index) }
        } else {
            self.place(self.entries.count - 1)
        }
    }

    private mutating func place(_ index: Int) {
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: self.entries[index].hash) & mask
        while self.slots[slot] != 0 { slot = (slot + 1) & mask }
        self.slots[slot] = UInt32(index + 1)
    }

    /// The value of a key, or nil.
    func value(for key: Span<UInt8>) -> Value? {
        let hash = self.hash.hash(key)
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while self.slots[slot] != 0 {
            let index = Int(self.slots[slot]) - 1
            if self.entries[index].hash == hash {
                let stored = self.entries[index].key
                if stored.span.equals(key) { return self.entries[index].value }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }
}

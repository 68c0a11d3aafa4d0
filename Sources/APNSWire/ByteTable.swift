import Storage

/// Values by byte strings that are known beforehand.
///
/// The keys come from the configuration, so the hash needs no secret seed.
struct ByteTable<Value: Sendable>: ~Copyable, Sendable {
    private struct Entry: Sendable {
        let key: [UInt8]
        let value: Value
    }

    private let hash = ByteHash(seed: 0)
    private var entries: [Entry] = []
    private var index = SlotIndex()

    init() {}

    /// The keys and values of another table.
    init(copying other: borrowing ByteTable) {
        for entry in other.entries { self.insert(entry.key, entry.value) }
    }

    /// Adds a key. One that is there already keeps its value.
    mutating func insert(_ key: [UInt8], _ value: Value) {
        guard self.value(for: key.span) == nil else { return }
        self.entries.append(Entry(key: key, value: value))
        self.index.insert(UInt32(self.entries.count - 1), self.hash.hash(key.span))
    }

    /// The value of a key, or nil.
    func value(for key: Span<UInt8>) -> Value? {
        let found = self.index.find(self.hash.hash(key)) { number in
            let stored = self.entries[Int(number)].key
            return stored.span.equals(key)
        }
        return found.map { self.entries[Int($0)].value }
    }
}

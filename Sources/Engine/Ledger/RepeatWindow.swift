import Storage
import WidgetModel

/// The last pushes, by which a repeat is recognised: a ring of a bounded number of ids.
struct RepeatWindow: ~Copyable, Sendable {
    struct Entry: Sendable {
        let id: PushID
        /// A fixed-seed hash of team, target, headers and body.
        let key: UInt64
        let acceptedAt: Instant
        var matched: UInt32
    }

    /// So many entries are taken over for one unit: each goes into the index.
    private static let entriesPerUnit = 4

    private(set) var entries = RowChunks<Entry>()
    private var index = SlotIndex()
    /// Where the next entry goes once the ring is full: the oldest one's place.
    private(set) var oldest = 0
    private(set) var capacity: Int
    private let seed: UInt64

    init(capacity: Int, seed: UInt64) {
        self.capacity = max(1, capacity)
        self.seed = seed
    }

    /// The window of entries that were read back. O(entries).
    init(capacity: Int, seed: UInt64, entries: consuming RowChunks<Entry>, oldest: Int) {
        self.init(capacity: capacity, seed: seed)
        self.entries = entries
        self.oldest = oldest
        for slot in self.entries.indices { self.index.insert(UInt32(slot), self.hash(self.entries[slot].id)) }
    }

    /// Bytes of memory held.
    var byteCount: Int { self.entries.byteCount + self.index.byteCount }

    /// When the oldest push that is still recognised was accepted.
    var start: Instant? {
        self.entries.count == 0 ? nil : self.entries[self.entries.count < self.capacity ? 0 : self.oldest].acceptedAt
    }

    @inline(__always)
    private func hash(_ id: PushID) -> UInt64 { SeededHash.of(id.high, id.low, seed: self.seed) }

    /// Fetches where an id is or goes.
    @inline(__always)
    func prefetch(_ id: PushID) { self.index.prefetch(self.hash(id)) }

    @inline(__always)
    func find(_ id: PushID, key: UInt64) -> Int? {
        self.index.find(self.hash(id)) { (slot: UInt32) in
            self.entries[Int(slot)].id == id && self.entries[Int(slot)].key == key
        }.map { Int($0) }
    }

    @inline(__always)
    func matched(_ slot: Int) -> Int { Int(self.entries[slot].matched) }

    mutating func setMatched(_ slot: Int, _ count: Int) {
        self.entries[slot].matched = UInt32(clamping: count)
    }

    /// Remembers a push, forgetting the oldest one if the ring is full, and returns its slot.
    mutating func insert(_ id: PushID, key: UInt64, at now: Instant) -> Int {
        let entry = Entry(id: id, key: key, acceptedAt: now, matched: 0)
        let slot: Int
        if self.entries.count < self.capacity {
            slot = self.entries.count
            self.entries.append(entry)
        } else {
            slot = self.oldest
            self.index.remove(UInt32(slot), self.hash(self.entries[slot].id))
            self.entries[slot] = entry
            self.oldest = slot + 1 == self.capacity ? 0 : slot + 1
        }
        self.index.insert(UInt32(slot), self.hash(id))
        return slot
    }

    /// A window of another capacity without entries, see ``fill(from:_:)``.
    func successor(capacity: Int) -> RepeatWindow { RepeatWindow(capacity: capacity, seed: self.seed) }

    /// Takes over some of the newest entries of a window of another capacity, the oldest of them first.
    ///
    /// - Parameter units: The most units; a unit is some entries. Returns the unused rest.
    /// - Returns: Whether it has all that it has room for.
    mutating func fill(from old: borrowing RepeatWindow, _ units: inout Int) -> Bool {
        guard self.capacity != old.capacity else { return true }
        let kept = min(old.entries.count, self.capacity)
        let first = old.oldest + old.entries.count - kept
        while units > 0, self.entries.count < kept {
            for place in self.entries.count..<min(kept, self.entries.count + Self.entriesPerUnit) {
                let entry = old.entries[(first + place) % old.entries.count]
                self.setMatched(self.insert(entry.id, key: entry.key, at: entry.acceptedAt), Int(entry.matched))
            }
            units -= 1
        }
        return self.entries.count == kept
    }
}

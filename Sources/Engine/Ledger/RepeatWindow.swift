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
    private func hash(_ id: PushID) -> UInt64 {
        SeededHash.fold(SeededHash.fold(self.seed ^ id.high) ^ id.low)
    }

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

    /// Keeps as many of the newest as fit another capacity. O(kept).
    mutating func resize(to capacity: Int) {
        let capacity = max(1, capacity)
        guard capacity != self.capacity else { return }
        var inOrder: [Entry] = []
        self.forEach { inOrder.append($0) }
        self = RepeatWindow(capacity: capacity, seed: self.seed)
        for entry in inOrder.suffix(capacity) {
            self.setMatched(self.insert(entry.id, key: entry.key, at: entry.acceptedAt), Int(entry.matched))
        }
    }

    /// The entries from the oldest to the newest, for digests.
    func forEach(_ body: (Entry) -> Void) {
        for place in self.oldest..<self.entries.count { body(self.entries[place]) }
        for place in 0..<self.oldest { body(self.entries[place]) }
    }
}

/// The slots of a hash table whose keys are elsewhere: numbers by hash, open addressing with linear probing.
///
/// A slot also holds half of the hash: so few keys are looked at that are not the one that is looked for, and none when the
/// table grows. A table that becomes too full is moved to a new one a few slots with each change, so that none takes long.
struct HashSlots: Sendable {
    // The upper half of the hash above the number plus two: a new table is memory full of zeros, which costs nothing until
    // it is used.
    private static let empty: UInt64 = 0
    private static let gone: UInt64 = 1
    private static let hashMask: UInt64 = 0xFFFF_FFFF << 32
    /// Old slots that each change moves.
    private static let moved = 16

    /// A power of two of slots, at most three quarters of them taken or gone.
    private var slots = Column<UInt64>()
    /// Numbers and gone marks in ``slots``.
    private var taken = 0
    /// The table that is being moved from, as far as it is not moved yet; from ``next`` on.
    private var old = Column<UInt64>()
    private var next = 0
    /// Numbers in both tables.
    private(set) var count = 0

    var byteCount: Int { self.slots.byteCount + self.old.byteCount }

    /// Where a search is that asks for one candidate after the other: unlike a closure it captures nothing, which would be
    /// copied for each search.
    struct Probe {
        fileprivate let hash: UInt64
        fileprivate var slot: Int
        fileprivate var isOld = false
    }

    /// Fetches the slot where the search for a hash begins.
    @inline(__always)
    func prefetch(_ hash: UInt64) {
        self.slots.prefetch(Self.home(hash, self.slots.count - 1))
        if self.old.count > 0 { self.old.prefetch(Self.home(hash, self.old.count - 1)) }
    }

    /// A search for a hash, its candidates given by ``next(_:)``.
    @inline(__always)
    func probe(_ hash: UInt64) -> Probe {
        Probe(hash: hash, slot: self.slots.count > 0 ? Self.home(hash, self.slots.count - 1) : -1)
    }

    /// The next number that may have the hash, or nil if there are no more; then the search is over.
    @inline(__always)
    func next(_ probe: inout Probe) -> UInt32? {
        if !probe.isOld {
            if probe.slot >= 0, let number = Self.next(self.slots, &probe) { return number }
            guard self.old.count > 0 else { return nil }
            probe.isOld = true
            probe.slot = Self.home(probe.hash, self.old.count - 1)
        }
        return Self.next(self.old, &probe)
    }

    @inline(__always)
    private static func next(_ slots: Column<UInt64>, _ probe: inout Probe) -> UInt32? {
        let mask = slots.count - 1
        while true {
            let found = slots[probe.slot]
            if found == Self.empty { return nil }
            probe.slot = (probe.slot + 1) & mask
            if (found ^ probe.hash) & Self.hashMask == 0, found & ~Self.hashMask > Self.gone {
                return Self.number(found)
            }
        }
    }

    /// The number with this hash that `isEqual` accepts.
    @inline(__always)
    func find(_ hash: UInt64, _ isEqual: (UInt32) -> Bool) -> UInt32? {
        if let slot = Self.find(self.slots, hash, isEqual) { return Self.number(self.slots[slot]) }
        guard self.old.count > 0, let slot = Self.find(self.old, hash, isEqual) else { return nil }
        return Self.number(self.old[slot])
    }

    @inline(__always)
    private static func number(_ slot: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot) - 2 }

    /// Where the search for a slot's hash begins.
    @inline(__always)
    private static func home(_ hash: UInt64, _ mask: Int) -> Int { Int(hash >> 32) & mask }

    @inline(__always)
    private static func find(_ slots: Column<UInt64>, _ hash: UInt64, _ isEqual: (UInt32) -> Bool) -> Int? {
        guard slots.count > 0 else { return nil }
        let mask = slots.count - 1
        var slot = Self.home(hash, mask)
        while true {
            let found = slots[slot]
            if found == Self.empty { return nil }
            if (found ^ hash) & Self.hashMask == 0, found & ~Self.hashMask > Self.gone, isEqual(Self.number(found)) {
                return slot
            }
            slot = (slot + 1) & mask
        }
    }

    /// Moves what is left to move of a table that has grown, so that ``withSlots(_:)`` has all.
    mutating func finishMoving() {
        while self.old.count > 0 { self.move() }
    }

    /// Calls `body` with the slots, for ``find(_:in:_:)``. Precondition: none are to be moved.
    @inline(__always)
    func withSlots<Result>(_ body: (Span<UInt64>) -> Result) -> Result {
        precondition(self.old.count == 0, "slots that are being moved")
        return self.slots.withSpan(body)
    }

    /// The number with this hash that `isEqual` accepts, in slots that are lent for many searches.
    @inline(__always)
    static func find(_ hash: UInt64, in slots: Span<UInt64>, _ isEqual: (UInt32) -> Bool) -> UInt32? {
        guard slots.count > 0 else { return nil }
        let mask = slots.count - 1
        var slot = Self.home(hash, mask)
        while true {
            let found = slots[slot]
            if found == Self.empty { return nil }
            if (found ^ hash) & Self.hashMask == 0, found & ~Self.hashMask > Self.gone, isEqual(Self.number(found)) {
                return Self.number(found)
            }
            slot = (slot + 1) & mask
        }
    }

    /// Adds a number. Precondition: it is not in the table, and below the two highest.
    @inline(__always)
    mutating func insert(_ number: UInt32, _ hash: UInt64) {
        if self.old.count > 0 { self.move() }
        if 4 * (self.taken + 1) > 3 * self.slots.count { self.grow() }
        self.place(hash & Self.hashMask | UInt64(number + 2))
        self.count += 1
    }

    /// Removes a number. Precondition: it is in the table with this hash.
    mutating func remove(_ number: UInt32, _ hash: UInt64) {
        if let slot = Self.find(self.slots, hash, { $0 == number }) {
            self.slots[slot] = Self.gone
        } else if let slot = Self.find(self.old, hash, { $0 == number }) {
            self.old[slot] = Self.gone
        } else {
            preconditionFailure("the number is not in the table")
        }
        self.count -= 1
    }

    @inline(__always)
    private mutating func place(_ entry: UInt64) {
        let mask = self.slots.count - 1
        var slot = Self.home(entry, mask)
        while self.slots[slot] > Self.gone { slot = (slot + 1) & mask }
        if self.slots[slot] == Self.empty { self.taken += 1 }
        self.slots[slot] = entry
    }

    private mutating func move() {
        let end = min(self.next + Self.moved, self.old.count)
        while self.next < end {
            let entry = self.old[self.next]
            // Marked as gone, not as empty, so that what lies behind it is still found.
            if entry > Self.gone {
                self.old[self.next] = Self.gone
                self.place(entry)
            }
            self.next += 1
        }
        if self.next == self.old.count { self.old.removeAll() }
    }

    @inline(never)
    private mutating func grow() {
        // Never needed while a table is being moved: the new one has room for twice what the old one held.
        while self.old.count > 0 { self.move() }
        var size = 8
        while size < 2 * (self.count + 1) { size *= 2 }
        self.old = self.slots
        self.next = 0
        self.slots = Column(zeros: size)
        self.taken = 0
        if self.old.count > 0 { self.move() }
    }

    /// What is wrong with the table; empty if nothing.
    func checkInvariants() -> [String] {
        var faults: [String] = []
        var numbers = 0
        for slot in 0..<self.slots.count where self.slots[slot] > Self.gone { numbers += 1 }
        for slot in 0..<self.old.count where self.old[slot] > Self.gone { numbers += 1 }
        if numbers != self.count { faults.append("\(numbers) slots are taken for \(self.count) numbers") }
        if self.slots.count & (self.slots.count - 1) != 0 { faults.append("the table has \(self.slots.count) slots") }
        return faults
    }

    /// Begins the hashes of keys that peers choose, so that they cannot choose which ones collide. Differs from process to
    /// process, so nothing that leaves a table may depend on it.
    static let processSeed: UInt64 = {
        var hasher = Hasher()
        hasher.combine(0)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }()

    /// Folds a word into a hash with a full-width multiplication.
    @inline(__always)
    static func fold(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

/// The slots of a hash table whose keys are elsewhere: numbers by hash, open addressing with linear probing.
///
/// A table that becomes too full is moved to a new one a few slots with each change, so that none takes long. The caller
/// says what a number's hash is and whether a number is the one that is looked for.
struct HashSlots: Sendable {
    // Slots hold the number plus two: a new table is memory full of zeros, which costs nothing until it is used.
    private static let empty: UInt32 = 0
    private static let gone: UInt32 = 1
    /// Old slots that each change moves.
    private static let moved = 16

    /// A power of two of slots, at most two thirds of them taken or gone.
    private var slots = Column<UInt32>()
    /// Numbers and gone marks in ``slots``.
    private var taken = 0
    /// The table that is being moved from, as far as it is not moved yet; from ``next`` on.
    private var old = Column<UInt32>()
    private var next = 0
    /// Numbers in both tables.
    private(set) var count = 0

    var byteCount: Int { self.slots.byteCount + self.old.byteCount }

    /// The number with this hash that `isEqual` accepts.
    @inline(__always)
    func find(_ hash: UInt64, _ isEqual: (UInt32) -> Bool) -> UInt32? {
        if let slot = Self.find(self.slots, hash, isEqual) { return self.slots[slot] - 2 }
        guard self.old.count > 0, let slot = Self.find(self.old, hash, isEqual) else { return nil }
        return self.old[slot] - 2
    }

    @inline(__always)
    private static func find(_ slots: Column<UInt32>, _ hash: UInt64, _ isEqual: (UInt32) -> Bool) -> Int? {
        guard slots.count > 0 else { return nil }
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let number = slots[slot]
            if number == Self.empty { return nil }
            if number != Self.gone, isEqual(number - 2) { return slot }
            slot = (slot + 1) & mask
        }
    }

    /// Adds a number. Precondition: it is not in the table, and below the two highest.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - hash: Its hash.
    ///   - hashOf: The hash of every other number in the table.
    @inline(__always)
    mutating func insert(_ number: UInt32, _ hash: UInt64, _ hashOf: (UInt32) -> UInt64) {
        if self.old.count > 0 { self.move(hashOf) }
        if 3 * (self.taken + 1) > 2 * self.slots.count { self.grow(hashOf) }
        self.place(number, hash)
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
    private mutating func place(_ number: UInt32, _ hash: UInt64) {
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while self.slots[slot] > Self.gone { slot = (slot + 1) & mask }
        if self.slots[slot] == Self.empty { self.taken += 1 }
        self.slots[slot] = number + 2
    }

    private mutating func move(_ hashOf: (UInt32) -> UInt64) {
        let end = min(self.next + Self.moved, self.old.count)
        while self.next < end {
            let number = self.old[self.next]
            // Marked as gone, not as empty, so that what lies behind it is still found.
            if number > Self.gone {
                self.old[self.next] = Self.gone
                self.place(number - 2, hashOf(number - 2))
            }
            self.next += 1
        }
        if self.next == self.old.count { self.old.removeAll() }
    }

    @inline(never)
    private mutating func grow(_ hashOf: (UInt32) -> UInt64) {
        // Never needed while a table is being moved: the new one has room for twice what the old one held.
        while self.old.count > 0 { self.move(hashOf) }
        var size = 8
        while size < 3 * (self.count + 1) { size *= 2 }
        self.old = self.slots
        self.next = 0
        self.slots = Column(zeros: size)
        self.taken = 0
        if self.old.count > 0 { self.move(hashOf) }
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

    /// Folds a word into a hash with a full-width multiplication.
    @inline(__always)
    static func fold(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

import Storage

/// Numbers for distinct keys of words, each with a count of uses; a number without a use is taken again.
struct KeyTable<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable>: ~Copyable {
    private(set) var store = BlockStore<Word>()
    private var rows = Column<Row>()
    private var unused = Column<UInt32>()
    private var slots = SlotIndex()

    private struct Row: BitwiseCopyable {
        /// Where the key starts in the pool, and its length.
        var start: UInt32
        var length: UInt32
        /// How many use the number; 0 for one that is free.
        var uses: UInt32
    }

    /// Numbers in use.
    var count: Int { self.slots.count }

    /// One more than the highest number.
    var bound: Int { self.rows.count }

    var byteCount: Int {
        self.store.byteCount + self.rows.byteCount + self.unused.byteCount + self.slots.byteCount
    }

    /// The number of a key, new if it has none, and one use of it.
    mutating func internKey(_ key: Span<Word>) -> (number: UInt32, isNew: Bool) { self.internKey(key, Self.hash(key)) }

    /// Fetches the memory that looking for a key will read first, and returns the key's hash, for ``internKey(_:_:)``.
    @inline(__always)
    func prefetch(_ key: Span<Word>) -> UInt64 {
        let hash = Self.hash(key)
        self.slots.prefetch(hash)
        return hash
    }

    mutating func internKey(_ key: Span<Word>, _ hash: UInt64) -> (number: UInt32, isNew: Bool) {
        if let number = self.find(key, hash) {
            self.retain(number)
            return (number, false)
        }
        let start = self.store.allocate(max(1, key.count))
        self.store.elements.write(key, at: Int(start))
        let row = Row(start: start, length: UInt32(key.count), uses: 1)
        let number: UInt32
        if let free = self.unused.popLast() {
            number = free
            self.rows[Int(number)] = row
        } else {
            number = UInt32(self.rows.count)
            self.rows.append(row)
        }
        self.slots.insert(number, hash)
        return (number, true)
    }

    /// One more use of a number. Precondition: it has one.
    mutating func retain(_ number: UInt32) { self.rows[Int(number)].uses += 1 }

    /// Takes back one use; returns whether it was the last.
    @discardableResult
    mutating func release(_ number: UInt32) -> Bool {
        self.rows[Int(number)].uses -= 1
        let row = self.rows[Int(number)]
        guard row.uses == 0 else { return false }
        self.slots.remove(number, self.hash(of: number))
        self.store.release(row.start, max(1, Int(row.length)))
        self.unused.append(number)
        return true
    }

    /// The number of a key that has one.
    func find(_ key: Span<Word>) -> UInt32? { self.find(key, Self.hash(key)) }

    /// The same for a key of a known length, whose words need not be in memory.
    @inline(__always)
    func find<let count: Int>(_ key: InlineArray<count, Word>) -> UInt32? {
        var hash = SeededHash.processSeed ^ UInt64(count)
        for index in 0..<count { hash = SeededHash.fold(hash ^ UInt64(key[index])) }
        return self.slots.find(hash) { number in
            let row = self.rows[Int(number)]
            guard Int(row.length) == count else { return false }
            var isSame = true
            for index in 0..<count { isSame = isSame && self.store.elements[Int(row.start) + index] == key[index] }
            return isSame
        }
    }

    /// How many use a number.
    @inline(__always)
    func uses(of number: UInt32) -> Int { Int(self.rows[Int(number)].uses) }

    /// Where a number's key is in the pool.
    @inline(__always)
    func range(of number: UInt32) -> Range<Int> {
        let row = self.rows[Int(number)]
        return Int(row.start)..<Int(row.start) + Int(row.length)
    }

    /// The key of a number.
    func key(of number: UInt32) -> [Word] { self.range(of: number).map { self.store.elements[$0] } }

    /// The last word of a number's key. Precondition: the key is not empty.
    func lastWord(of number: UInt32) -> Word { self.store.elements[self.range(of: number).upperBound - 1] }

    @inline(__always)
    private func find(_ key: Span<Word>, _ hash: UInt64) -> UInt32? {
        self.slots.find(hash) { self.holds($0, key) }
    }

    @inline(__always)
    private func holds(_ number: UInt32, _ key: Span<Word>) -> Bool {
        let row = self.rows[Int(number)]
        guard Int(row.length) == key.count else { return false }
        for index in key.indices where self.store.elements[Int(row.start) + index] != key[index] { return false }
        return true
    }

    static func hash(_ key: Span<Word>) -> UInt64 {
        var hash = SeededHash.processSeed ^ UInt64(key.count)
        for index in key.indices { hash = SeededHash.fold(hash ^ UInt64(key[index])) }
        return hash
    }

    private func hash(of number: UInt32) -> UInt64 {
        Self.hash(self.store.elements.span.extracting(self.range(of: number)))
    }
}

/// Numbers for distinct keys of words, each with a count of uses; a number that nobody uses is taken again.
struct KeyTable<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable>: Sendable {
    private(set) var pool = SizeClassPool<Word>()
    /// By number: where the key starts in the pool, and its length.
    private var starts = Column<UInt32>()
    private var lengths = Column<UInt32>()
    /// By number: how many use it; 0 for a number that is free.
    private(set) var uses = Column<UInt32>()
    private var unused = Column<UInt32>()
    private var slots = HashSlots()

    /// Numbers in use.
    var count: Int { self.slots.count }

    /// One more than the highest number.
    var bound: Int { self.uses.count }

    var byteCount: Int {
        self.pool.byteCount + self.starts.byteCount + self.lengths.byteCount + self.uses.byteCount
            + self.unused.byteCount + self.slots.byteCount
    }

    /// The number of a key, new if it has none, and one use of it.
    mutating func use(_ key: [Word]) -> (number: UInt32, isNew: Bool) { self.use(key.span) }

    mutating func use(_ key: Span<Word>) -> (number: UInt32, isNew: Bool) {
        let hash = Self.hash(key)
        if let number = self.find(key, hash) {
            self.uses[Int(number)] += 1
            return (number, false)
        }
        let start = self.pool.allocate(max(1, key.count))
        self.pool.elements.write(key, at: Int(start))
        let number: UInt32
        if let free = self.unused.popLast() {
            number = free
            self.starts[Int(number)] = start
            self.lengths[Int(number)] = UInt32(key.count)
            self.uses[Int(number)] = 1
        } else {
            number = UInt32(self.uses.count)
            self.starts.append(start)
            self.lengths.append(UInt32(key.count))
            self.uses.append(1)
        }
        self.slots.insert(number, hash)
        return (number, true)
    }

    /// One more use of a number. Precondition: it has one.
    mutating func retain(_ number: UInt32) { self.uses[Int(number)] += 1 }

    /// Takes back one use; returns whether it was the last.
    @discardableResult
    mutating func release(_ number: UInt32) -> Bool {
        let left = self.uses[Int(number)] - 1
        self.uses[Int(number)] = left
        guard left == 0 else { return false }
        self.slots.remove(number, self.hash(of: number))
        self.pool.release(self.starts[Int(number)], max(1, Int(self.lengths[Int(number)])))
        self.unused.append(number)
        return true
    }

    /// The number of a key that has one.
    func find(_ key: [Word]) -> UInt32? { self.find(key.span) }

    func find(_ key: Span<Word>) -> UInt32? { self.find(key, Self.hash(key)) }

    /// Where a number's key is in the pool.
    @inline(__always)
    func range(of number: UInt32) -> Range<Int> {
        let start = Int(self.starts[Int(number)])
        return start..<start + Int(self.lengths[Int(number)])
    }

    /// The key of a number.
    func key(of number: UInt32) -> [Word] { self.range(of: number).map { self.pool.elements[$0] } }

    @inline(__always)
    private func find(_ key: Span<Word>, _ hash: UInt64) -> UInt32? {
        var probe = self.slots.probe(hash)
        while let number = self.slots.next(&probe) {
            if self.holds(number, key) { return number }
        }
        return nil
    }

    @inline(__always)
    private func holds(_ number: UInt32, _ key: Span<Word>) -> Bool {
        guard Int(self.lengths[Int(number)]) == key.count else { return false }
        let start = Int(self.starts[Int(number)])
        for index in key.indices where self.pool.elements[start + index] != key[index] { return false }
        return true
    }

    private static func hash(_ key: Span<Word>) -> UInt64 {
        var hash = UInt64(key.count)
        for index in key.indices { hash = HashSlots.fold(hash ^ UInt64(key[index])) }
        return hash
    }

    private func hash(of number: UInt32) -> UInt64 {
        let range = self.range(of: number)
        var hash = UInt64(range.count)
        for index in range { hash = HashSlots.fold(hash ^ UInt64(self.pool.elements[index])) }
        return hash
    }
}

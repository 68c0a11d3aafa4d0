import Storage

/// For each key the expressions that it finds, each with the rest that is to be evaluated beside it. A question reads one list from its
/// start to its end, and nothing else.
///
/// Up to ``chunkMax`` words are one chunk of a pool, which grows and shrinks by halves; longer lists are a row of chunks of
/// that size. So each change moves at most a few thousand bytes, however long the list is.
///
/// The first word of a chunk says how many of its words are used and which chunk is next, see ``Header``. Then come entries:
/// an expression, the number of words that are left of it (see ``ConditionProgram/rest(of:without:_:_:)``), and these.
struct CandidateLists: ~Copyable {
    /// The words of a chunk of a list that has several.
    static let chunkMax = 512
    /// A list of one chunk with so few words used is short again.
    private static let shortMax = 128

    /// An entry's expression is on several lists.
    static let sharedFlag: UInt32 = 1 << 31
    static let expressionMask: UInt32 = sharedFlag - 1

    /// By key: where the first chunk starts, 0 if there is none, and above it where the last one does, 0 if the list is short.
    private var lists = Column<UInt64>()
    private var store = BuddyStore<UInt32>()
    /// By expression: its chunk, if it is on one list and that is a long one.
    private var chunks = Column<UInt32>()
    /// By key and expression: its chunk, if it is on several lists and this one is long.
    private var sharedChunks: [UInt64: UInt32] = [:]

    init() {
        // No chunk starts at 0.
        _ = self.store.allocate(1)
    }

    var byteCount: Int {
        self.lists.byteCount + self.store.byteCount + self.chunks.byteCount + self.sharedChunks.count * 32
    }

    /// A chunk's first word: the words used, this one included, and the start of the next chunk, which is a multiple of
    /// ``chunkMax``, by ``chunkMax``; 0 if it is the last.
    private enum Header {
        static func header(used: Int, next: UInt32) -> UInt32 {
            precondition(next >> 31 == 0, "candidates of more than two billion words")
            return (next / UInt32(CandidateLists.chunkMax)) << 10 | UInt32(used)
        }

        @inline(__always)
        static func used(_ header: UInt32) -> Int { Int(header & 1023) }

        @inline(__always)
        static func next(_ header: UInt32) -> UInt32 { (header >> 10) * UInt32(CandidateLists.chunkMax) }
    }

    private func list(_ key: UInt32) -> (first: UInt32, last: UInt32) {
        guard Int(key) < self.lists.count else { return (0, 0) }
        let list = self.lists[Int(key)]
        return (UInt32(truncatingIfNeeded: list), UInt32(list >> 32))
    }

    private mutating func setList(_ key: UInt32, _ first: UInt32, _ last: UInt32) {
        self.lists[Int(key)] = UInt64(first) | UInt64(last) << 32
    }

    private func used(_ chunk: UInt32) -> Int { Header.used(self.store.elements[Int(chunk)]) }

    private func next(_ chunk: UInt32) -> UInt32 { Header.next(self.store.elements[Int(chunk)]) }

    private mutating func setHeader(_ chunk: UInt32, used: Int, next: UInt32) {
        self.store.elements[Int(chunk)] = Header.header(used: used, next: next)
    }

    /// The words of a key's list, at least ``chunkMax`` if it is long. O(1).
    func wordCount(of key: UInt32) -> Int {
        let (first, last) = self.list(key)
        if last != 0 { return Self.chunkMax }
        return first == 0 ? 0 : self.used(first) - 1
    }

    /// Fetches the part of a key's list that ``wordCount(of:)`` reads.
    @inline(__always)
    func prefetch(_ key: UInt32) { self.store.elements.prefetch(Int(self.list(key).first)) }

    // MARK: Changing

    /// Adds an expression to a key's list. Precondition: it is not there. O(``chunkMax``).
    ///
    /// - Parameters:
    ///   - entry: The expression, with ``sharedFlag`` if it is on several lists.
    ///   - rest: The rest of it that is to be evaluated: first its length, then at most ``ConditionProgram/restMax``
    ///     words.
    ///   - key: The key.
    mutating func insert(_ entry: UInt32, _ rest: Span<UInt32>, _ key: UInt32) {
        self.lists.extend(to: Int(key), repeating: 0)
        var (first, last) = self.list(key)
        let size = 1 + rest.count
        if first == 0 {
            first = self.store.allocate(1 + size)
            self.setHeader(first, used: 1, next: 0)
            self.append(entry, rest, first)
            return self.setList(key, first, 0)
        }
        if last == 0 {
            let used = self.used(first)
            first = self.store.resize(first, used, to: min(used + size, Self.chunkMax))
            if used + size <= Self.chunkMax {
                self.append(entry, rest, first)
                return self.setList(key, first, 0)
            }
            last = first
            self.noteAll(of: first, key, first)
        }
        if self.used(last) + size > Self.chunkMax {
            let chunk = self.store.allocate(Self.chunkMax)
            self.setHeader(last, used: self.used(last), next: chunk)
            self.setHeader(chunk, used: 1, next: 0)
            last = chunk
        }
        self.append(entry, rest, last)
        self.noteEntry(entry, key, last)
        self.setList(key, first, last)
    }

    private mutating func append(_ entry: UInt32, _ rest: Span<UInt32>, _ chunk: UInt32) {
        let header = self.store.elements[Int(chunk)]
        let place = Int(chunk) + Header.used(header)
        self.store.elements[place] = entry
        self.store.elements.write(rest, at: place + 1)
        self.store.elements[Int(chunk)] = header + UInt32(1 + rest.count)
    }

    /// Removes an expression from a key's list. Precondition: it is there. O(``chunkMax``).
    mutating func remove(_ entry: UInt32, _ key: UInt32) {
        var (first, last) = self.list(key)
        let chunk = last == 0 ? first : self.chunk(of: entry, key)
        let used = self.used(chunk)
        let left = self.cut(entry, chunk)
        if last == 0 {
            if left > 1 {
                first = self.store.resize(first, used, to: left)
            } else {
                self.store.release(first, used)
                first = 0
            }
            return self.setList(key, first, 0)
        }
        self.noteEntry(entry, key, nil)
        let next = self.next(chunk)
        if next != 0, left + self.used(next) - 1 <= Self.chunkMax {
            self.join(chunk, next, key)
            if last == next { last = chunk }
        }
        let remaining = self.used(first)
        if first == last, remaining <= Self.shortMax {
            self.noteAll(of: first, key, nil)
            last = 0
            if remaining > 1 {
                first = self.store.resize(first, Self.chunkMax, to: remaining)
            } else {
                self.store.release(first, Self.chunkMax)
                first = 0
            }
        }
        self.setList(key, first, last)
    }

    /// Removes an entry from a chunk, and returns the words that are used then.
    private mutating func cut(_ entry: UInt32, _ chunk: UInt32) -> Int {
        let used = self.used(chunk)
        let end = Int(chunk) + used
        var place = Int(chunk) + 1
        while place < end {
            let size = 2 + ConditionProgram.restLength(self.store.elements[place + 1])
            guard self.store.elements[place] != entry else {
                self.store.elements.move(from: place + size, to: place, count: end - place - size)
                self.setHeader(chunk, used: used - size, next: self.next(chunk))
                return used - size
            }
            place += size
        }
        preconditionFailure("an expression that is not on the list")
    }

    /// Moves the entries of a chunk's next one to its end. Precondition: there is room.
    private mutating func join(_ chunk: UInt32, _ next: UInt32, _ key: UInt32) {
        let (used, added) = (self.used(chunk), self.used(next) - 1)
        self.noteAll(of: next, key, chunk)
        self.store.elements.move(from: Int(next) + 1, to: Int(chunk) + used, count: added)
        self.setHeader(chunk, used: used + added, next: self.next(next))
        self.store.release(next, Self.chunkMax)
    }

    // MARK: Chunks of entries

    private func chunk(of entry: UInt32, _ key: UInt32) -> UInt32 {
        guard entry & Self.sharedFlag != 0 else { return self.chunks[Int(entry)] }
        guard let chunk = self.sharedChunks[Self.place(entry, key)] else {
            preconditionFailure("an expression that is not on the list")
        }
        return chunk
    }

    /// Notes in which chunk of a long list an entry is; nil if it is in none any more.
    private mutating func noteEntry(_ entry: UInt32, _ key: UInt32, _ chunk: UInt32?) {
        if entry & Self.sharedFlag != 0 {
            self.sharedChunks[Self.place(entry, key)] = chunk
            return
        }
        self.chunks.extend(to: Int(entry), repeating: 0)
        self.chunks[Int(entry)] = chunk ?? 0
    }

    /// Notes that the entries of one chunk are in another, or in none.
    private mutating func noteAll(of chunk: UInt32, _ key: UInt32, _ other: UInt32?) {
        for entry in self.entries(of: chunk) { self.noteEntry(entry, key, other) }
    }

    private static func place(_ entry: UInt32, _ key: UInt32) -> UInt64 {
        UInt64(key) << 32 | UInt64(entry & Self.expressionMask)
    }

    private func entries(of chunk: UInt32) -> [UInt32] {
        var entries: [UInt32] = []
        let end = Int(chunk) + self.used(chunk)
        var place = Int(chunk) + 1
        while place < end {
            entries.append(self.store.elements[place])
            place += 2 + ConditionProgram.restLength(self.store.elements[place + 1])
        }
        return entries
    }

    // MARK: Asking

    /// Calls `body` with the entries of a key's list, chunk by chunk.
    @inline(__always)
    func forEachSpan(of key: UInt32, _ body: (Span<UInt32>) -> Void) {
        guard Int(key) < self.lists.count else { return }
        let words = self.store.elements.span
        var chunk = Int(UInt32(truncatingIfNeeded: self.lists[Int(key)]))
        while chunk != 0 {
            let header = words[chunk]
            body(words.extracting(chunk + 1..<chunk + Header.used(header)))
            chunk = Int(Header.next(header))
        }
    }

    // MARK: Invariants

    /// The faults of the lists; empty if there are none.
    func checkInvariants() -> [String] {
        var faults: [String] = []
        var shared = 0
        var blocks: [(start: UInt32, count: Int)] = [(0, 1)]
        for key in 0..<UInt32(self.lists.count) {
            let (first, last) = self.list(key)
            var (chunk, end) = (first, first)
            while chunk != 0 {
                blocks.append((chunk, last == 0 ? self.used(chunk) : Self.chunkMax))
                if last == 0, self.used(chunk) == 1 { faults.append("an empty list has a chunk") }
                for entry in last == 0 ? [] : self.entries(of: chunk) {
                    if self.chunk(of: entry, key) != chunk { faults.append("an entry's chunk is another one") }
                    if entry & Self.sharedFlag != 0 { shared += 1 }
                }
                end = chunk
                chunk = self.next(chunk)
            }
            if last != 0, end != last { faults.append("a list ends elsewhere") }
        }
        if shared != self.sharedChunks.count { faults.append("chunks of entries that are not there") }
        return faults + self.store.checkInvariants(blocks)
    }
}

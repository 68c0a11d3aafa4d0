import Storage

/// One field over all rows of a table: codes by row, and rows by code.
struct RowColumn: ~Copyable {
    /// Whether rows may have several codes.
    private(set) var isArray: Bool
    /// The code of each row; empty if ``isArray``.
    private(set) var codes = PackedIntegers()
    /// The codes of each row as an ``ElementWord``; empty unless ``isArray``.
    private(set) var words = Column<UInt32>()
    private(set) var store = BlockStore<UInt32>()
    private(set) var lists = PostingLists()
    /// Whether ``lists`` is kept; not while a table is being loaded.
    private(set) var hasLists = true
    /// Rows that have no value.
    private(set) var absentCount = 0
    /// Changes that are not in ``lists`` yet, in their order; none but amid changes that come together.
    private var changes: [Change] = []

    private struct Change {
        let row: UInt32
        let old: UInt32
        let new: UInt32
    }

    /// - Parameters:
    ///   - isArray: Whether rows may have several codes.
    ///   - rows: How many rows there are that have no value.
    init(isArray: Bool = false, absentRows rows: Int = 0) {
        self.isArray = isArray
        self.absentCount = rows
        if isArray {
            self.words.append(repeating: ElementWord.absent, count: rows)
        } else {
            self.codes.append(repeating: 0, count: rows)
        }
    }

    /// A column of rows with an array of no elements each.
    init(emptyRows rows: Int) {
        self.isArray = true
        self.words.append(repeating: ElementWord.empty, count: rows)
    }

    var rowCount: Int { self.isArray ? self.words.count : self.codes.count }

    /// Bytes of memory held, without ``lists``.
    var byteCount: Int { self.codes.byteCount + self.words.byteCount + self.store.byteCount }

    // MARK: One row

    /// Calls `body` with each code of a row, ascending; not with 0.
    @inline(__always)
    func forEachCode(_ row: Int, _ body: (UInt32) -> Void) {
        guard self.isArray else {
            let code = self.codes[row]
            if code != 0 { body(code) }
            return
        }
        _ = ElementWord.contains(self.words[row], self.store.elements.span) {
            body($0)
            return false
        }
    }

    /// The code of a row that has one, 0 for any other.
    @inline(__always)
    func singleCode(_ row: Int) -> UInt32 {
        guard self.isArray else { return self.codes[row] }
        let word = self.words[row]
        return word <= ElementWord.codeMax ? word : 0
    }

    /// Fetches the codes of some rows.
    func prefetch(_ rows: Span<UInt32>) {
        if self.isArray { self.words.prefetch(rows) } else { self.codes.prefetch(rows) }
    }

    /// The codes of a row that has several; none of any other.
    func severalCodes(_ row: Int) -> [UInt32] {
        guard self.isArray, self.words[row] > ElementWord.codeMax else { return [] }
        return ElementWord.codes(self.words[row], self.store.elements.span)
    }

    /// The codes of a row that has some, up to eight; nil of any other.
    func fewCodes(_ row: Int) -> (codes: InlineArray<8, UInt32>, count: Int)? {
        var codes = InlineArray<8, UInt32>(repeating: 0)
        var count = 0
        self.forEachCode(row) { code in
            if count < 8 { codes[count] = code }
            count += 1
        }
        return 1...8 ~= count ? (codes, count) : nil
    }

    /// Whether a row has just these codes.
    @inline(__always)
    func holds(_ value: FieldCodes, _ row: Int) -> Bool {
        guard self.isArray else { return !value.isArray && self.codes[row] == value.single }
        let word = self.words[row]
        guard value.isArray else { return word == value.single }
        guard word == ElementWord.absent || word == ElementWord.empty else {
            return ElementWord.equals(word, value.elements, self.store.elements.span)
        }
        return word == ElementWord.empty && value.elements.isEmpty
    }

    // MARK: Changing

    /// Appends a row of one code.
    @inline(__always)
    mutating func append(_ code: UInt32) {
        let row = UInt32(self.rowCount)
        if self.isArray { self.words.append(code) } else { self.codes.append(code) }
        if self.hasLists { self.lists.insert(row, code) }
    }

    mutating func append(_ value: FieldCodes) {
        let row = UInt32(self.rowCount)
        if value.isArray, !self.isArray { self.becomeArray() }
        if value.isAbsent { self.absentCount += 1 }
        if self.isArray {
            self.words.append(self.word(value))
        } else {
            self.codes.append(value.single)
        }
        guard self.hasLists else { return }
        value.forEach { self.lists.insert(row, $0) }
    }

    /// Appends rows. Precondition: no lists are kept.
    mutating func append(_ batch: ValueBatch) {
        precondition(!self.hasLists, "lists that would not have the rows")
        if !batch.ends.isEmpty, !self.isArray { self.becomeArray() }
        let codes = batch.codes.span
        guard !batch.ends.isEmpty else {
            var highest: UInt32 = 0
            for index in codes.indices {
                highest = max(highest, codes[index])
                if codes[index] == 0 { self.absentCount += 1 }
            }
            return self.isArray ? self.words.append(codes) : self.codes.append(codes, highest: highest)
        }
        var start = 0
        for end in batch.ends {
            let word = ElementWord.make(codes.extracting(start..<end), &self.store)
            if word == ElementWord.absent { self.absentCount += 1 }
            self.words.append(word)
            start = end
        }
    }

    /// Gives a row a code, whose list may wait for ``finishChanges()``, and returns the one that it had, or 0; nil, and nothing has
    /// changed, where rows may have several or there are no lists.
    mutating func change(_ row: Int, to code: UInt32) -> UInt32? {
        guard self.hasLists, !self.isArray else { return nil }
        let old = self.codes[row]
        guard old != code else { return old }
        self.absentCount += (code == 0 ? 1 : 0) - (old == 0 ? 1 : 0)
        self.codes[row] = code
        self.changes.append(Change(row: UInt32(row), old: old, new: code))
        return old
    }

    /// Gives a row other codes. Precondition: they are others.
    mutating func set(_ row: Int, _ value: FieldCodes) {
        self.forget(row)
        if value.isArray, !self.isArray { self.becomeArray() }
        if value.isAbsent { self.absentCount += 1 }
        if self.isArray {
            self.words[row] = self.word(value)
        } else {
            self.codes[row] = value.single
        }
        guard self.hasLists else { return }
        value.forEach { self.lists.insert(UInt32(row), $0) }
    }

    /// Removes a row; the last one takes its place.
    mutating func remove(_ row: Int) {
        self.forget(row)
        let last = self.rowCount - 1
        if row != last {
            if self.hasLists { self.renumber(last, as: row) }
            if self.isArray { self.words[row] = self.words[last] } else { self.codes[row] = self.codes[last] }
        }
        if self.isArray { self.words.removeLast() } else { self.codes.removeLast() }
    }

    /// Gives a row another number on its lists.
    private mutating func renumber(_ old: Int, as new: Int) {
        let single = self.singleCode(old)
        for code in single != 0 ? [single] : self.severalCodes(old) {
            self.lists.remove(UInt32(old), code)
            self.lists.insert(UInt32(new), code)
        }
    }

    /// Brings the lists up to date. All that they need of memory is fetched before the first changes.
    mutating func finishChanges() {
        guard !self.changes.isEmpty else { return }
        for step in 0..<PostingLists.prefetchSteps {
            for index in self.changes.indices {
                let change = self.changes[index]
                self.lists.prefetch(change.row, change.old, step: step, of: self.rowCount)
                self.lists.prefetch(change.row, change.new, step: step, of: self.rowCount)
            }
        }
        for index in self.changes.indices {
            let change = self.changes[index]
            if change.old != 0 { self.lists.remove(change.row, change.old) }
            if change.new != 0 { self.lists.insert(change.row, change.new) }
        }
        self.changes.removeAll(keepingCapacity: true)
    }

    /// Takes a row off its lists. The row's code means nothing afterwards.
    private mutating func forget(_ row: Int) {
        self.finishChanges()
        if self.isArray {
            let word = self.words[row]
            if word == ElementWord.absent { self.absentCount -= 1 }
            if self.hasLists {
                for code in ElementWord.codes(word, self.store.elements.span) { self.lists.remove(UInt32(row), code) }
            }
            ElementWord.release(word, &self.store)
        } else {
            let code = self.codes[row]
            if code == 0 { self.absentCount -= 1 } else if self.hasLists { self.lists.remove(UInt32(row), code) }
        }
    }

    private mutating func word(_ value: FieldCodes) -> UInt32 {
        value.isArray ? ElementWord.make(value.elements.span, &self.store) : value.single
    }

    /// A schema can turn a value into an array of values; the present rows have one element each.
    private mutating func becomeArray() {
        self.words.reserve(self.codes.count + 1)
        for row in 0..<self.codes.count {
            let code = self.codes[row]
            self.words.append(code)
        }
        self.codes = PackedIntegers()
        self.isArray = true
    }

    // MARK: Loading

    /// Keeps no lists from now on. Precondition: there is no row.
    mutating func deferLists() {
        self.hasLists = false
    }

    /// Builds the lists of all rows.
    mutating func buildLists(highestCode: Int) {
        guard !self.hasLists else { return }
        self.hasLists = true
        self.lists = PostingLists(self, highestCode: highestCode)
    }

    /// Calls `body` with each code and the row that has it, in the order of rows.
    @inline(__always)
    func forEachPlace(_ body: (UInt32, UInt32) -> Void) {
        guard self.isArray else { return self.codes.forEach { if $0 != 0 { body($0, $1) } } }
        for row in 0..<self.rowCount { self.forEachCode(row) { body($0, UInt32(row)) } }
    }

    // MARK: Invariants

    /// The faults of the column; empty if there are none.
    func checkInvariants(rows: Int, codes known: Int) -> [String] {
        var faults = self.lists.checkInvariants(rows: rows)
        if self.rowCount != rows { faults.append("there are \(self.rowCount) rows of \(rows)") }
        var counts = [Int](repeating: 0, count: known + 1)
        var absent = 0
        var blocks: [(start: UInt32, count: Int)] = []
        for row in 0..<min(rows, self.rowCount) {
            let isAbsent = self.isArray ? self.words[row] == ElementWord.absent : self.codes[row] == 0
            if isAbsent { absent += 1 }
            if self.isArray, ElementWord.isStored(self.words[row]) {
                let start = ElementWord.start(self.words[row])
                blocks.append((start, Int(self.store.elements[Int(start)]) + 1))
            }
            var last: UInt32 = 0
            self.forEachCode(row) { code in
                if code <= last { faults.append("the elements of row \(row) are not ascending") }
                last = code
                if Int(code) <= known {
                    counts[Int(code)] += 1
                } else {
                    faults.append("row \(row) has an unknown code")
                }
            }
        }
        if !self.changes.isEmpty { faults.append("changes that the lists do not have") }
        if absent != self.absentCount { faults.append("\(absent) rows have no value, not \(self.absentCount)") }
        for code in counts.indices.dropFirst() where self.hasLists && counts[code] != self.lists.count(of: UInt32(code))
        {
            faults.append("code \(code) is in \(counts[code]) rows and lists \(self.lists.count(of: UInt32(code)))")
        }
        return faults + self.store.checkInvariants(blocks)
    }
}

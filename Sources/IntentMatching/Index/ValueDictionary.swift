import Storage
import WidgetModel

/// The distinct values of one field, each with a code from 1 on. Code 0 is "absent".
///
/// A value is kept as words of eight bytes: its tag and length in the lowest four bytes, then its UTF-8 or its eight bytes.
/// So strings are equal by their bytes and numbers by ``ExactNumber``, and both are compared and hashed by words. Codes
/// that no row has any more are taken again.
struct ValueDictionary: ~Copyable {
    enum Tag: UInt8 {
        case text = 0
        case int = 1
        case unsigned = 2
        case double = 3
        case bool = 4
        case date = 5
    }

    /// Marks a code without a value.
    static let unused = UInt32.max
    /// One use in an entry.
    private static let oneUse: UInt64 = 1 << 32
    /// Bytes of the tag and the length.
    static let headBytes = 4

    private(set) var store = BlockStore<UInt64>()
    /// By code: where the value starts in the pool, and above it how many rows have the code, elements of arrays counted
    /// each. The entry of code 0 is never read.
    private(set) var entries = Column<UInt64>(repeating: UInt64(unused), count: 1)
    private var unusedCodes = Column<UInt32>()
    private(set) var slots = SlotIndex()
    /// Hosts choose the values, so the places they take must not be theirs to choose. The seed differs from process to
    /// process and nothing that leaves this type depends on it: codes count up as values come.
    let seed: UInt64
    /// Whether a date was ever inserted.
    private var holdsDates = false

    init() {
        self.seed = SeededHash.processSeed
    }

    /// The highest code that was ever given.
    var highestCode: Int { self.entries.count - 1 }

    /// The number of values.
    var count: Int { self.slots.count }

    /// Bytes of memory held.
    var byteCount: Int {
        self.store.byteCount + self.entries.byteCount + self.unusedCodes.byteCount + self.slots.byteCount
    }

    // MARK: Codes of values

    /// The code of a value, new if it has none yet, and one use of it. Precondition: no array.
    mutating func internCode(of value: ParameterValue) -> UInt32 {
        if let words = Self.words(of: value) { return self.internCode(of: words) }
        guard case .string(let string) = value else { return 0 }
        return self.internLong(string)
    }

    /// The code of a string, new if it has none yet, and one use of it.
    mutating func internCode(of string: String) -> UInt32 {
        guard let words = Self.words(of: string) else { return self.internLong(string) }
        return self.internCode(of: words)
    }

    private mutating func internLong(_ string: String) -> UInt32 {
        let text = string.utf8.span
        return self.internCode(Self.wordCount(text)) { Self.word(text, $0) }
    }

    /// Whether a code stands for a value. Precondition: no array.
    @inline(__always)
    func holds(_ code: UInt32, _ value: ParameterValue) -> Bool {
        if let words = Self.words(of: value) { return self.holds(code, words) }
        guard case .string(let string) = value else { return false }
        return self.holdsLong(code, string)
    }

    @inline(__always)
    func holds(_ code: UInt32, _ words: ValueWords) -> Bool {
        let start = Int(self.start(code))
        // Of a code without a value it is beyond all of them.
        guard start < self.store.elements.count, self.store.elements[start] == words.first else { return false }
        return !words.hasSecond || self.store.elements[start + 1] == words.second
    }

    @inline(never)
    private func holdsLong(_ code: UInt32, _ string: String) -> Bool {
        let text = string.utf8.span
        return self.holds(code, Self.wordCount(text)) { Self.word(text, $0) }
    }

    /// Takes back one use of a code.
    mutating func release(_ code: UInt32) {
        let entry = self.entries[Int(code)] - Self.oneUse
        self.entries[Int(code)] = entry
        guard entry < Self.oneUse else { return }
        self.slots.remove(code, self.hash(of: code))
        let start = UInt32(truncatingIfNeeded: entry)
        self.store.release(start, self.wordCount(at: start))
        self.entries[Int(code)] = UInt64(Self.unused)
        self.unusedCodes.append(code)
    }

    /// One more use of a code.
    mutating func retain(_ code: UInt32) {
        self.entries[Int(code)] += Self.oneUse
    }

    @inline(__always)
    func start(_ code: UInt32) -> UInt32 { UInt32(truncatingIfNeeded: self.entries[Int(code)]) }

    /// None, one, or two where a string is a date's text as well.
    func codes(equalTo literal: MatchLiteral) -> [UInt32] {
        if let code = self.code(equalTo: literal) { return code == 0 ? [] : [code] }
        guard case .string(let text) = literal else { return [] }
        let date = literal.date.map { self.code(.date, UInt64(bitPattern: $0.milliseconds)) } ?? 0
        return [self.code(ofText: text), date].filter { $0 != 0 }
    }

    /// The code of the value that equals a literal, 0 if none does; nil if there may be two. Allocates nothing.
    func code(equalTo literal: MatchLiteral) -> UInt32? {
        switch literal {
        case .null: return 0
        case .bool(let bool): return self.code(.bool, bool ? 1 : 0)
        case .number(let number):
            let (tag, word) = Self.word(of: number)
            return self.code(tag, word)
        case .string(let text):
            // A field of texts alone, the usual case, need not have its literals read as dates.
            return self.holdsDates ? nil : self.code(ofText: text)
        }
    }

    private func code(ofText text: UTF8Text) -> UInt32 {
        let bytes = text.bytes.span
        return self.find(Self.wordCount(bytes)) { Self.word(bytes, $0) } ?? 0
    }

    private func code(_ tag: Tag, _ word: UInt64) -> UInt32 {
        self.find(2) { Self.word(tag, word, $0) } ?? 0
    }

    static func word(of number: ExactNumber) -> (Tag, UInt64) {
        switch number {
        case .int(let int): (.int, UInt64(bitPattern: int))
        case .unsigned(let unsigned): (.unsigned, unsigned)
        case .double(let double): (.double, double.bitPattern)
        }
    }

    // MARK: Values of codes

    private func tag(at start: UInt32) -> (Tag, length: Int) {
        let head = self.store.elements[Int(start)]
        guard let tag = Tag(rawValue: UInt8(truncatingIfNeeded: head)) else {
            preconditionFailure("a damaged dictionary")
        }
        return (tag, Int(head >> 8 & 0xFF_FFFF))
    }

    @inline(__always)
    private func wordCount(at start: UInt32) -> Int {
        (Int(self.store.elements[Int(start)] >> 8 & 0xFF_FFFF) + Self.headBytes + 7) / 8
    }

    /// The bytes of a value; 0 of a code without one.
    func length(_ code: UInt32) -> Int {
        let start = self.start(code)
        return start == Self.unused ? 0 : self.tag(at: start).length
    }

    func satisfies(_ code: UInt32, _ atoms: [MatchAtom]) -> Bool {
        guard code != 0 else { return atoms.contains(.exists(false)) }
        let start = self.start(code)
        guard start != Self.unused else { return false }
        let (tag, length) = self.tag(at: start)
        guard tag != .text else {
            return self.store.elements.withBytes(at: Int(start) * 8 + Self.headBytes, count: length) { text in
                for atom in atoms where atom.matches(text: text) { return true }
                return false
            }
        }
        let word = self.store.elements[Int(start)] >> 32 | self.store.elements[Int(start) + 1] << 32
        switch tag {
        case .text: return false
        case .int: return atoms.contains { $0.matches(number: .int(Int64(bitPattern: word))) }
        case .unsigned: return atoms.contains { $0.matches(number: .unsigned(word)) }
        case .double: return atoms.contains { $0.matches(number: .double(Double(bitPattern: word))) }
        case .bool: return atoms.contains { $0.matches(bool: word == 1) }
        case .date: return atoms.contains { $0.matches(date: Instant(milliseconds: Int64(bitPattern: word))) }
        }
    }

    /// The integer of a code, if it is one.
    func int(_ code: UInt32) -> Int64? {
        let start = self.start(code)
        guard code != 0, start != Self.unused, self.tag(at: start).0 == .int else { return nil }
        return Int64(bitPattern: self.store.elements[Int(start)] >> 32 | self.store.elements[Int(start) + 1] << 32)
    }

    // MARK: The table

    @inline(__always)
    private func find(_ count: Int, _ word: (Int) -> UInt64) -> UInt32? {
        self.find(count, word, self.hash(count, word))
    }

    @inline(__always)
    private func find(_ count: Int, _ word: (Int) -> UInt64, _ hash: UInt64) -> UInt32? {
        self.slots.find(hash) { self.holds($0, count, word) }
    }

    @inline(__always)
    private mutating func internCode(_ count: Int, _ word: (Int) -> UInt64) -> UInt32 {
        let hash = self.hash(count, word)
        if let code = self.find(count, word, hash) {
            self.entries[Int(code)] += Self.oneUse
            return code
        }
        let start = self.store.allocate(count)
        for index in 0..<count { self.store.elements[Int(start) + index] = word(index) }
        return self.insert(start, hash)
    }

    /// The code of a value of few words, new if it has none yet, and one use of it.
    mutating func internCode(of words: ValueWords) -> UInt32 {
        self.internCode(of: SoughtValue(words, seed: self.seed))
    }

    @inline(__always)
    mutating func internCode(of key: SoughtValue) -> UInt32 {
        guard let code = self.slots.find(key.hash, where: { self.holds($0, key.words) }) else { return self.add(key) }
        self.entries[Int(code)] += Self.oneUse
        return code
    }

    private mutating func add(_ key: SoughtValue) -> UInt32 {
        let start = self.store.allocate(key.words.hasSecond ? 2 : 1)
        self.store.elements[Int(start)] = key.words.first
        if key.words.hasSecond { self.store.elements[Int(start) + 1] = key.words.second }
        return self.insert(start, key.hash)
    }

    private mutating func insert(_ start: UInt32, _ hash: UInt64) -> UInt32 {
        let code: UInt32
        if let unused = self.unusedCodes.popLast() {
            code = unused
            self.entries[Int(code)] = UInt64(start) | Self.oneUse
        } else {
            code = UInt32(self.entries.count)
            precondition(code <= ElementWord.codeMax, "a billion distinct values of one field")
            self.entries.append(UInt64(start) | Self.oneUse)
        }
        self.slots.insert(code, hash)
        if UInt8(truncatingIfNeeded: self.store.elements[Int(start)]) == Tag.date.rawValue { self.holdsDates = true }
        return code
    }

    @inline(__always)
    private func holds(_ code: UInt32, _ count: Int, _ word: (Int) -> UInt64) -> Bool {
        let start = self.start(code)
        guard start != Self.unused, self.store.elements[Int(start)] == word(0) else { return false }
        var index = 1
        while index < count, self.store.elements[Int(start) + index] == word(index) { index += 1 }
        return index == count
    }

    /// Folds eight bytes at a time.
    @inline(__always)
    private func hash(_ count: Int, _ word: (Int) -> UInt64) -> UInt64 { Self.hash(self.seed, count, word) }

    @inline(__always)
    static func hash(_ seed: UInt64, _ count: Int, _ word: (Int) -> UInt64) -> UInt64 {
        var hash = seed
        for index in 0..<count { hash = SeededHash.fold(hash ^ word(index)) }
        return hash
    }

    private func hash(of code: UInt32) -> UInt64 {
        let start = Int(self.start(code))
        return self.hash(self.wordCount(at: UInt32(start))) { self.store.elements[start + $0] }
    }

    // MARK: Invariants

    /// The faults of the dictionary; empty if there are none.
    ///
    /// - Parameter counted: How often each code is used, by code.
    func checkInvariants(_ counted: [UInt32]) -> [String] {
        var faults = self.slots.checkInvariants()
        var blocks: [(start: UInt32, count: Int)] = []
        for code in 1..<(self.highestCode + 1) {
            let uses = self.entries[code] / Self.oneUse
            if uses != UInt64(counted[code]) {
                faults.append("code \(code) has \(uses) uses, but is in \(counted[code]) places")
            }
            let start = self.start(UInt32(code))
            guard start != Self.unused else { continue }
            if uses == 0 { faults.append("code \(code) has a value and no use") }
            let count = self.wordCount(at: start)
            blocks.append((start, count))
            if self.find(count, { self.store.elements[Int(start) + $0] }) != UInt32(code) {
                faults.append("the value of code \(code) is found elsewhere")
            }
        }
        if blocks.count != self.count {
            faults.append("\(self.count) values in the table, \(blocks.count) with a code")
        }
        return faults + self.store.checkInvariants(blocks)
    }
}

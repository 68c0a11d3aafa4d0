import WidgetModel

/// The distinct values of one field, each with a code from 1 on. Code 0 is "absent".
///
/// A value is kept as words of eight bytes: its tag and length in the lowest four bytes, then its UTF-8 or its eight bytes.
/// So strings are equal by their bytes and numbers by ``ExactNumber``, and both are compared and hashed by words. Codes
/// that nobody uses any more are taken again.
struct ValueDictionary: Sendable {
    enum Tag: UInt8 {
        case text = 0
        case int = 1
        case unsigned = 2
        case double = 3
        case bool = 4
        case date = 5
    }

    /// Marks a code without a value.
    private static let unused = UInt32.max
    /// Bytes of the tag and the length.
    private static let headBytes = 4

    private var pool = SizeClassPool<UInt64>()
    /// Where the value of a code starts in the pool; the entry of code 0 is never read.
    private var starts = Column<UInt32>(repeating: unused, count: 1)
    /// How many rows have the code, elements of arrays counted each.
    private var uses = Column<UInt32>(repeating: 0, count: 1)
    private var unusedCodes = Column<UInt32>()
    private var slots = HashSlots()
    /// The value that is being looked up.
    private var scratch: [UInt64] = []
    /// Hosts choose the values, so the places they take must not be theirs to choose. The seed differs from process to
    /// process and nothing that leaves this type depends on it: codes count up as values come.
    private let seed: UInt64
    /// Whether a date was ever inserted.
    private var holdsDates = false

    init() {
        self.seed = Self.processSeed
    }

    private static let processSeed: UInt64 = {
        var hasher = Hasher()
        hasher.combine(0)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }()

    /// The highest code that was ever given.
    var highestCode: Int { self.starts.count - 1 }

    /// The number of values.
    var count: Int { self.slots.count }

    /// Bytes of memory held.
    var byteCount: Int {
        self.pool.byteCount + self.starts.byteCount + self.uses.byteCount + self.unusedCodes.byteCount
            + self.slots.byteCount
    }

    // MARK: Codes of values

    /// The code of a value, new if it has none yet, and one use of it. Precondition: no array.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - guess: A code that it may well have; 0 for none.
    mutating func use(_ value: ParameterValue, guess: UInt32 = 0) -> UInt32 {
        if case .string(let string) = value { return self.use(string, guess: guess) }
        guard let (tag, word) = Self.word(of: value) else { return 0 }
        Self.write(tag, word, &self.scratch)
        return self.useScratch(guess)
    }

    /// The code of a string, new if it has none yet, and one use of it.
    mutating func use(_ string: String, guess: UInt32 = 0) -> UInt32 {
        var string = string
        string.makeContiguousUTF8()
        Self.write(string.utf8.span, &self.scratch)
        return self.useScratch(guess)
    }

    /// Takes back one use of a code.
    mutating func release(_ code: UInt32) {
        let left = self.uses[Int(code)] - 1
        self.uses[Int(code)] = left
        guard left == 0 else { return }
        self.slots.remove(code, self.hash(of: code))
        let start = self.starts[Int(code)]
        self.pool.release(start, self.wordCount(at: start))
        self.starts[Int(code)] = Self.unused
        self.unusedCodes.append(code)
    }

    /// One more use of a code.
    mutating func retain(_ code: UInt32) {
        self.uses[Int(code)] += 1
    }

    /// The codes of the values that equal a literal: none, one, or two where a string is a date's text as well.
    func codes(equalTo literal: MatchLiteral) -> [UInt32] {
        switch literal {
        case .null: return []
        case .bool(let bool): return self.codes(.bool, bool ? 1 : 0)
        case .number(let number):
            let (tag, word) = Self.word(of: number)
            return self.codes(tag, word)
        case .string(let text):
            var key: [UInt64] = []
            Self.write(text.bytes.span, &key)
            let codes = self.find(key).map { [$0] } ?? []
            // A field of texts alone, the usual case, need not have its literals read as dates.
            guard self.holdsDates, let date = literal.date else { return codes }
            return codes + self.codes(.date, UInt64(bitPattern: date.milliseconds))
        }
    }

    private func codes(_ tag: Tag, _ word: UInt64) -> [UInt32] {
        var key: [UInt64] = []
        Self.write(tag, word, &key)
        return self.find(key).map { [$0] } ?? []
    }

    private static func word(of value: ParameterValue) -> (Tag, UInt64)? {
        switch value {
        case .int(let int): (.int, UInt64(bitPattern: int))
        case .double(let double): ExactNumber(double).map { Self.word(of: $0) }
        case .bool(let bool): (.bool, bool ? 1 : 0)
        case .date(let date): (.date, UInt64(bitPattern: date.milliseconds))
        case .string, .array: nil
        }
    }

    private static func word(of number: ExactNumber) -> (Tag, UInt64) {
        switch number {
        case .int(let int): (.int, UInt64(bitPattern: int))
        case .unsigned(let unsigned): (.unsigned, unsigned)
        case .double(let double): (.double, double.bitPattern)
        }
    }

    // MARK: Keys

    /// Tag and length, and the first four bytes.
    @inline(__always)
    private static func head(_ tag: Tag, _ count: Int) -> UInt64 {
        UInt64(tag.rawValue) | UInt64(count) << 8
    }

    @inline(__always)
    private static func write(_ text: Span<UInt8>, _ key: inout [UInt64]) {
        precondition(text.count < 1 << 24, "a value of more than 16 MiB")
        key.removeAll(keepingCapacity: true)
        key.append(Self.head(.text, text.count) | (text.word(at: 0) << 32))
        var offset = Self.headBytes
        while offset < text.count {
            key.append(text.word(at: offset))
            offset += 8
        }
    }

    @inline(__always)
    private static func write(_ tag: Tag, _ word: UInt64, _ key: inout [UInt64]) {
        key.removeAll(keepingCapacity: true)
        key.append(Self.head(tag, 8) | (word << 32))
        key.append(word >> 32)
    }

    private func tag(at start: UInt32) -> (Tag, length: Int) {
        let head = self.pool.elements[Int(start)]
        guard let tag = Tag(rawValue: UInt8(truncatingIfNeeded: head)) else {
            preconditionFailure("a damaged dictionary")
        }
        return (tag, Int(head >> 8 & 0xFF_FFFF))
    }

    @inline(__always)
    private func wordCount(at start: UInt32) -> Int {
        (Int(self.pool.elements[Int(start)] >> 8 & 0xFF_FFFF) + Self.headBytes + 7) / 8
    }

    // MARK: Values of codes

    /// Whether the value of a code satisfies one of the atoms. Code 0 satisfies only `exists(false)`; a code without a
    /// value, which no row has, nothing.
    func satisfies(_ code: UInt32, _ atoms: [MatchAtom]) -> Bool {
        guard code != 0 else { return atoms.contains(.exists(false)) }
        let start = self.starts[Int(code)]
        guard start != Self.unused else { return false }
        let (tag, length) = self.tag(at: start)
        guard tag != .text else {
            return self.pool.elements.withBytes(at: Int(start) * 8 + Self.headBytes, count: length) { text in
                for atom in atoms where atom.matches(text: text) { return true }
                return false
            }
        }
        let word = self.pool.elements[Int(start)] >> 32 | self.pool.elements[Int(start) + 1] << 32
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
        let start = self.starts[Int(code)]
        guard code != 0, start != Self.unused, self.tag(at: start).0 == .int else { return nil }
        return Int64(bitPattern: self.pool.elements[Int(start)] >> 32 | self.pool.elements[Int(start) + 1] << 32)
    }

    // MARK: The table

    private func find(_ key: [UInt64]) -> UInt32? {
        self.slots.find(self.hash(key)) { self.holds($0, key) }
    }

    @inline(__always)
    private mutating func useScratch(_ guess: UInt32) -> UInt32 {
        if guess != 0, self.holds(guess, self.scratch) {
            self.uses[Int(guess)] += 1
            return guess
        }
        let hash = self.hash(self.scratch)
        guard let code = self.findScratch(hash) else { return self.insertScratch(hash) }
        self.uses[Int(code)] += 1
        return code
    }

    @inline(__always)
    private func findScratch(_ hash: UInt64) -> UInt32? {
        self.slots.find(hash) { self.holds($0, self.scratch) }
    }

    private mutating func insertScratch(_ hash: UInt64) -> UInt32 {
        let start = self.pool.allocate(self.scratch.count)
        for (index, word) in self.scratch.enumerated() { self.pool.elements[Int(start) + index] = word }
        let code: UInt32
        if let unused = self.unusedCodes.popLast() {
            code = unused
            self.starts[Int(code)] = start
            self.uses[Int(code)] = 1
        } else {
            code = UInt32(self.starts.count)
            precondition(code <= ElementWord.codeMax, "a milliard of distinct values of one field")
            self.starts.append(start)
            self.uses.append(1)
        }
        var slots = HashSlots()
        swap(&slots, &self.slots)
        slots.insert(code, hash) { self.hash(of: $0) }
        swap(&slots, &self.slots)
        if UInt8(truncatingIfNeeded: self.scratch[0]) == Tag.date.rawValue { self.holdsDates = true }
        return code
    }

    @inline(__always)
    private func holds(_ code: UInt32, _ key: [UInt64]) -> Bool {
        let start = self.starts[Int(code)]
        guard start != Self.unused, self.pool.elements[Int(start)] == key[0] else { return false }
        for index in key.indices.dropFirst() where self.pool.elements[Int(start) + index] != key[index] { return false }
        return true
    }

    /// Folds eight bytes at a time.
    @inline(__always)
    private func hash(_ key: [UInt64]) -> UInt64 {
        var hash = self.seed
        for word in key { hash = HashSlots.fold(hash ^ word) }
        return hash
    }

    private func hash(of code: UInt32) -> UInt64 {
        let start = self.starts[Int(code)]
        var hash = self.seed
        for index in 0..<self.wordCount(at: start) {
            hash = HashSlots.fold(hash ^ self.pool.elements[Int(start) + index])
        }
        return hash
    }

    // MARK: Invariants

    /// What is wrong with the dictionary; empty if nothing.
    ///
    /// - Parameter counted: How often each code is used, by code.
    func checkInvariants(_ counted: [UInt32]) -> [String] {
        var faults = self.slots.checkInvariants()
        var blocks: [(start: UInt32, count: Int)] = []
        for code in 1..<(self.highestCode + 1) {
            if self.uses[code] != counted[code] {
                faults.append("code \(code) has \(self.uses[code]) uses, but is in \(counted[code]) places")
            }
            let start = self.starts[code]
            guard start != Self.unused else { continue }
            if self.uses[code] == 0 { faults.append("code \(code) has a value and no use") }
            let count = self.wordCount(at: start)
            blocks.append((start, count))
            let key = (0..<count).map { self.pool.elements[Int(start) + $0] }
            if self.find(key) != UInt32(code) { faults.append("the value of code \(code) is found elsewhere") }
        }
        if blocks.count != self.count {
            faults.append("\(self.count) values in the table, \(blocks.count) with a code")
        }
        return faults + self.pool.checkInvariants(blocks)
    }
}

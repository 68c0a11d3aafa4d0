import WidgetModel

/// The distinct values of one column, numbered from 1 in the order in which they first came. Code 0 is "absent".
///
/// Keys are bytes: a tag and, for text, its UTF-8, for everything else eight bytes. So strings are equal by their bytes
/// and numbers by ``ExactNumber``. Open addressing with linear probing over the codes alone; a lookup that finds the
/// value touches three places in memory.
struct ValueDictionary: Sendable {
    enum Tag: UInt8 {
        case text = 0
        case int = 1
        case unsigned = 2
        case double = 3
        case bool = 4
        case date = 5
    }

    /// Tag and payload of each value, one after the other.
    private var arena: [UInt8] = []
    /// Where the value of a code ends in the arena, by code; the entry of code 0 is 0.
    private var ends: [UInt32] = [0]
    /// Codes by hash; 0 is free. A power of two, at most three quarters full.
    private var slots: [UInt32] = []
    /// Hosts choose the values, so the places they take must not be theirs to choose. The seed differs from process to
    /// process and nothing that leaves this type depends on it: codes count up as values come.
    private let seed: UInt64

    init() {
        self.seed = Self.processSeed
    }

    private static let processSeed: UInt64 = {
        var hasher = Hasher()
        hasher.combine(0)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }()

    /// The highest code.
    var count: Int { self.ends.count - 1 }

    /// Bytes of memory held.
    var byteCount: Int { self.arena.capacity + 4 * (self.ends.capacity + self.slots.capacity) }

    // MARK: Codes of values

    /// The code of a value, new if it has none yet. Precondition: no array.
    mutating func insert(_ value: ParameterValue) -> UInt32 {
        if case .string(let string) = value { return self.insert(string) }
        guard let (tag, word) = Self.word(of: value) else { return 0 }
        return self.insert(tag, Self.bytes(of: word).span)
    }

    /// The code of a string, new if it has none yet.
    mutating func insert(_ string: String) -> UInt32 {
        var string = string
        string.makeContiguousUTF8()
        return self.insert(.text, string.utf8.span)
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
            let code = self.find(.text, text.bytes.span)
            let codes = code == 0 ? [] : [code]
            // A column of texts alone, the usual case, need not have its literals read as dates.
            guard self.holdsDates, let date = literal.date else { return codes }
            return codes + self.codes(.date, UInt64(bitPattern: date.milliseconds))
        }
    }

    /// Whether a date was ever inserted.
    private var holdsDates = false

    private func codes(_ tag: Tag, _ word: UInt64) -> [UInt32] {
        let code = self.find(tag, Self.bytes(of: word).span)
        return code == 0 ? [] : [code]
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

    private static func bytes(of word: UInt64) -> InlineArray<8, UInt8> {
        InlineArray { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }

    // MARK: Values of codes

    /// Whether the value of a code satisfies one of the atoms. Code 0 satisfies only `exists(false)`.
    func satisfies(_ code: UInt32, _ atoms: [MatchAtom]) -> Bool {
        guard code != 0 else { return atoms.contains(.exists(false)) }
        let start = Int(self.ends[Int(code) - 1])
        let end = Int(self.ends[Int(code)])
        guard let tag = Tag(rawValue: self.arena[start]) else { preconditionFailure("a damaged dictionary") }
        if tag == .text {
            let text = self.arena.span.extracting(start + 1..<end)
            for atom in atoms where atom.matches(text: text) { return true }
            return false
        }
        let word = self.arena.span.word(at: start + 1)
        switch tag {
        case .text: return false
        case .int: return atoms.contains { $0.matches(number: .int(Int64(bitPattern: word))) }
        case .unsigned: return atoms.contains { $0.matches(number: .unsigned(word)) }
        case .double: return atoms.contains { $0.matches(number: .double(Double(bitPattern: word))) }
        case .bool: return atoms.contains { $0.matches(bool: word == 1) }
        case .date: return atoms.contains { $0.matches(date: Instant(milliseconds: Int64(bitPattern: word))) }
        }
    }

    /// A dictionary of the codes that are used, in the same order, and the new code of each old one.
    ///
    /// - Parameter uses: How often each code is used.
    func compacted(_ uses: [UInt32]) -> (ValueDictionary, [UInt32]) {
        var smaller = ValueDictionary()
        var renamed = [UInt32](repeating: 0, count: self.count + 1)
        for code in 1..<(self.count + 1) where uses[code] > 0 {
            let start = Int(self.ends[code - 1])
            let key = self.arena.span.extracting(start..<Int(self.ends[code]))
            guard let tag = Tag(rawValue: key[0]) else { preconditionFailure("a damaged dictionary") }
            renamed[code] = smaller.insert(tag, key.extracting(droppingFirst: 1))
        }
        return (smaller, renamed)
    }

    // MARK: The table

    private func find(_ tag: Tag, _ payload: Span<UInt8>) -> UInt32 {
        guard !self.slots.isEmpty else { return 0 }
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: self.hash(tag.rawValue, payload)) & mask
        while true {
            let code = self.slots[slot]
            if code == 0 || self.holds(code, tag, payload) { return code }
            slot = (slot + 1) & mask
        }
    }

    private mutating func insert(_ tag: Tag, _ payload: Span<UInt8>) -> UInt32 {
        if 4 * self.ends.count > 3 * self.slots.count { self.grow() }
        let mask = self.slots.count - 1
        var slot = Int(truncatingIfNeeded: self.hash(tag.rawValue, payload)) & mask
        while true {
            let code = self.slots[slot]
            if code == 0 { break }
            if self.holds(code, tag, payload) { return code }
            slot = (slot + 1) & mask
        }
        let code = UInt32(self.ends.count)
        self.arena.append(tag.rawValue)
        for index in payload.indices { self.arena.append(payload[index]) }
        // Four gigabytes of distinct values of one parameter: traps, as running out of memory would.
        self.ends.append(UInt32(self.arena.count))
        self.slots[slot] = code
        if tag == .date { self.holdsDates = true }
        return code
    }

    private func holds(_ code: UInt32, _ tag: Tag, _ payload: Span<UInt8>) -> Bool {
        let start = Int(self.ends[Int(code) - 1])
        let end = Int(self.ends[Int(code)])
        guard end - start == payload.count + 1, self.arena[start] == tag.rawValue else { return false }
        return self.arena.span.extracting(start + 1..<end).equals(payload)
    }

    private mutating func grow() {
        let size = max(8, self.slots.count * 2)
        var slots = [UInt32](repeating: 0, count: size)
        for code in 1..<self.ends.count {
            let start = Int(self.ends[code - 1])
            let payload = self.arena.span.extracting(start + 1..<Int(self.ends[code]))
            var slot = Int(truncatingIfNeeded: self.hash(self.arena[start], payload)) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(code)
        }
        self.slots = slots
    }

    /// Folds eight bytes at a time with a full-width multiplication.
    private func hash(_ tag: UInt8, _ payload: Span<UInt8>) -> UInt64 {
        var hash = self.seed ^ UInt64(tag) ^ (UInt64(payload.count) << 8)
        var offset = 0
        while offset + 8 <= payload.count {
            hash = Self.fold(hash ^ payload.word(at: offset))
            offset += 8
        }
        return Self.fold(hash ^ payload.lastPartialWord)
    }

    private static func fold(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }

    // MARK: Invariants

    /// What is wrong with the table; empty if nothing.
    func checkInvariants() -> [String] {
        var faults: [String] = []
        if self.count > 0, self.slots.isEmpty || self.slots.count & (self.slots.count - 1) != 0 {
            faults.append("the table has \(self.slots.count) slots")
        }
        if self.slots.count(where: { $0 != 0 }) != self.count { faults.append("a code has no slot or two") }
        for code in 1..<(self.count + 1) {
            let start = Int(self.ends[code - 1])
            guard start < self.ends[code], let tag = Tag(rawValue: self.arena[start]) else {
                faults.append("code \(code) has no value")
                continue
            }
            let payload = self.arena.span.extracting(start + 1..<Int(self.ends[code]))
            if self.find(tag, payload) != code { faults.append("the value of code \(code) is found elsewhere") }
        }
        return faults
    }
}

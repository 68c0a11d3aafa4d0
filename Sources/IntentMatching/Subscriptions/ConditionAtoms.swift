import WidgetModel

/// The distinct conditions on single attributes that expressions are made of, by number.
///
/// An atom is an attribute's name and a ``MatchAtom``. Those that ask for one value are found by that value; the others
/// are asked, each at most once for a push.
struct ConditionAtoms: Sendable {
    /// Marks an atom that is no equality.
    static let askedFlag: UInt32 = 1 << 29
    /// The highest number of an atom.
    static let numberMax: UInt32 = askedFlag - 1

    /// By name, with a use for each atom.
    private var names = KeyTable<UInt64>()
    private var atoms = KeyTable<UInt64>()
    /// By the number of the atom, for those that are asked.
    private(set) var questions = Column<Question>()
    /// What is asked, in full; nil for equalities.
    private(set) var asked: [MatchAtom?] = []
    /// The equalities that questions exclude.
    private(set) var excluded = SizeClassPool<UInt32>()
    private var scratch = KeyWords()
    private var writer = ByteWriter()

    /// A question about an attribute, with what answers it for most values.
    struct Question: BitwiseCopyable {
        enum Form: UInt8 {
            case other
            /// Accepts the integers from ``first`` to ``last``.
            case integers
            /// Accepts a value of which none of so many equalities holds: ``last`` of ``excluded``, from ``first`` on.
            case noneOf
        }

        var name: UInt32
        var form = Form.other
        var first: Int64 = 0
        var last: Int64 = 0
    }

    /// One more than the highest number.
    var bound: Int { self.atoms.bound }

    var count: Int { self.atoms.count }

    var byteCount: Int {
        self.names.byteCount + self.atoms.byteCount + self.questions.byteCount + self.excluded.byteCount
            + self.asked.capacity * MemoryLayout<MatchAtom?>.stride
    }

    /// How many expressions use an atom, each as often as it names it.
    @inline(__always)
    func uses(_ atom: UInt32) -> Int { self.atoms.uses(of: atom & Self.numberMax) }

    // MARK: Changing

    /// Appends the numbers of atoms about an attribute, with ``askedFlag`` if they are no equalities, and notes one use of
    /// each.
    mutating func use(_ name: UTF8Text, _ atoms: [MatchAtom], _ numbers: inout [UInt32]) {
        ValueKey.write(name.bytes.span, &self.scratch)
        let attribute = self.names.use(self.scratch).number
        for atom in atoms { numbers.append(self.use(attribute, atom)) }
        // Each atom holds one use of its name.
        self.names.release(attribute)
    }

    private mutating func use(_ attribute: UInt32, _ atom: MatchAtom) -> UInt32 {
        var isAsked = true
        if case .equals(let literal) = atom, ValueKey.write(literal, &self.scratch) { isAsked = false }
        if isAsked {
            self.writer.bytes.removeAll(keepingCapacity: true)
            atom.encode(into: &self.writer)
            let bytes = self.writer.bytes
            ValueKey.write(bytes.span, &self.scratch)
        }
        self.scratch.append(UInt64(attribute) << 1 | (isAsked ? 1 : 0))
        let used = self.atoms.use(self.scratch)
        precondition(used.number <= Self.numberMax, "half a milliard of distinct conditions")
        if used.isNew {
            self.names.retain(attribute)
            if isAsked { self.ask(used.number, attribute, atom) }
        }
        return isAsked ? used.number | Self.askedFlag : used.number
    }

    /// Notes what a new atom asks for. The equalities that it excludes are atoms, too, so that it needs no values.
    private mutating func ask(_ number: UInt32, _ attribute: UInt32, _ atom: MatchAtom) {
        var question = Question(name: attribute)
        if case .numeric(let range) = atom, let (first, last) = range.integers {
            (question.form, question.first, question.last) = (.integers, first, last)
        }
        if case .anythingBut(let literals) = atom {
            let equalities = literals.filter { $0 != .null }.map { self.use(attribute, .equals($0)) }
            question.form = .noneOf
            question.last = Int64(equalities.count)
            if !equalities.isEmpty {
                let start = self.excluded.allocate(equalities.count)
                self.excluded.elements.write(equalities.span, at: Int(start))
                question.first = Int64(start)
            }
        }
        let missing = Int(number) + 1 - self.asked.count
        if missing > 0 {
            self.asked.append(contentsOf: repeatElement(nil, count: missing))
            self.questions.append(repeating: Question(name: 0), count: missing)
        }
        self.asked[Int(number)] = atom
        self.questions[Int(number)] = question
    }

    mutating func release(_ atom: UInt32) {
        let number = atom & Self.numberMax
        let name = self.name(of: number)
        guard self.atoms.release(number) else { return }
        self.names.release(name)
        guard atom & Self.askedFlag != 0 else { return }
        self.asked[Int(number)] = nil
        let question = self.questions[Int(number)]
        guard question.form == .noneOf, question.last > 0 else { return }
        let start = Int(question.first)
        for place in start..<start + Int(question.last) { self.release(self.excluded.elements[place]) }
        self.excluded.release(UInt32(start), Int(question.last))
    }

    /// The number of the name of an atom's attribute.
    func name(of atom: UInt32) -> UInt32 { UInt32(truncatingIfNeeded: self.atoms.lastWord(of: atom) >> 1) }

    // MARK: Asking

    /// The number of an attribute's name, if an atom asks for it.
    func name(_ name: String, _ scratch: inout KeyWords) -> UInt32? {
        ValueKey.write(name.utf8.span, &scratch)
        return self.names.find(scratch)
    }

    /// The atom that is true of a value. Precondition: no array.
    func equality(_ name: UInt32, _ value: ParameterValue, _ scratch: inout KeyWords) -> UInt32? {
        guard ValueKey.write(value, &scratch) else { return nil }
        scratch.append(UInt64(name) << 1)
        return self.atoms.find(scratch)
    }
}

extension NumericRange {
    /// The integers in the range; nil if a bound is no integer of 64 bits, or one beyond which there are none.
    fileprivate var integers: (first: Int64, last: Int64)? {
        var (first, last) = (Int64.min, Int64.max)
        if let lower {
            guard case .int(let int) = lower.number, lower.isInclusive || int < .max else { return nil }
            first = lower.isInclusive ? int : int + 1
        }
        if let upper {
            guard case .int(let int) = upper.number, upper.isInclusive || int > .min else { return nil }
            last = upper.isInclusive ? int : int - 1
        }
        return (first, last)
    }
}

/// The words of a key that is being written, in memory that one leaves to the next.
struct KeyWords {
    /// The key, and what earlier ones have left behind it.
    private(set) var words = [UInt64](repeating: 0, count: 16)
    var count = 0

    @inline(__always)
    mutating func append(_ word: UInt64) {
        if self.count == self.words.count { self.words.append(0) }
        self.words[self.count] = word
        self.count += 1
    }
}

extension KeyTable<UInt64> {
    mutating func use(_ key: KeyWords) -> (number: UInt32, isNew: Bool) {
        self.use(key.words.span.extracting(first: key.count))
    }

    @inline(__always)
    func find(_ key: KeyWords) -> UInt32? { self.find(key.words.span.extracting(first: key.count)) }
}

/// Values as words: equal values are equal words.
enum ValueKey {
    static func write(_ bytes: Span<UInt8>, _ key: inout KeyWords) {
        key.count = 0
        key.append(UInt64(bytes.count) << 3)
        var offset = 0
        while offset < bytes.count {
            key.append(bytes.word(at: offset))
            offset += 8
        }
    }

    /// False for null, which equals nothing.
    static func write(_ literal: MatchLiteral, _ key: inout KeyWords) -> Bool {
        switch literal {
        case .null: return false
        case .bool(let bool): self.write(1, bool ? 1 : 0, &key)
        case .number(let number): self.write(number, &key)
        case .string(let text): self.write(text.bytes.span, &key)
        }
        return true
    }

    /// False for what no literal of a pattern over attributes equals.
    static func write(_ value: ParameterValue, _ key: inout KeyWords) -> Bool {
        switch value {
        case .string(let string): self.write(string.utf8.span, &key)
        case .int(let int): self.write(ExactNumber(int), &key)
        case .double(let double):
            guard let number = ExactNumber(double) else { return false }
            self.write(number, &key)
        case .bool(let bool): self.write(1, bool ? 1 : 0, &key)
        case .date, .array: return false
        }
        return true
    }

    private static func write(_ number: ExactNumber, _ key: inout KeyWords) {
        switch number {
        case .int(let int): self.write(2, UInt64(bitPattern: int), &key)
        case .unsigned(let unsigned): self.write(3, unsigned, &key)
        case .double(let double): self.write(4, double.bitPattern, &key)
        }
    }

    private static func write(_ tag: UInt64, _ word: UInt64, _ key: inout KeyWords) {
        key.count = 0
        key.append(tag)
        key.append(word)
    }
}

import Storage
import WidgetModel

/// The distinct conditions on single attributes that expressions are made of, by number.
///
/// An atom is an attribute's name and a ``MatchAtom``. Those that ask for one value are found by that value; the others
/// are asked, each at most once for a push.
struct ConditionAtoms: ~Copyable {
    /// Marks an atom that is no equality.
    static let askedFlag: UInt32 = 1 << 29
    /// The highest number of an atom.
    static let numberMax: UInt32 = askedFlag - 1

    /// By name, with a use for each atom.
    private var names = KeyTable<UInt64>()
    private var atoms = KeyTable<UInt64>()
    /// By the number of the atom, for those that are asked.
    private(set) var questions = Column<Question>()
    /// The whole atom of each; nil for equalities.
    private(set) var asked: [MatchAtom?] = []
    /// The equalities that questions exclude.
    private(set) var excluded = BlockStore<UInt32>()
    private var writer = ByteWriter()

    /// A question about an attribute, in a short form that answers it for most values.
    struct Question: BitwiseCopyable {
        enum Form: UInt8 {
            case other
            /// Accepts the integers from ``first`` to ``last``.
            case integers
            /// Accepts a value that equals none of several: ``last`` of ``excluded``, from ``first`` on, each once.
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
    mutating func internAtoms(_ name: UTF8Text, _ atoms: [MatchAtom], _ numbers: inout [UInt32]) {
        if let attribute = self.name(name.bytes.span) {
            for index in atoms.indices { numbers.append(self.internAtom(attribute, atoms[index])) }
            return
        }
        let attribute = self.names.internKey(ValueKey.words(name.bytes.span).span).number
        for index in atoms.indices { numbers.append(self.internAtom(attribute, atoms[index])) }
        // Each atom holds one use of its name.
        self.names.release(attribute)
    }

    private mutating func internAtom(_ attribute: UInt32, _ atom: MatchAtom) -> UInt32 {
        if case .equals(let literal) = atom, literal != .null {
            return self.noteUse(self.internLiteral(literal, UInt64(attribute) << 1), attribute)
        }
        let used = self.internAsked(atom, UInt64(attribute) << 1 | 1)
        let number = self.noteUse(used, attribute)
        if used.isNew { self.ask(number, attribute, atom) }
        return number | Self.askedFlag
    }

    private mutating func internAsked(_ atom: MatchAtom, _ attribute: UInt64) -> (number: UInt32, isNew: Bool) {
        if case .numeric(let range) = atom { return self.internKey(ValueKey(range), attribute) }
        self.writer.bytes.removeAll(keepingCapacity: true)
        atom.encode(into: &self.writer)
        let bytes = self.writer.bytes
        return self.internText(bytes.span, attribute)
    }

    /// The number that is used, which if it is new holds a use of its name.
    private mutating func noteUse(_ used: (number: UInt32, isNew: Bool), _ attribute: UInt32) -> UInt32 {
        precondition(used.number <= Self.numberMax, "half a billion distinct conditions")
        if used.isNew { self.names.retain(attribute) }
        return used.number
    }

    /// The number of a literal, which is not null, of an attribute.
    private mutating func internLiteral(_ literal: MatchLiteral, _ attribute: UInt64) -> (number: UInt32, isNew: Bool) {
        switch literal {
        case .null: preconditionFailure("null equals nothing")
        case .bool(let bool): self.internKey(ValueKey(bool), attribute)
        case .number(let number): self.internKey(ValueKey(number), attribute)
        case .string(let text): self.internText(text.bytes.span, attribute)
        }
    }

    private mutating func internText(_ text: Span<UInt8>, _ attribute: UInt64) -> (number: UInt32, isNew: Bool) {
        if let key = ValueKey(text) { return self.internKey(key, attribute) }
        return self.atoms.internKey((ValueKey.words(text) + [attribute]).span)
    }

    private mutating func internKey(_ key: ValueKey, _ attribute: UInt64) -> (number: UInt32, isNew: Bool) {
        let key: InlineArray<4, UInt64> = [key.first, key.second, key.third, attribute]
        // Most are known.
        guard let number = self.atoms.find(key) else { return self.atoms.internKey(key.span) }
        self.atoms.retain(number)
        return (number, false)
    }

    /// Notes the question of a new atom. The equalities that it excludes are atoms, too, so that it needs no values.
    private mutating func ask(_ number: UInt32, _ attribute: UInt32, _ atom: MatchAtom) {
        var question = Question(name: attribute)
        if case .numeric(let range) = atom, let (first, last) = range.integers {
            (question.form, question.first, question.last) = (.integers, first, last)
        }
        if case .anythingBut(let literals) = atom {
            var seen: Set<MatchLiteral> = [.null]
            let equalities = literals.filter { seen.insert($0).inserted }.map {
                self.internAtom(attribute, .equals($0))
            }
            question.form = .noneOf
            question.last = Int64(equalities.count)
            if !equalities.isEmpty {
                let start = self.excluded.allocate(equalities.count)
                self.excluded.elements.write(equalities.span, at: Int(start))
                question.first = Int64(start)
            }
        }
        let missing = Int(number) + 1 - self.asked.count
        if missing > 0 { self.asked.append(contentsOf: repeatElement(nil, count: missing)) }
        self.questions.extend(to: Int(number), repeating: Question(name: 0))
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
    @inline(__always)
    func name(of atom: UInt32) -> UInt32 { UInt32(truncatingIfNeeded: self.atoms.lastWord(of: atom) >> 1) }

    // MARK: Asking

    /// The number of an attribute's name, if an atom asks for it.
    @inline(__always)
    func name(_ name: String) -> UInt32? { self.name(name.utf8.span) }

    @inline(__always)
    private func name(_ name: Span<UInt8>) -> UInt32? {
        guard let key = ValueKey(name) else { return self.names.find(ValueKey.words(name).span) }
        return self.names.find([key.first, key.second, key.third])
    }

    /// The atom that is true of a value. Precondition: no array.
    func equality(_ name: UInt32, _ value: ParameterValue) -> UInt32? {
        let attribute = UInt64(name) << 1
        if let key = ValueKey(value) { return self.atoms.find([key.first, key.second, key.third, attribute]) }
        guard case .string(let string) = value else { return nil }
        return self.atoms.find((ValueKey.words(string.utf8.span) + [attribute]).span)
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

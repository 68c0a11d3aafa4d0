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
    /// What is asked, by the number of the atom; nil for equalities.
    private var asked: [Asked?] = []
    private var scratch: [UInt64] = []
    private var writer = ByteWriter()

    struct Asked: Sendable {
        let name: UInt32
        let atom: MatchAtom
    }

    /// One more than the highest number.
    var bound: Int { self.atoms.bound }

    var count: Int { self.atoms.count }

    var byteCount: Int {
        self.names.byteCount + self.atoms.byteCount + self.asked.capacity * MemoryLayout<Asked?>.stride
    }

    /// How many expressions use an atom, each as often as it names it.
    @inline(__always)
    func uses(_ atom: UInt32) -> Int { Int(self.atoms.uses[Int(atom & Self.numberMax)]) }

    // MARK: Changing

    /// The number of an atom, with ``askedFlag`` if it is no equality, and one use of it.
    mutating func use(_ name: UTF8Text, _ atom: MatchAtom) -> UInt32 {
        ValueKey.write(name.bytes.span, &self.scratch)
        let attribute = self.names.use(self.scratch)
        var isAsked = true
        if case .equals(let literal) = atom, ValueKey.write(literal, &self.scratch) { isAsked = false }
        if isAsked {
            self.writer.bytes.removeAll(keepingCapacity: true)
            atom.encode(into: &self.writer)
            let bytes = self.writer.bytes
            ValueKey.write(bytes.span, &self.scratch)
        }
        self.scratch.append(UInt64(attribute.number) << 1 | (isAsked ? 1 : 0))
        let used = self.atoms.use(self.scratch)
        precondition(used.number <= Self.numberMax, "half a milliard of distinct conditions")
        if used.isNew {
            while self.asked.count <= Int(used.number) { self.asked.append(nil) }
            self.asked[Int(used.number)] = isAsked ? Asked(name: attribute.number, atom: atom) : nil
        } else {
            // The atom holds one use of its name.
            self.names.release(attribute.number)
        }
        return isAsked ? used.number | Self.askedFlag : used.number
    }

    mutating func release(_ atom: UInt32) {
        let number = atom & Self.numberMax
        let key = self.atoms.key(of: number)
        guard self.atoms.release(number) else { return }
        self.asked[Int(number)] = nil
        self.names.release(UInt32(key[key.count - 1] >> 1))
    }

    // MARK: Asking

    /// The number of an attribute's name, if an atom asks for it.
    func name(_ name: String) -> UInt32? {
        var key: [UInt64] = []
        ValueKey.write(name.utf8.span, &key)
        return self.names.find(key)
    }

    /// The atom that is true of a value. Precondition: no array.
    func equality(_ name: UInt32, _ value: ParameterValue, _ scratch: inout [UInt64]) -> UInt32? {
        guard ValueKey.write(value, &scratch) else { return nil }
        scratch.append(UInt64(name) << 1)
        return self.atoms.find(scratch)
    }

    /// What an atom asks for; nil for equalities.
    func asked(_ atom: UInt32) -> Asked? { self.asked[Int(atom & Self.numberMax)] }
}

/// Values as words: equal values are equal words.
enum ValueKey {
    static func write(_ bytes: Span<UInt8>, _ key: inout [UInt64]) {
        key.removeAll(keepingCapacity: true)
        key.append(UInt64(bytes.count) << 3)
        var offset = 0
        while offset < bytes.count {
            key.append(bytes.word(at: offset))
            offset += 8
        }
    }

    /// False for null, which equals nothing.
    static func write(_ literal: MatchLiteral, _ key: inout [UInt64]) -> Bool {
        switch literal {
        case .null: return false
        case .bool(let bool): self.write(1, bool ? 1 : 0, &key)
        case .number(let number): self.write(number, &key)
        case .string(let text): self.write(text.bytes.span, &key)
        }
        return true
    }

    /// False for what no literal of a pattern over attributes equals.
    static func write(_ value: ParameterValue, _ key: inout [UInt64]) -> Bool {
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

    private static func write(_ number: ExactNumber, _ key: inout [UInt64]) {
        switch number {
        case .int(let int): self.write(2, UInt64(bitPattern: int), &key)
        case .unsigned(let unsigned): self.write(3, unsigned, &key)
        case .double(let double): self.write(4, double.bitPattern, &key)
        }
    }

    private static func write(_ tag: UInt64, _ word: UInt64, _ key: inout [UInt64]) {
        key.removeAll(keepingCapacity: true)
        key.append(tag)
        key.append(word)
    }
}

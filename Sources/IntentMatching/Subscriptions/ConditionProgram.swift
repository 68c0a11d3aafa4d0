import WidgetModel

/// A condition in words: an atom's number; or "all of" or "any of" with the number of words of the parts that follow.
/// Equal conditions are equal words, since equal atoms have one number.
enum ConditionProgram {
    enum Kind {
        case atom
        case all
        case any
    }

    static func all(_ length: Int) -> UInt32 { 1 << 30 | UInt32(length) }
    static func any(_ length: Int) -> UInt32 { 2 << 30 | UInt32(length) }

    @inline(__always)
    static func kind(_ word: UInt32) -> Kind {
        switch word >> 30 {
        case 0: .atom
        case 1: .all
        default: .any
        }
    }

    /// The words of the parts of a word that is no atom.
    @inline(__always)
    static func length(_ word: UInt32) -> Int { Int(word & 0x3FFF_FFFF) }

    /// Calls `body` with each atom, with its flag.
    static func forEachAtom(_ program: [UInt32], _ body: (UInt32) -> Void) {
        for word in program where self.kind(word) == .atom { body(word) }
    }

    /// Calls `body` with the range of each part of the word at an index.
    static func forEachPart(_ program: [UInt32], _ index: Int, _ body: (Range<Int>) -> Void) {
        var start = index + 1
        let end = start + self.length(program[index])
        while start < end {
            let own = self.kind(program[start]) == .atom ? 0 : self.length(program[start])
            body(start..<start + 1 + own)
            start += 1 + own
        }
    }
}

/// A push's attributes in terms of atoms.
struct ConditionEvent {
    private struct Attribute {
        let name: UInt32
        let value: ParameterValue
    }

    /// The attributes that some atom asks for.
    private var attributes: [Attribute] = []
    /// The equalities that hold, each once.
    private(set) var present: [UInt32] = []
    /// By atom: whether it is known to hold, and whether it is known at all. Equalities are known from the start.
    private var holds: [UInt64]
    private var isKnown: [UInt64]

    init(_ attributes: Configuration, _ atoms: ConditionAtoms) {
        let words = (atoms.bound + 63) / 64
        self.holds = [UInt64](repeating: 0, count: words)
        self.isKnown = self.holds
        var scratch: [UInt64] = []
        for attribute in attributes.parameters {
            guard let name = atoms.name(attribute.name) else { continue }
            self.attributes.append(Attribute(name: name, value: attribute.value))
            switch attribute.value {
            case .array(let elements):
                for element in elements { self.note(atoms.equality(name, element, &scratch)) }
            case let value: self.note(atoms.equality(name, value, &scratch))
            }
        }
    }

    private mutating func note(_ atom: UInt32?) {
        guard let atom, self.holds[Int(atom >> 6)] >> UInt64(atom & 63) & 1 == 0 else { return }
        self.holds.mark(Int(atom), true)
        self.present.append(atom)
    }

    /// Whether the condition of an expression is fulfilled.
    @inline(__always)
    mutating func fulfils(_ expressions: KeyTable<UInt32>, _ expression: UInt32, _ atoms: ConditionAtoms) -> Bool {
        let range = expressions.range(of: expression)
        return self.fulfils(expressions.pool.elements, range.lowerBound, atoms)
    }

    private mutating func fulfils(_ words: Column<UInt32>, _ index: Int, _ atoms: ConditionAtoms) -> Bool {
        let word = words[index]
        let kind = ConditionProgram.kind(word)
        if kind == .atom { return self.fulfils(word, atoms) }
        var part = index + 1
        let end = part + ConditionProgram.length(word)
        while part < end {
            let own = words[part]
            let isAtom = ConditionProgram.kind(own) == .atom
            let isFulfilled = isAtom ? self.fulfils(own, atoms) : self.fulfils(words, part, atoms)
            if isFulfilled != (kind == .all) { return isFulfilled }
            part += isAtom ? 1 : 1 + ConditionProgram.length(own)
        }
        return kind == .all
    }

    @inline(__always)
    private mutating func fulfils(_ atom: UInt32, _ atoms: ConditionAtoms) -> Bool {
        let number = Int(atom & ConditionAtoms.numberMax)
        let bit = UInt64(number & 63)
        if atom & ConditionAtoms.askedFlag == 0 || self.isKnown[number >> 6] >> bit & 1 == 1 {
            return self.holds[number >> 6] >> bit & 1 == 1
        }
        return self.ask(number, atoms)
    }

    @inline(never)
    private mutating func ask(_ number: Int, _ atoms: ConditionAtoms) -> Bool {
        guard let asked = atoms.asked(UInt32(number)) else { return false }
        let holds = self.answer(asked)
        self.isKnown.mark(number, true)
        self.holds.mark(number, holds)
        return holds
    }

    private func answer(_ asked: ConditionAtoms.Asked) -> Bool {
        guard let attribute = self.attributes.first(where: { $0.name == asked.name }) else {
            return asked.atom == .exists(false)
        }
        guard case .array(let elements) = attribute.value else { return asked.atom.matches(attribute.value) }
        if case .exists(let exists) = asked.atom { return exists }
        return elements.contains { asked.atom.matches($0) }
    }
}

import Storage
import WidgetModel

/// A push's attributes in terms of atoms.
struct ConditionEvent {
    /// An equality that holds, and the number of its attribute's name.
    struct Equality {
        let atom: UInt32
        let name: UInt32
    }

    /// An attribute that some atom asks for.
    private struct Attribute {
        let name: UInt32
        /// Which of the push's it is.
        let place: UInt32
        let form: Form
        /// Its value, if it is an integer.
        var int: Int64 = 0
        /// Of an array: how many equalities hold for elements of it.
        var equalities = 0
        /// Of an array: whether no equality that anything asks for holds for one of its elements.
        var hasOthers = false
    }

    private enum Form: UInt8 {
        case int
        /// A text, a truth value or a number that is no integer.
        case word
        case array
        case other
    }

    private let parameters: [Configuration.Parameter]
    private var attributes: [Attribute] = []
    /// The equalities that hold, each once.
    private(set) var present: [Equality] = []
    /// Two bits for each atom: 1 if it holds, 2 if it is known not to. Equalities are known from the start.
    private var states: [UInt64]

    init(_ attributes: Configuration, _ atoms: borrowing ConditionAtoms) {
        self.parameters = attributes.parameters
        self.states = [UInt64](repeating: 0, count: (atoms.bound + 31) / 32)
        self.attributes.reserveCapacity(self.parameters.count)
        self.present.reserveCapacity(2 * self.parameters.count)
        for place in self.parameters.indices {
            guard let name = atoms.name(self.parameters[place].name) else { continue }
            let form: Form =
                switch self.parameters[place].value {
                case .int: .int
                case .string, .bool, .double: .word
                case .array: .array
                case .date: .other
                }
            var attribute = Attribute(name: name, place: UInt32(place), form: form)
            if case .int(let int) = self.parameters[place].value { attribute.int = int }
            if case .array(let elements) = self.parameters[place].value {
                let before = self.present.count
                for element in elements {
                    let atom = atoms.equality(name, element)
                    if atom == nil { attribute.hasOthers = true }
                    self.noteAtom(name, atom)
                }
                attribute.equalities = self.present.count - before
            } else {
                self.noteAtom(name, atoms.equality(name, self.parameters[place].value))
            }
            self.attributes.append(attribute)
        }
    }

    private mutating func noteAtom(_ name: UInt32, _ atom: UInt32?) {
        guard let atom, self.state(Int(atom)) == 0 else { return }
        self.setState(Int(atom), 1)
        self.present.append(Equality(atom: atom, name: name))
    }

    @inline(__always)
    private func state(_ atom: Int) -> UInt64 { self.states[atom >> 5] &>> UInt64(2 * (atom & 31)) & 3 }

    private mutating func setState(_ atom: Int, _ state: UInt64) {
        self.states[atom >> 5] |= state << UInt64(2 * (atom & 31))
    }

    // MARK: Asking

    /// Whether all of the parts in a range of words hold.
    ///
    /// - Parameters:
    ///   - words: The words of a program.
    ///   - parts: The range.
    ///   - atoms: The same as the event was made with.
    @inline(__always)
    mutating func fulfils(
        _ words: Span<UInt32>,
        _ parts: Range<Int>,
        _ atoms: borrowing ConditionAtoms
    ) -> Bool {
        var index = parts.lowerBound
        while index < parts.upperBound {
            let word = words[index]
            if ConditionProgram.kind(word) == .atom {
                guard self.holds(word, atoms) else { return false }
                index += 1
            } else {
                guard self.fulfils(words, index, atoms) else { return false }
                index += 1 + ConditionProgram.length(word)
            }
        }
        return true
    }

    /// Whether the part at an index holds, which is no atom.
    mutating func fulfils(_ words: Span<UInt32>, _ index: Int, _ atoms: borrowing ConditionAtoms) -> Bool {
        let isAll = ConditionProgram.kind(words[index]) == .all
        var part = index + 1
        let end = part + ConditionProgram.length(words[index])
        while part < end {
            let word = words[part]
            let isAtom = ConditionProgram.kind(word) == .atom
            let isFulfilled = isAtom ? self.holds(word, atoms) : self.fulfils(words, part, atoms)
            if isFulfilled != isAll { return isFulfilled }
            part += isAtom ? 1 : 1 + ConditionProgram.length(word)
        }
        return isAll
    }

    @inline(__always)
    private mutating func holds(_ atom: UInt32, _ atoms: borrowing ConditionAtoms) -> Bool {
        let number = Int(atom & ConditionAtoms.numberMax)
        let state = self.state(number)
        if state == 0, atom & ConditionAtoms.askedFlag != 0 { return self.ask(number, atoms) }
        return state == 1
    }

    @inline(never)
    private mutating func ask(_ number: Int, _ atoms: borrowing ConditionAtoms) -> Bool {
        let holds = self.answer(number, atoms)
        self.setState(number, holds ? 1 : 2)
        return holds
    }

    private func answer(_ number: Int, _ atoms: borrowing ConditionAtoms) -> Bool {
        let question = atoms.questions[number]
        guard let attribute = self.attributes.first(where: { $0.name == question.name }) else {
            return atoms.asked[number] == .exists(false)
        }
        switch (question.form, attribute.form) {
        case (.integers, .int): return question.first <= attribute.int && attribute.int <= question.last
        case (.noneOf, .int), (.noneOf, .word):
            return self.excludedCount(question, upTo: 1, atoms) == 0
        case (.noneOf, .array):
            if attribute.hasOthers { return true }
            return self.excludedCount(question, upTo: attribute.equalities, atoms) < attribute.equalities
        default: return atoms.asked[number]?.matches(self.parameters[Int(attribute.place)].value) ?? false
        }
    }

    /// How many of the equalities hold that a question excludes, as far as `count`.
    private func excludedCount(
        _ question: ConditionAtoms.Question,
        upTo count: Int,
        _ atoms: borrowing ConditionAtoms
    ) -> Int {
        var held = 0
        let start = Int(question.first)
        for place in start..<start + Int(question.last) where held < count {
            if self.state(Int(atoms.excluded.elements[place])) == 1 { held += 1 }
        }
        return held
    }
}

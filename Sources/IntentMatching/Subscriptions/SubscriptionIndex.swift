package import WidgetModel

/// Finds the conditions that a push's attributes fulfil, among the `when` of many widget instances: the other direction of
/// ``IntentIndex``, content-based publish and subscribe.
///
/// Equal conditions are one expression, and equal parts of them one atom. An expression is found by the rarest equality
/// that must hold for it, or by the two rarest together; what has no equality that must hold is evaluated for each push.
/// What fulfils a condition is defined by ``MatchPattern/matches(_:)``.
package struct SubscriptionIndex: Sendable {
    /// Above so many expressions on one atom's list, two atoms together are looked for.
    private static let crowd = 8

    /// How an expression is found.
    private enum Access {
        case atom(UInt32)
        case atoms([UInt32])
        case pair(UInt32, UInt32)
        /// Evaluated for each push.
        case always
    }

    private var atoms = ConditionAtoms()
    /// Programs by expression, see ``ConditionProgram``.
    private var expressions = KeyTable<UInt32>()
    /// Expressions by the number of an atom plus one.
    private var byAtom = PostingLists()
    /// Pairs of atoms, the lower one first, and expressions by the number of the pair plus one.
    private var pairs = KeyTable<UInt64>()
    private var byPair = PostingLists()
    /// By atom: in how many pairs it is.
    private var pairedAtoms = Column<UInt32>()
    /// Expressions that no equality finds, on the list of 1.
    private var unfound = PostingLists()
    /// By expression: what finds it, in one word, see ``stored(_:)``.
    private var accesses = Column<UInt32>()
    /// The atoms of expressions that are found by several.
    private var several: [UInt32: [UInt32]] = [:]
    /// The words of the condition that is being inserted, and what may find it: memory that each leaves to the next.
    private var program: [UInt32] = []
    private var rarest: [UInt32] = []

    package init() {}

    /// Distinct conditions.
    package var count: Int { self.expressions.count }

    /// Conditions that every push evaluates, since no equality must hold for them.
    package var unfoundCount: Int { self.unfound.count(of: 1) }

    /// One more than the highest number of an expression.
    package var bound: Int { self.expressions.bound }

    /// Bytes of memory held, allocators' overhead not counted.
    package var byteCount: Int {
        self.atoms.byteCount + self.expressions.byteCount + self.byAtom.byteCount + self.pairs.byteCount
            + self.byPair.byteCount + self.pairedAtoms.byteCount + self.unfound.byteCount + self.accesses.byteCount
            + self.several.count * 64
    }

    // MARK: Changing

    /// The number of a condition, new if nobody has it yet, and one use of it.
    package mutating func insert(_ pattern: MatchPattern) -> UInt32 {
        // Out of the index and back: it is read while other parts of the index change.
        var program: [UInt32] = []
        swap(&program, &self.program)
        defer { swap(&program, &self.program) }
        program.removeAll(keepingCapacity: true)
        self.compile(pattern, &program)
        let used = self.expressions.use(program)
        guard used.isNew else {
            ConditionProgram.forEachAtom(program) { self.atoms.release($0) }
            return used.number
        }
        while self.accesses.count <= Int(used.number) { self.accesses.append(0) }
        let access = self.access(program)
        self.accesses[Int(used.number)] = self.store(access, used.number)
        return used.number
    }

    /// Takes back one use of a condition. Precondition: it has one.
    package mutating func release(_ expression: UInt32) {
        let program = self.expressions.key(of: expression)
        guard self.expressions.release(expression) else { return }
        let stored = self.accesses[Int(expression)]
        switch stored >> 30 {
        case 0: self.byAtom.remove(expression, stored & ConditionAtoms.numberMax + 1)
        case 1: self.removePair(stored & 0x3FFF_FFFF, expression)
        case 2: self.unfound.remove(expression, 1)
        default:
            for atom in self.several[expression] ?? [] { self.byAtom.remove(expression, atom + 1) }
            self.several[expression] = nil
        }
        ConditionProgram.forEachAtom(program) { self.atoms.release($0) }
    }

    private mutating func compile(_ pattern: MatchPattern, _ program: inout [UInt32]) {
        switch pattern {
        case .all(let parts):
            let start = program.count
            program.append(0)
            for part in parts { self.compile(part, &program) }
            program[start] = ConditionProgram.all(program.count - start - 1)
        case .any(let parts):
            let start = program.count
            program.append(0)
            for part in parts { self.compile(part, &program) }
            program[start] = ConditionProgram.any(program.count - start - 1)
        case .field(let field, let atoms):
            // Patterns over attributes have no other fields; a name that no attribute can have is true of none.
            let name = if case .parameter(let name) = field { name } else { UTF8Text(field.description) }
            if atoms.count == 1 { return program.append(self.atoms.use(name, atoms[0])) }
            program.append(ConditionProgram.any(atoms.count))
            for atom in atoms { program.append(self.atoms.use(name, atom)) }
        }
    }

    // MARK: Access

    private mutating func access(_ program: [UInt32]) -> Access {
        guard self.cost(program, 0) != nil else { return .always }
        self.rarest.removeAll(keepingCapacity: true)
        self.addRarest(program, 0)
        let expressions = self.rarest.reduce(0) { $0 + self.byAtom.count(of: $1 + 1) }
        // Two equalities that both must hold are rarer than either.
        if expressions > Self.crowd, let (first, second) = self.rarestPair(program) { return .pair(first, second) }
        return self.rarest.count == 1 ? .atom(self.rarest[0]) : .atoms(self.rarest)
    }

    /// How often expressions use the equalities of which one must hold for the part of a program from `index` on to hold; nil
    /// if there are none.
    private func cost(_ program: [UInt32], _ index: Int) -> Int? {
        let word = program[index]
        switch ConditionProgram.kind(word) {
        case .atom: return word & ConditionAtoms.askedFlag == 0 ? self.atoms.uses(word) : nil
        case .all: return self.cheapestPart(program, index)?.cost
        case .any:
            var sum: Int? = 0
            ConditionProgram.forEachPart(program, index) { part in
                guard let own = self.cost(program, part.lowerBound) else { return sum = nil }
                sum = sum.map { $0 + own }
            }
            return sum
        }
    }

    /// The part of an "all of" whose equalities are the rarest, the first of several.
    private func cheapestPart(_ program: [UInt32], _ index: Int) -> (index: Int, cost: Int)? {
        var cheapest: (index: Int, cost: Int)?
        ConditionProgram.forEachPart(program, index) { part in
            guard let cost = self.cost(program, part.lowerBound), cost < cheapest?.cost ?? .max else { return }
            cheapest = (part.lowerBound, cost)
        }
        return cheapest
    }

    /// Adds the equalities that ``cost(_:_:)`` is about to ``rarest``, each once. Precondition: there are some.
    private mutating func addRarest(_ program: [UInt32], _ index: Int) {
        let word = program[index]
        switch ConditionProgram.kind(word) {
        case .atom: if !self.rarest.contains(word) { self.rarest.append(word) }
        case .all: if let part = self.cheapestPart(program, index) { self.addRarest(program, part.index) }
        case .any: ConditionProgram.forEachPart(program, index) { self.addRarest(program, $0.lowerBound) }
        }
    }

    /// The two rarest equalities that both must hold.
    private func rarestPair(_ program: [UInt32]) -> (UInt32, UInt32)? {
        guard let word = program.first, ConditionProgram.kind(word) == .all else { return nil }
        var first: UInt32?
        var second: UInt32?
        ConditionProgram.forEachPart(program, 0) { part in
            let atom = program[part.lowerBound]
            guard part.count == 1, ConditionProgram.kind(atom) == .atom, atom & ConditionAtoms.askedFlag == 0 else {
                return
            }
            if first.map({ self.atoms.uses(atom) < self.atoms.uses($0) }) ?? true {
                (first, second) = (atom, first)
            } else if second.map({ self.atoms.uses(atom) < self.atoms.uses($0) }) ?? true {
                second = atom
            }
        }
        guard let first, let second, first != second else { return nil }
        return (min(first, second), max(first, second))
    }

    /// Puts an expression on the lists that find it, and says so in one word.
    private mutating func store(_ access: Access, _ expression: UInt32) -> UInt32 {
        switch access {
        case .atom(let atom):
            self.byAtom.insert(expression, atom + 1)
            return atom
        case .atoms(let atoms):
            for atom in atoms { self.byAtom.insert(expression, atom + 1) }
            self.several[expression] = atoms
            return 3 << 30
        case .pair(let first, let second):
            let pair = self.pairs.use(Self.pair(first, second).span)
            if pair.isNew {
                self.countPair(first, 1)
                self.countPair(second, 1)
            }
            self.byPair.insert(expression, pair.number + 1)
            return 1 << 30 | pair.number
        case .always:
            self.unfound.insert(expression, 1)
            return 2 << 30
        }
    }

    private static func pair(_ first: UInt32, _ second: UInt32) -> InlineArray<1, UInt64> {
        [UInt64(first) << 32 | UInt64(second)]
    }

    private mutating func removePair(_ pair: UInt32, _ expression: UInt32) {
        self.byPair.remove(expression, pair + 1)
        let key = self.pairs.key(of: pair)[0]
        guard self.pairs.release(pair) else { return }
        for atom in [UInt32(key >> 32), UInt32(truncatingIfNeeded: key)] { self.countPair(atom, -1) }
    }

    private mutating func countPair(_ atom: UInt32, _ change: Int32) {
        while self.pairedAtoms.count <= Int(atom) { self.pairedAtoms.append(0) }
        self.pairedAtoms[Int(atom)] = UInt32(Int32(self.pairedAtoms[Int(atom)]) + change)
    }

    // MARK: Asking

    /// The conditions that attributes fulfil, each once, in an order that the calls so far determine.
    package func matches(_ attributes: Configuration) -> [UInt32] {
        var event = ConditionEvent(attributes, self.atoms)
        var found: [UInt32] = []
        var repeated: [UInt32] = []
        func ask(_ candidates: Span<UInt32>, _ event: inout ConditionEvent) {
            for index in candidates.indices {
                let expression = candidates[index]
                guard event.fulfils(self.expressions, expression, self.atoms) else { continue }
                // On several lists: perhaps found already.
                if self.accesses[Int(expression)] >> 30 == 3 {
                    repeated.append(expression)
                } else {
                    found.append(expression)
                }
            }
        }
        let present = event.present
        for atom in present { self.byAtom.forEachSpan(of: atom + 1) { ask($0, &event) } }
        let paired = present.filter { Int($0) < self.pairedAtoms.count && self.pairedAtoms[Int($0)] > 0 }.sorted()
        for (index, first) in paired.enumerated() {
            for second in paired[(index + 1)...] {
                guard let pair = self.pairs.find(Self.pair(first, second).span) else { continue }
                self.byPair.forEachSpan(of: pair + 1) { ask($0, &event) }
            }
        }
        self.unfound.forEachSpan(of: 1) { ask($0, &event) }
        repeated.sort()
        for (index, expression) in repeated.enumerated() where index == 0 || repeated[index - 1] != expression {
            found.append(expression)
        }
        return found
    }

    // MARK: Invariants

    /// What is wrong with the index; empty if nothing.
    package func checkInvariants() -> [String] {
        var faults = self.byAtom.checkInvariants(rows: self.bound) + self.byPair.checkInvariants(rows: self.bound)
        faults += self.unfound.checkInvariants(rows: self.bound)
        if self.expressions.count == 0 {
            if self.atoms.count != 0 { faults.append("\(self.atoms.count) atoms of no expression") }
            if self.pairs.count != 0 { faults.append("\(self.pairs.count) pairs of no expression") }
            if !self.several.isEmpty { faults.append("lists of atoms of no expression") }
        }
        return faults
    }
}

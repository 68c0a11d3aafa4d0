import Storage
package import WidgetModel

/// Finds the conditions that a push's attributes fulfil, among the `when` of many widget instances: the other direction
/// of ``IntentIndex``, content-based publish and subscribe.
///
/// Equal conditions are one expression, and equal parts of them one atom. An expression is found by its most selective
/// necessary equality, or by the most selective ones of which one is necessary, or by each of them together with
/// another necessary one. An expression without a necessary equality is evaluated for each push. The part that is left
/// to evaluate is stored beside the expression. ``MatchPattern/matches(_:)`` defines when a condition is fulfilled.
package struct SubscriptionIndex: ~Copyable, Sendable {
    /// Above so many words on one atom's list, those of some eight expressions, two atoms together are looked for.
    private static let pairThreshold = 32
    /// Room for so many expressions is made before any is found.
    private static let foundUsually = 32

    /// How an expression is found.
    private enum Access {
        case atom(UInt32)
        case atoms([UInt32])
        /// One atom with each of some others; one of them is necessary.
        case pairs(UInt32, with: [UInt32])
        /// Evaluated for each push.
        case unindexed
    }

    private var atoms = ConditionAtoms()
    /// Programs by expression, see ``ConditionProgram``.
    private var expressions = KeyTable<UInt32>()
    /// Expressions by atom.
    private var byAtom = CandidateLists()
    /// Pairs of atoms, see ``pair(_:_:)``, and expressions by pair.
    private var pairs = KeyTable<UInt64>()
    private var byPair = CandidateLists()
    /// By atom: in how many pairs it is, and with which attributes' names, see ``bit(_:)``.
    private var pairedAtoms = Column<UInt32>()
    private var pairedNames = Column<UInt64>()
    /// Expressions that no equality finds, on one list.
    private var unindexed = CandidateLists()
    /// Conditions that every push evaluates, since no equality must hold for them.
    package private(set) var unindexedCount = 0
    /// By expression: the atoms or pairs that find it, in one word, see ``store(_:_:_:)``.
    private var accesses = Column<UInt32>()
    /// The lists of expressions that several atoms or pairs find.
    private var severalAtoms: [ExpressionNumber: [UInt32]] = [:]
    private var severalPairs: [ExpressionNumber: [UInt32]] = [:]
    /// The words of the condition that is being inserted, the atoms that may find it, and its rest then: memory that each condition leaves
    /// to the next.
    private var program: [UInt32] = []
    private var mostSelective: [UInt32] = []
    private var rest: [UInt32] = []

    package init() {}

    /// Distinct conditions.
    package var count: Int { self.expressions.count }

    /// One more than the highest number of an expression.
    package var bound: Int { self.expressions.bound }

    /// Bytes of memory held, allocators' overhead not counted.
    package var byteCount: Int {
        self.atoms.byteCount + self.expressions.byteCount + self.byAtom.byteCount + self.pairs.byteCount
            + self.byPair.byteCount + self.pairedAtoms.byteCount + self.pairedNames.byteCount + self.unindexed.byteCount
            + self.accesses.byteCount + (self.severalAtoms.count + self.severalPairs.count) * 64
    }

    // MARK: Changing

    /// The number of a condition, new if it has none yet, and one use of it.
    package mutating func insert(_ pattern: MatchPattern) -> ExpressionNumber {
        // Out of the index and back: it is read while other parts of the index change.
        var program: [UInt32] = []
        swap(&program, &self.program)
        defer { swap(&program, &self.program) }
        program.removeAll(keepingCapacity: true)
        self.compile(pattern, &program)
        // Its atoms are sought before it is known whether it is new, as most are: meanwhile memory comes.
        for word in program where ConditionProgram.kind(word) == .atom && word & ConditionAtoms.askedFlag == 0 {
            self.byAtom.prefetch(word)
        }
        let hash = self.expressions.prefetch(program.span)
        let access = self.access(program)
        if case .pairs(let atom, let others) = access {
            for other in others { _ = self.pairs.prefetch(Self.pair(atom, other).span) }
        }
        let used = self.expressions.internKey(program.span, hash)
        let expression = ExpressionNumber(raw: used.number)
        guard used.isNew else {
            ConditionProgram.forEachAtom(program) { self.atoms.release($0) }
            return expression
        }
        self.accesses.extend(to: expression.index, repeating: 0)
        self.accesses[expression.index] = self.store(access, expression, program)
        return expression
    }

    /// Takes back one use of a condition. Precondition: it has one.
    package mutating func release(_ expression: ExpressionNumber) {
        let program = self.expressions.key(of: expression.raw)
        guard self.expressions.release(expression.raw) else { return }
        let stored = self.accesses[expression.index]
        switch stored >> 30 {
        case 0: self.byAtom.remove(expression.raw, stored)
        case 1: self.removePair(stored & 0x3FFF_FFFF, expression.raw)
        case 2:
            self.unindexed.remove(expression.raw, 0)
            self.unindexedCount -= 1
        default:
            let entry = expression.raw | CandidateLists.sharedFlag
            for atom in self.severalAtoms.removeValue(forKey: expression) ?? [] { self.byAtom.remove(entry, atom) }
            for pair in self.severalPairs.removeValue(forKey: expression) ?? [] { self.removePair(pair, entry) }
        }
        ConditionProgram.forEachAtom(program) { self.atoms.release($0) }
    }

    private mutating func compile(_ pattern: MatchPattern, _ program: inout [UInt32]) {
        switch pattern {
        case .all(let parts), .any(let parts):
            let start = program.count
            program.append(0)
            for part in parts { self.compile(part, &program) }
            let length = program.count - start - 1
            program[start] =
                if case .all = pattern { ConditionProgram.all(length) } else { ConditionProgram.any(length) }
        case .field(let field, let atoms):
            // Conditions have no other fields: `MatchPattern.condition` refuses them.
            let name = if case .parameter(let name) = field { name } else { UTF8Text(field.description) }
            if atoms.count != 1 { program.append(ConditionProgram.any(atoms.count)) }
            self.atoms.internAtoms(name, atoms, &program)
        }
    }

    // MARK: Access

    private mutating func access(_ program: [UInt32]) -> Access {
        self.mostSelective.removeAll(keepingCapacity: true)
        guard self.addMostSelective(program, 0) else { return .unindexed }
        if self.mostSelective.count > 1 { self.mostSelective.sortAndUnique() }
        var words = 0
        for atom in self.mostSelective { words += self.byAtom.wordCount(of: atom) }
        // Where two must hold, both together are more selective than either.
        if words > Self.pairThreshold, let other = self.mostSelectiveOther(program) {
            return .pairs(other, with: self.mostSelective)
        }
        return self.mostSelective.count == 1 ? .atom(self.mostSelective[0]) : .atoms(self.mostSelective)
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

    /// The part of an "all of" whose equalities are the most selective, the first of several.
    private func cheapestPart(_ program: [UInt32], _ index: Int) -> (index: Int, cost: Int)? {
        var cheapest: (index: Int, cost: Int)?
        ConditionProgram.forEachPart(program, index) { part in
            guard let cost = self.cost(program, part.lowerBound), cost < cheapest?.cost ?? .max else { return }
            cheapest = (part.lowerBound, cost)
        }
        return cheapest
    }

    /// Adds the equalities that ``cost(_:_:)`` is about to ``mostSelective``; returns false if there are none.
    private mutating func addMostSelective(_ program: [UInt32], _ index: Int) -> Bool {
        let word = program[index]
        switch ConditionProgram.kind(word) {
        case .atom:
            guard word & ConditionAtoms.askedFlag == 0 else { return false }
            self.mostSelective.append(word)
            return true
        case .all:
            guard let part = self.cheapestPart(program, index) else { return false }
            return self.addMostSelective(program, part.index)
        case .any:
            var areAll = true
            ConditionProgram.forEachPart(program, index) { part in
                areAll = areAll && self.addMostSelective(program, part.lowerBound)
            }
            return areAll
        }
    }

    /// The most selective equality that must hold besides those of which one must.
    private func mostSelectiveOther(_ program: [UInt32]) -> UInt32? {
        guard let word = program.first, ConditionProgram.kind(word) == .all else { return nil }
        var found: UInt32?
        ConditionProgram.forEachPart(program, 0) { part in
            let atom = program[part.lowerBound]
            guard ConditionProgram.kind(atom) == .atom, atom & ConditionAtoms.askedFlag == 0 else { return }
            guard !self.mostSelective.contains(atom) else { return }
            if found.map({ self.atoms.uses(atom) < self.atoms.uses($0) }) ?? true { found = atom }
        }
        return found
    }

    /// Puts an expression on the lists that find it, and says so in one word.
    private mutating func store(_ access: Access, _ expression: ExpressionNumber, _ program: [UInt32]) -> UInt32 {
        var rest: [UInt32] = []
        swap(&rest, &self.rest)
        defer { swap(&rest, &self.rest) }
        switch access {
        case .atom(let atom):
            self.add(toAtom: atom, expression.raw, program, &rest)
            return atom
        case .atoms(let atoms):
            for atom in atoms { self.add(toAtom: atom, expression.raw | CandidateLists.sharedFlag, program, &rest) }
            self.severalAtoms[expression] = atoms
            return 3 << 30
        case .pairs(let atom, let others) where others.count == 1:
            return 1 << 30 | self.add(toPair: atom, others[0], expression.raw, program, &rest)
        case .pairs(let atom, let others):
            let entry = expression.raw | CandidateLists.sharedFlag
            self.severalPairs[expression] = others.map { self.add(toPair: atom, $0, entry, program, &rest) }
            return 3 << 30
        case .unindexed:
            ConditionProgram.rest(of: program, without: nil, nil, &rest)
            self.unindexed.insert(expression.raw, rest.span, 0)
            self.unindexedCount += 1
            return 2 << 30
        }
    }

    private mutating func add(toAtom atom: UInt32, _ entry: UInt32, _ program: [UInt32], _ rest: inout [UInt32]) {
        ConditionProgram.rest(of: program, without: atom, nil, &rest)
        self.byAtom.insert(entry, rest.span, atom)
    }

    /// Returns the number of the pair.
    private mutating func add(
        toPair atom: UInt32,
        _ other: UInt32,
        _ entry: UInt32,
        _ program: [UInt32],
        _ rest: inout [UInt32]
    ) -> UInt32 {
        let pair = self.pairs.internKey(Self.pair(atom, other).span)
        if pair.isNew {
            self.addPair(atom, with: other)
            self.addPair(other, with: atom)
        }
        ConditionProgram.rest(of: program, without: atom, other, &rest)
        self.byPair.insert(entry, rest.span, pair.number)
        return pair.number
    }

    /// The lower one first.
    @inline(__always)
    private static func pair(_ first: UInt32, _ second: UInt32) -> InlineArray<1, UInt64> {
        [UInt64(min(first, second)) << 32 | UInt64(max(first, second))]
    }

    private mutating func removePair(_ pair: UInt32, _ entry: UInt32) {
        self.byPair.remove(entry, pair)
        let key = self.pairs.lastWord(of: pair)
        guard self.pairs.release(pair) else { return }
        for atom in [UInt32(key >> 32), UInt32(truncatingIfNeeded: key)] {
            self.pairedAtoms[Int(atom)] -= 1
            if self.pairedAtoms[Int(atom)] == 0 { self.pairedNames[Int(atom)] = 0 }
        }
    }

    private mutating func addPair(_ atom: UInt32, with other: UInt32) {
        self.pairedAtoms.extend(to: Int(atom), repeating: 0)
        self.pairedNames.extend(to: Int(atom), repeating: 0)
        self.pairedAtoms[Int(atom)] += 1
        self.pairedNames[Int(atom)] |= Self.bit(self.atoms.name(of: other))
    }

    /// The bit that stands for an attribute's name, and a few others.
    private static func bit(_ name: UInt32) -> UInt64 { 1 << UInt64(name & 63) }

    // MARK: Asking

    /// The conditions that attributes fulfil, each once, in an order that the calls so far determine.
    package func matches(_ attributes: Configuration) -> [ExpressionNumber] {
        var event = ConditionEvent(attributes, self.atoms)
        var found = Found()
        // Most pushes fulfil a few.
        found.expressions.reserveCapacity(Self.foundUsually)
        let present = event.present
        for index in present.indices {
            self.byAtom.forEachSpan(of: present[index].atom) { self.ask($0, &event, &found) }
        }
        let names = present.reduce(0) { $0 | Self.bit($1.name) }
        for index in present.indices {
            let first = present[index]
            let wanted = self.names(pairedWith: first.atom)
            guard wanted & names != 0 else { continue }
            for place in index + 1..<present.count where wanted & Self.bit(present[place].name) != 0 {
                guard let pair = self.pairs.find(Self.pair(first.atom, present[place].atom)) else { continue }
                self.byPair.forEachSpan(of: pair) { self.ask($0, &event, &found) }
            }
        }
        self.unindexed.forEachSpan(of: 0) { self.ask($0, &event, &found) }
        return found.once()
    }

    @inline(__always)
    private func names(pairedWith atom: UInt32) -> UInt64 {
        Int(atom) < self.pairedNames.count ? self.pairedNames[Int(atom)] : 0
    }

    /// The found expressions.
    private struct Found {
        var expressions: [ExpressionNumber] = []
        /// Those that are on several lists, perhaps more than once.
        var shared: [ExpressionNumber] = []

        @inline(__always)
        mutating func add(_ entry: UInt32) {
            if entry & CandidateLists.sharedFlag == 0 {
                self.expressions.append(ExpressionNumber(raw: entry))
            } else {
                self.shared.append(ExpressionNumber(raw: entry & CandidateLists.expressionMask))
            }
        }

        /// All, each once.
        consuming func once() -> [ExpressionNumber] {
            guard !self.shared.isEmpty else { return self.expressions }
            self.shared.sort()
            for (index, expression) in self.shared.enumerated()
            where index == 0 || self.shared[index - 1] != expression {
                self.expressions.append(expression)
            }
            return self.expressions
        }
    }

    /// Evaluates the rests of the expressions of a chunk.
    private func ask(_ words: Span<UInt32>, _ event: inout ConditionEvent, _ found: inout Found) {
        var index = 0
        while index < words.count {
            let (entry, word) = (words[index], words[index + 1])
            let rest = index + 2..<index + 2 + ConditionProgram.restLength(word)
            index = rest.upperBound
            if word == ConditionProgram.elsewhere {
                guard self.fulfils(ExpressionNumber(raw: entry & CandidateLists.expressionMask), &event) else {
                    continue
                }
            } else {
                guard event.fulfils(words, rest, self.atoms) else { continue }
            }
            found.add(entry)
        }
    }

    /// Whether the whole of an expression is fulfilled.
    private func fulfils(_ expression: ExpressionNumber, _ event: inout ConditionEvent) -> Bool {
        let range = self.expressions.range(of: expression.raw)
        return event.fulfils(self.expressions.store.elements.span.extracting(range), 0..<range.count, self.atoms)
    }

    // MARK: Invariants

    /// The violated invariants of the index; empty if there are none.
    package func checkInvariants() -> [String] {
        var faults = self.byAtom.checkInvariants() + self.byPair.checkInvariants()
        faults += self.unindexed.checkInvariants()
        if self.expressions.count == 0 {
            if self.atoms.count != 0 { faults.append("\(self.atoms.count) atoms of no expression") }
            if self.pairs.count != 0 { faults.append("\(self.pairs.count) pairs of no expression") }
            if !self.severalAtoms.isEmpty || !self.severalPairs.isEmpty { faults.append("lists of no expression") }
            if self.unindexedCount != 0 {
                faults.append("\(self.unindexedCount) expressions of none that nothing finds")
            }
        }
        return faults
    }
}

/// The values that the codes of one field stand for, as far as questions need to know. Code 0 is "absent".
protocol CodeValues: Sendable {
    /// The highest code that a row may have.
    var highestCode: Int { get }

    /// The codes of the values that equal a literal.
    func codes(equalTo literal: MatchLiteral) -> [UInt32]

    /// Whether the value of a code satisfies one of the atoms. Code 0 satisfies only `exists(false)`; a code without a
    /// value, which no row has, nothing.
    func satisfies(_ code: UInt32, _ atoms: [MatchAtom]) -> Bool

    /// Sets the entries of the codes that satisfy one of the atoms to 1. O(values).
    func mark(_ atoms: [MatchAtom], in table: inout [UInt8])
}

/// Fields with a higher code are not evaluated ahead of the rows.
private let eagerValuesMax = 4096
/// More codes than this are not looked up list by list.
private let driverCodesMax = 1024

extension CodeValues {
    /// The condition on codes that a list of atoms is, or nil if no value passes.
    func test(_ atoms: [MatchAtom]) -> CodeTest? {
        if atoms.contains(.exists(true)) {
            // Whatever else is asked for, every present value passes.
            guard atoms.contains(.exists(false)) else { return CodeTest(form: .except([]), acceptsEmpty: true) }
            let ones = [UInt8](repeating: 1, count: CodeTest.tableSize(self.highestCode))
            return CodeTest(form: .table(ones, passing: nil), acceptsEmpty: true)
        }
        if atoms.count == 1, case .anythingBut(let literals) = atoms[0] {
            return CodeTest(form: .except(self.codes(equalTo: literals)))
        }
        var literals: [MatchLiteral] = []
        var acceptsAbsent = false
        for atom in atoms {
            switch atom {
            case .equals(let literal): literals.append(literal)
            case .exists(false): acceptsAbsent = true
            default:
                // What excludes literals alone is not judged on values: nothing is gained by waiting.
                let isJudged = atoms.contains(where: \.isJudged)
                guard !isJudged || self.highestCode <= eagerValuesMax else {
                    return CodeTest(form: .values(atoms, self))
                }
                return Self.test(self.table(atoms))
            }
        }
        let codes = (acceptsAbsent ? [0] : []) + self.codes(equalTo: literals)
        return codes.isEmpty ? nil : CodeTest(form: .codes(codes))
    }

    private static func test(_ form: CodeTest.Form) -> CodeTest? {
        if case .table(_, let passing) = form, passing?.isEmpty ?? false { return nil }
        return CodeTest(form: form)
    }

    /// The codes of the values that equal one of the literals, ascending.
    private func codes(equalTo literals: [MatchLiteral]) -> [UInt32] {
        var codes: [UInt32] = []
        for literal in literals { codes += self.codes(equalTo: literal) }
        guard codes.count > 1 else { return codes }
        codes.sort()
        var distinct: [UInt32] = []
        for code in codes where distinct.last != code { distinct.append(code) }
        return distinct
    }

    /// Evaluates the atoms: those that are judged once for each value, literals by looking them up.
    func table(_ atoms: [MatchAtom]) -> CodeTest.Form {
        var table = [UInt8](repeating: 0, count: CodeTest.tableSize(self.highestCode))
        var passing: [UInt32] = []
        let judged = atoms.filter(\.isJudged)
        if !judged.isEmpty { self.mark(judged, in: &table) }
        for atom in atoms {
            switch atom {
            case .equals(let literal): for code in self.codes(equalTo: literal) { table[Int(code)] = 1 }
            case .anythingBut(let literals):
                var excluded = self.codes(equalTo: literals)[...]
                for code in 1..<self.highestCode + 1 {
                    if excluded.first.map({ Int($0) }) == code { excluded.removeFirst() } else { table[code] = 1 }
                }
            case .exists(false): table[0] = 1
            default: break
            }
        }
        for code in 0..<self.highestCode + 1 where table[code] != 0 { passing.append(UInt32(code)) }
        let isDriver = passing.first != 0 && passing.count <= driverCodesMax
        return .table(table, passing: isDriver ? passing : nil)
    }
}

extension ValueDictionary: CodeValues {
    func mark(_ atoms: [MatchAtom], in table: inout [UInt8]) {
        let prefixes = atoms.compactMap { if case .prefix(let text) = $0 { text } else { nil } }
        guard prefixes.count < atoms.count else { return self.mark(prefixes: prefixes, in: &table) }
        for code in 0..<self.highestCode + 1 where self.satisfies(UInt32(code), atoms) { table[code] = 1 }
    }
}

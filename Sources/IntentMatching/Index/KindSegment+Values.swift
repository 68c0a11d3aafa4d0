import BasicContainers
import Storage
import WidgetModel

/// What the codes of a segment's fields stand for, as far as questions need to know. Code 0 is "absent".
///
/// A host's code is its number plus one; the codes of all other fields are those of the field's dictionary.
extension KindSegment {
    /// Fields with a higher code are not evaluated ahead of the rows.
    private static let eagerValuesMax = 4096
    /// More codes than this are not looked up list by list.
    private static let driverCodesMax = 1024

    // MARK: Values

    /// The codes of a field's values that equal a literal.
    private func codes(
        _ field: Int,
        equalTo literal: MatchLiteral,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> [UInt32] {
        guard field == Self.hostField else { return self.fields[field].dictionary.codes(equalTo: literal) }
        let code = self.hostCode(literal, hosts)
        return code != 0 && self.mayHave(host: code) ? [code] : []
    }

    /// The code of the host whose id a literal is, as far as the highest; 0 if there is none.
    func hostCode(_ literal: MatchLiteral, _ hosts: borrowing some HostNaming & ~Copyable) -> UInt32 {
        guard case .string(let id) = literal, let number = hosts.number(ofHost: id.bytes, of: self.app),
            number.index < self.highestHost
        else { return 0 }
        return number.raw + 1
    }

    /// Whether a row may have a host: those of other kinds have numbers too.
    private func mayHave(host code: UInt32) -> Bool {
        self.table.columns[Self.hostField].mayHave(code)
            || self.classes.members.columns[InstanceClasses.hostColumn].mayHave(code)
    }

    /// Whether the value of a code satisfies one of some atoms. Code 0 satisfies only `exists(false)`; a code without a value,
    /// which no row has, nothing.
    func satisfies(
        _ field: Int,
        _ code: UInt32,
        _ atoms: [MatchAtom],
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> Bool {
        guard field == Self.hostField else { return self.fields[field].dictionary.satisfies(code, atoms) }
        guard code != 0 else { return atoms.contains(.exists(false)) }
        var isSatisfied = false
        hosts.forEachHost(in: HostNumber(raw: code - 1)..<HostNumber(raw: code)) { _, id in
            isSatisfied = Self.satisfies(id, atoms)
        }
        return isSatisfied
    }

    private static func satisfies(_ id: Span<UInt8>, _ atoms: [MatchAtom]) -> Bool {
        for index in atoms.indices where atoms.span[index].matches(text: id) { return true }
        return false
    }

    /// Sets the entries of the codes that satisfy one of some atoms to 1. O(values).
    private func mark(
        _ field: Int,
        _ atoms: [MatchAtom],
        in table: inout [UInt8],
        _ hosts: borrowing some HostNaming & ~Copyable
    ) {
        guard field == Self.hostField else { return self.fields[field].dictionary.mark(atoms, in: &table) }
        if atoms.contains(.exists(false)) { table[0] = 1 }
        hosts.forEachHost(in: HostNumber(0)..<HostNumber(self.highestHost)) { number, id in
            let code = number.raw + 1
            if self.mayHave(host: code), Self.satisfies(id, atoms) { table[Int(code)] = 1 }
        }
    }

    // MARK: Tests

    /// The condition on a field's codes that a list of atoms is, or nil if no value passes.
    func test(_ field: Int, _ atoms: [MatchAtom], _ hosts: borrowing some HostNaming & ~Copyable) -> CodeTest? {
        let highest = self.highestCode(field)
        if atoms.contains(.exists(true)) {
            // Whatever else is asked for, every present value passes.
            guard atoms.contains(.exists(false)) else { return CodeTest(form: .except([]), acceptsEmpty: true) }
            let ones = [UInt8](repeating: 1, count: CodeTest.tableSize(highest))
            return CodeTest(form: .table(ones, passing: nil), acceptsEmpty: true)
        }
        if atoms.count == 1, case .anythingBut(let literals) = atoms[0] {
            return CodeTest(form: .except(self.codes(field, equalTo: literals, hosts)))
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
                guard !isJudged || highest <= Self.eagerValuesMax else { return CodeTest(form: .values(atoms)) }
                let form = self.evaluate(field, atoms, hosts)
                if case .table(_, let passing) = form, passing?.isEmpty ?? false { return nil }
                return CodeTest(form: form)
            }
        }
        let codes = (acceptsAbsent ? [0] : []) + self.codes(field, equalTo: literals, hosts)
        return codes.isEmpty ? nil : CodeTest(form: .codes(codes))
    }

    /// The codes of the values that equal one of some literals, ascending.
    private func codes(
        _ field: Int,
        equalTo literals: [MatchLiteral],
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> [UInt32] {
        var codes: [UInt32] = []
        for literal in literals { codes += self.codes(field, equalTo: literal, hosts) }
        if codes.count > 1 { codes.sortAndUnique() }
        return codes
    }

    /// Evaluates atoms for all codes: those that are judged once for each value, literals by looking them up.
    func evaluate(
        _ field: Int,
        _ atoms: [MatchAtom],
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> CodeTest.Form {
        let highest = self.highestCode(field)
        var table = [UInt8](repeating: 0, count: CodeTest.tableSize(highest))
        var passing: [UInt32] = []
        let judged = atoms.filter(\.isJudged)
        if !judged.isEmpty { self.mark(field, judged, in: &table, hosts) }
        for atom in atoms {
            switch atom {
            case .equals(let literal): for code in self.codes(field, equalTo: literal, hosts) { table[Int(code)] = 1 }
            case .anythingBut(let literals):
                var excluded = self.codes(field, equalTo: literals, hosts)[...]
                for code in 1..<highest + 1 {
                    if excluded.first.map({ Int($0) }) == code { excluded.removeFirst() } else { table[code] = 1 }
                }
            case .exists(false): table[0] = 1
            default: break
            }
        }
        for code in 0..<highest + 1 where table[code] != 0 { passing.append(UInt32(code)) }
        let isDriver = passing.first != 0 && passing.count <= Self.driverCodesMax
        return .table(table, passing: isDriver ? passing : nil)
    }
}

extension RowColumn {
    /// Whether a row may have a code: without lists it is not known.
    fileprivate func mayHave(_ code: UInt32) -> Bool { !self.hasLists || self.lists.count(of: code) > 0 }
}

extension ValueDictionary {
    /// Sets the entries of the codes that satisfy one of some atoms to 1. O(values).
    fileprivate func mark(_ atoms: [MatchAtom], in table: inout [UInt8]) {
        let prefixes = atoms.compactMap { if case .prefix(let text) = $0 { text } else { nil } }
        guard prefixes.count < atoms.count else { return self.mark(prefixes: prefixes, in: &table) }
        for code in 0..<self.highestCode + 1 where self.satisfies(UInt32(code), atoms) { table[code] = 1 }
    }
}

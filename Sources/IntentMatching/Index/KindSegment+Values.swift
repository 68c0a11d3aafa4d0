import BasicContainers
import Storage
import WidgetModel

/// The values behind the codes of a segment's fields, as far as questions need them. Code 0 is "absent".
///
/// A host's code is its number plus one; the codes of all other fields are those of the field's dictionary.
extension KindSegment {
    /// Values of fields with a higher code are not judged before a plan asks for it.
    private static let eagerValuesMax = 4096

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
    private func mayHave(host code: UInt32) -> Bool { self.table.columns[Self.hostField].mayHave(code) }

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

    // MARK: Judging

    /// Goes on with judging the values that a plan waits for, while there is work left.
    func judgeWanted(_ values: inout ValueTables, _ hosts: borrowing some HostNaming & ~Copyable) {
        while values.work > 0, let number = values.nextWanted { self.judge(number, &values, hosts) }
    }

    /// Goes on with judging values, while there is work left.
    private func judge(_ number: Int, _ values: inout ValueTables, _ hosts: borrowing some HostNaming & ~Copyable) {
        let (field, atoms, steps) = (values[number].field, values[number].atoms, values[number].steps)
        let highest = self.highestCode(field)
        while values.work > 0, values[number].form == nil {
            values.judge(number, max(1, values.work / steps), highestCode: highest) { codes, table, work in
                guard field == Self.hostField else {
                    return self.fields[field].dictionary.mark(atoms, steps: steps, codes, in: &table, &work)
                }
                self.mark(hosts: codes, atoms, in: &table, hosts)
                work -= steps * codes.count
                return codes.upperBound
            }
        }
    }

    /// Sets the entries of the hosts' codes whose ids satisfy one of some atoms to 1.
    private func mark(
        hosts codes: Range<Int>,
        _ atoms: [MatchAtom],
        in table: inout [UInt8],
        _ hosts: borrowing some HostNaming & ~Copyable
    ) {
        // Host 0 has code 1.
        let numbers = HostNumber(max(0, codes.lowerBound - 1))..<HostNumber(max(0, codes.upperBound - 1))
        hosts.forEachHost(in: numbers) { number, id in
            let code = number.raw + 1
            if self.mayHave(host: code), Self.satisfies(id, atoms) { table[Int(code)] = 1 }
        }
    }

    // MARK: Conditions

    /// The condition on a field's codes that a list of atoms is.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - atoms: Of which one must hold.
    ///   - isComplete: Whether all rows in question have a value of the field.
    ///   - values: Takes in the conditions that values have to be judged for.
    ///   - hosts: The hosts behind the numbers.
    func check(
        _ field: Int,
        _ atoms: [MatchAtom],
        isComplete: Bool,
        _ values: inout ValueTables,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> RowCheck {
        let acceptsAbsent = !isComplete && atoms.contains(.exists(false))
        if atoms.contains(.exists(true)) {
            // Whatever else is asked for, every present value passes.
            let isPresent = RowCheck.column(field, CodeTest(form: .except([]), acceptsEmpty: true))
            return isComplete || acceptsAbsent ? .always : isPresent
        }
        let literals = atoms.compactMap { if case .equals(let literal) = $0 { literal } else { nil } }
        let listed = (acceptsAbsent ? [0] : []) + self.codes(field, equalTo: literals, hosts)
        let excluded = self.codes(field, noneOf: atoms, hosts)
        let judged = atoms.filter(\.isJudged)
        guard judged.isEmpty else {
            let table = ValueTable(field: field, atoms: judged, listed: listed, excluded: excluded)
            return self.check(table, atoms, &values, hosts)
        }
        guard let excluded else {
            return listed.isEmpty ? .never : .column(field, CodeTest(form: .codes(listed)))
        }
        let rest = excluded.filter { !listed.containsAscending($0) }
        let isOther = RowCheck.column(field, CodeTest(form: .except(rest)))
        return acceptsAbsent ? .any([isOther, .column(field, CodeTest(form: .codes([0])))]) : isOther
    }

    /// A condition that values are judged by: few values at once, as far as there is work left.
    private func check(
        _ table: consuming ValueTable,
        _ atoms: [MatchAtom],
        _ values: inout ValueTables,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> RowCheck {
        let field = table.field
        let number = values.add(table)
        if self.highestCode(field) <= Self.eagerValuesMax { self.judge(number, &values, hosts) }
        guard let form = values[number].form else {
            return .column(field, CodeTest(form: .values(atoms, table: number)))
        }
        if case .table(_, let passing) = form, passing?.isEmpty ?? false { return .never }
        return .column(field, CodeTest(form: form))
    }

    /// The codes of the values that each "anything but" excludes, ascending; nil if there is none.
    private func codes(
        _ field: Int,
        noneOf atoms: [MatchAtom],
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> [UInt32]? {
        var excluded: [UInt32]?
        for atom in atoms {
            guard case .anythingBut(let literals) = atom else { continue }
            let codes = self.codes(field, equalTo: literals, hosts)
            excluded = excluded?.filter { codes.containsAscending($0) } ?? codes
        }
        return excluded
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
}

extension RowColumn {
    /// Whether a row may have a code: without lists it is not known.
    fileprivate func mayHave(_ code: UInt32) -> Bool { !self.hasLists || self.lists.count(of: code) > 0 }
}

import BasicContainers
import Storage
import WidgetModel

/// The parts of a question to a segment: conditions on the codes of its fields, a plan for them, and the walk of the
/// plan.
extension KindSegment {
    /// A pattern as a condition on the codes of the segment's fields.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - isShared: Whether rows that are one of a class are asked, or the others.
    ///   - isNamed: Whether the query names this kind: then a parameter that no row has is absent, not undeclared.
    ///   - values: Takes in the conditions that values have to be judged for.
    ///   - hosts: The hosts behind the numbers.
    func check(
        _ pattern: MatchPattern,
        isShared: Bool,
        isNamed: Bool,
        _ values: inout ValueTables,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> RowCheck {
        switch pattern {
        case .all(let parts):
            .joining(parts.map { self.check($0, isShared: isShared, isNamed: isNamed, &values, hosts) })
        case .any(let parts):
            .alternatives(parts.map { self.check($0, isShared: isShared, isNamed: isNamed, &values, hosts) })
        case .field(let field, let atoms):
            self.check(field, atoms, isShared: isShared, isNamed: isNamed, &values, hosts)
        }
    }

    private func check(
        _ field: MatchField,
        _ atoms: [MatchAtom],
        isShared: Bool,
        isNamed: Bool,
        _ values: inout ValueTables,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> RowCheck {
        let index: Int?
        switch field {
        case .family: index = Self.familyField
        case .host: index = Self.hostField
        case .tags:
            // While no instance has tags, each has the empty array of them.
            guard let tags = self.tagsField else { return atoms.contains(.exists(true)) ? .always : .never }
            index = tags
        case .parameter(let text):
            index = self.fields.index(named: text.bytes.span)
            if let schema = self.schema {
                guard index.map({ self.isDeclared($0) }) ?? (schema[text.description] != nil) else { return .never }
            } else {
                guard isNamed || index != nil else { return .never }
            }
        }
        guard let index else { return atoms.contains(.exists(false)) ? .always : .never }
        return self.check(index, atoms, isComplete: self.isComplete(index, isShared: isShared), &values, hosts)
    }

    /// Whether all rows of a form have a value of a field.
    private func isComplete(_ field: Int, isShared: Bool) -> Bool {
        guard isShared else { return self.table.columns[field].absentCount == 0 }
        return field == Self.hostField || self.classes.table.columns[field].absentCount == 0
    }

    /// The rows that have one of some conditions.
    func check(conditions: [UInt32]) -> RowCheck {
        guard let field = self.conditionField else { return .always }
        var codes: [UInt32] = []
        for condition in conditions {
            codes += self.fields[field].dictionary.codes(equalTo: .number(.int(Int64(condition))))
        }
        codes.sort()
        return codes.isEmpty ? .never : .column(field, CodeTest(form: .codes(codes)))
    }

    /// The condition of a row; nil where the segment's instances have none.
    func condition(of row: UInt32) -> UInt32? {
        guard let field = self.conditionField else { return nil }
        return self.fields[field].dictionary.int(self.code(field, row)).map { UInt32($0) }
    }

    /// Goes on with a plan; see ``RowScan/fill(_:from:limit:_:_:_:)``.
    func fill(
        _ scan: inout RowScan,
        isShared: Bool,
        _ found: inout Column<UInt32>,
        from filled: Int,
        limit: Int,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> Int {
        guard isShared else {
            return scan.fill(&found, from: filled, limit: limit, self.table, self.instances) {
                self.satisfies($0, $1, $2, hosts)
            }
        }
        return scan.fill(&found, from: filled, limit: limit, self.classes.members, self.classes.instances) {
            self.satisfies($0, $1, $2, hosts)
        }
    }

    /// Rows of one form.
    func rowCount(isShared: Bool) -> Int { isShared ? self.classes.rowCount : self.table.rowCount }

    /// Whether the rows of one form are in the order of their instances.
    func isAscending(isShared: Bool) -> Bool {
        isShared ? self.classes.instances.isAscending : self.instances.isAscending
    }

    /// The instance of a row, if there is the row.
    func instance(of row: UInt32) -> UInt32? {
        let place = Int(row & ~Self.sharedFlag)
        guard place < self.rowCount(isShared: row & Self.sharedFlag != 0) else { return nil }
        return row & Self.sharedFlag != 0 ? self.classes.instances[place] : self.instances[place]
    }
}

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
    ///   - isNamed: Whether the query names this kind: then a parameter that no row has is absent, not undeclared.
    ///   - values: Takes in the conditions that values have to be judged for.
    ///   - hosts: The hosts behind the numbers.
    func check(
        _ pattern: MatchPattern,
        isNamed: Bool,
        _ values: inout ValueTables,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> RowCheck {
        switch pattern {
        case .all(let parts):
            .joining(parts.map { self.check($0, isNamed: isNamed, &values, hosts) })
        case .any(let parts):
            .alternatives(parts.map { self.check($0, isNamed: isNamed, &values, hosts) })
        case .field(let field, let atoms):
            self.check(field, atoms, isNamed: isNamed, &values, hosts)
        }
    }

    private func check(
        _ field: MatchField,
        _ atoms: [MatchAtom],
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
        return self.check(index, atoms, isComplete: self.table.columns[index].absentCount == 0, &values, hosts)
    }

    /// The rows that have one of some conditions.
    func check(conditions: [ExpressionNumber]) -> RowCheck {
        guard let field = self.conditionField else { return .always }
        var codes: [UInt32] = []
        for condition in conditions {
            codes += self.fields[field].dictionary.codes(equalTo: .number(.int(Int64(condition.raw))))
        }
        codes.sort()
        return codes.isEmpty ? .never : .column(field, CodeTest(form: .codes(codes)))
    }

    /// The condition of a row; nil where the segment's instances have none.
    func condition(of row: UInt32) -> ExpressionNumber? {
        guard let field = self.conditionField else { return nil }
        return self.fields[field].dictionary.int(self.table.singleCode(field, Int(row))).map {
            ExpressionNumber(Int($0))
        }
    }

    /// Goes on with a plan; see ``RowScan/fill(_:from:limit:_:_:_:)``.
    func fill(
        _ scan: inout RowScan,
        _ found: inout Column<UInt32>,
        from filled: Int,
        limit: Int,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> Int {
        scan.fill(&found, from: filled, limit: limit, self.table, self.instances) {
            self.satisfies($0, $1, $2, hosts)
        }
    }

    /// The instance of a row, if there is the row.
    func instance(of row: UInt32) -> InstanceNumber? {
        row < self.table.rowCount ? self.instances[Int(row)] : nil
    }
}

import WidgetModel

/// What a question asks of a segment: conditions on the codes of its fields, and a plan for them.
extension KindSegment {
    /// A pattern as a condition on the codes of the segment's fields.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - hosts: Whom the numbers of hosts stand for.
    ///   - isShared: Whether rows that are one of a class are asked, or the others.
    ///   - isNamed: Whether the query names this kind: then a parameter that no row has is absent, not undeclared.
    func check(_ pattern: MatchPattern, _ hosts: some HostNaming, isShared: Bool, isNamed: Bool) -> RowCheck {
        switch pattern {
        case .all(let parts): .joining(parts.map { self.check($0, hosts, isShared: isShared, isNamed: isNamed) })
        case .any(let parts): .alternatives(parts.map { self.check($0, hosts, isShared: isShared, isNamed: isNamed) })
        case .field(let field, let atoms): self.check(field, atoms, hosts, isShared: isShared, isNamed: isNamed)
        }
    }

    private func check(
        _ field: MatchField,
        _ atoms: [MatchAtom],
        _ hosts: some HostNaming,
        isShared: Bool,
        isNamed: Bool
    ) -> RowCheck {
        let index: Int?
        switch field {
        case .family: index = Self.familyField
        case .host: index = Self.hostField
        case .tags:
            // While nobody has tags, everybody has the empty array of them.
            guard let tags = self.tagsField else { return atoms.contains(.exists(true)) ? .always : .never }
            index = tags
        case .parameter(let text):
            index = self.fields.span.index(named: text.bytes.span)
            if let schema = self.schema {
                guard index.map({ self.isDeclared($0) }) ?? (schema[text.description] != nil) else { return .never }
            } else {
                guard isNamed || index != nil else { return .never }
            }
        }
        guard let index else { return atoms.contains(.exists(false)) ? .always : .never }
        let values: any CodeValues =
            if index == Self.hostField {
                HostCodes(hosts, highestCode: self.highestHost, in: self.hostColumn(isShared: isShared))
            } else {
                self.fields.span[index].dictionary
            }
        guard let test = values.test(atoms) else { return .never }
        let isComplete =
            if !isShared {
                self.table.columns.span[index].absentCount == 0
            } else {
                index == Self.hostField || self.classes.table.columns.span[index].absentCount == 0
            }
        if isComplete {
            if case .except(let codes) = test.form, codes.isEmpty, test.acceptsEmpty { return .always }
            if case .codes(let codes) = test.form, codes == [0] { return .never }
        }
        return .column(index, test)
    }

    private func hostColumn(isShared: Bool) -> RowColumn {
        isShared ? self.classes.members.columns[InstanceClasses.hostColumn] : self.table.columns[Self.hostField]
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

    /// The condition of a row. Precondition: the segment's instances have one.
    func condition(of row: UInt32) -> UInt32? {
        guard let field = self.conditionField else { return nil }
        return self.fields.span[field].dictionary.int(self.code(field, row)).map { UInt32($0) }
    }

    func plan(_ check: RowCheck, isShared: Bool) -> SegmentPlan {
        let highestCodes = self.fields.indices.map { self.highestCode($0) }
        guard isShared else { return Planner(table: self.table, highestCodes: highestCodes).plan(check) }
        let lifted = self.classes.lifted(check, host: Self.hostField, highestCodes: highestCodes)
        return self.classes.plan(lifted, highestHost: self.highestHost)
    }

    /// The rows of one form, and their instances.
    func rows(isShared: Bool) -> (table: RowTable, instances: InstanceColumn) {
        isShared ? (self.classes.members, self.classes.instances) : (self.table, self.instances)
    }
}

import BasicContainers
import Storage

/// A question that is answered without a plan: equalities of which all must hold.
///
/// Most pushes ask just that. Making a plan costs more than walking a list of a hundred rows, so this question allocates
/// nothing, and goes to the list of the most selective value at once.
struct EqualityQuery {
    /// More conditions, and more codes of one, take a plan.
    static let conditionsMax = 4
    static let codesMax = 4
    /// More candidates that other conditions verify take a plan: perhaps there is something better than to look at them.
    static let candidatesMax = 4096

    struct Condition {
        var column = 0
        /// The codes that pass, the last one repeated; any where there are ``count`` 0.
        var codes = InlineArray<4, UInt32>(repeating: 0)
        var count = 0
        /// Rows on the lists of the codes.
        var rows = 0
    }

    private(set) var conditions = InlineArray<4, Condition>(repeating: Condition())
    private(set) var count = 0
    /// Whether no row can match.
    private(set) var isEmpty = false

    mutating func add(_ condition: Condition) {
        if condition.rows == 0 { self.isEmpty = true }
        // The fewest rows first: a list to walk, and then the filter that leaves least.
        var place = self.count
        while place > 0, self.conditions[place - 1].rows > condition.rows {
            self.conditions[place] = self.conditions[place - 1]
            place -= 1
        }
        self.conditions[place] = condition
        self.count += 1
    }
}

/// The answer to an equality query: all instances that match, ascending, or the one list that they are on.
enum EqualityAnswer: ~Copyable {
    case instances(Column<UInt32>, count: Int)
    case list(SegmentPlan)
}

extension KindSegment {
    /// A pattern as an equality query, or nil if it is none.
    func equalityQuery(_ pattern: MatchPattern, _ hosts: borrowing some HostNaming & ~Copyable) -> EqualityQuery? {
        var query = EqualityQuery()
        switch pattern {
        case .field(let field, let atoms):
            guard self.add(field, atoms, hosts, to: &query) else { return nil }
        case .all(let parts):
            guard parts.count > 0, parts.count <= EqualityQuery.conditionsMax else { return nil }
            for index in parts.indices {
                guard case .field(let field, let atoms) = parts.span[index],
                    self.add(field, atoms, hosts, to: &query)
                else { return nil }
            }
        case .any: return nil
        }
        return query
    }

    /// Adds a condition, unless it takes a plan.
    @inline(__always)
    private func add(
        _ field: MatchField,
        _ atoms: [MatchAtom],
        _ hosts: borrowing some HostNaming & ~Copyable,
        to query: inout EqualityQuery
    ) -> Bool {
        guard let column = self.column(of: field), atoms.count <= EqualityQuery.codesMax else { return false }
        var condition = EqualityQuery.Condition()
        condition.column = column
        for index in atoms.indices {
            guard case .equals(let literal) = atoms.span[index], let code = self.code(column, literal, hosts) else {
                return false
            }
            guard code != 0 else { continue }
            for place in condition.count..<EqualityQuery.codesMax { condition.codes[place] = code }
            condition.count += 1
            condition.rows += self.table.columns[column].lists.count(of: code)
        }
        query.add(condition)
        return true
    }

    /// The code of the value that equals a literal, 0 if none does; nil if there may be two.
    @inline(__always)
    private func code(
        _ column: Int,
        _ literal: MatchLiteral,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> UInt32? {
        guard column == Self.hostField else { return self.fields[column].dictionary.code(equalTo: literal) }
        return self.hostCode(literal, hosts)
    }

    /// The column of a field that the kind is sure to have.
    @inline(__always)
    private func column(of field: MatchField) -> Int? {
        switch field {
        case .family: return Self.familyField
        case .host: return Self.hostField
        case .tags: return self.tagsField
        case .parameter(let name):
            guard let column = self.fields.index(named: name.bytes.span), self.isDeclared(column) else { return nil }
            return column
        }
    }

    /// The answer to an equality query; nil if it takes a plan after all. Precondition: the segment is not being loaded.
    func answer(_ query: EqualityQuery) -> EqualityAnswer? {
        if query.isEmpty { return .instances(Column(), count: 0) }
        let driver = query.conditions[0]
        // Rows of several lists come in no order, and of an array perhaps twice.
        guard driver.count == 1 else { return nil }
        if query.count == 1, driver.rows > PostingLists.shortMax {
            guard self.instances.isAscending else { return nil }
            let pass = SegmentPlan.Pass(column: driver.column, code: driver.codes[0], length: driver.rows)
            return .list(SegmentPlan(path: .postings([pass]), candidates: driver.rows))
        }
        guard driver.rows <= EqualityQuery.candidatesMax else { return nil }
        for index in 1..<max(1, query.count) where self.table.columns[query.conditions[index].column].isArray {
            return nil
        }
        let isLong = driver.rows > PostingLists.shortMax
        var found = Column<UInt32>(undefined: driver.rows + (isLong ? ListPosition.room : 0))
        var count = 0
        var position = ListPosition()
        while let part = self.read(driver, &position, into: &found, at: count) { count += part }
        for index in 1..<max(1, query.count) where count > 0 {
            var kept = Column<UInt32>(undefined: count)
            count = self.keep(query.conditions[index], found.span.extracting(first: count), &kept)
            swap(&found, &kept)
        }
        if !self.instances.isIdentity { self.instances.translate(&found, 0..<count) }
        if !self.instances.isAscending { found.sort(first: count) }
        return .instances(found, count: count)
    }

    /// Reads on in the rows of a condition's only code; returns how many were read, or nil if all have been.
    @inline(__always)
    private func read(
        _ condition: EqualityQuery.Condition,
        _ position: inout ListPosition,
        into rows: inout Column<UInt32>,
        at place: Int
    ) -> Int? {
        let code = condition.codes[0]
        return self.table.columns[condition.column].lists.read(code, &position, into: &rows, at: place) { _ in 0 }
            .map { $0.count }
    }

    /// Keeps the rows with one of a condition's codes.
    @inline(__always)
    private func keep(_ condition: EqualityQuery.Condition, _ rows: Span<UInt32>, _ kept: inout Column<UInt32>) -> Int {
        var target = kept.mutableSpan
        return self.table.columns[condition.column].codes.keep(condition.codes, rows, &target)
    }
}

extension Column<UInt32> {
    /// Sorts the first `count` elements.
    fileprivate mutating func sort(first count: Int) {
        var elements: [UInt32] = []
        elements.reserveCapacity(count)
        for index in 0..<count { elements.append(self[index]) }
        elements.sort()
        self.write(elements.span, at: 0)
    }
}

/// A question that is answered without a plan: equalities of which all must hold, on rows that have columns of their own.
///
/// Most pushes ask just that. The row of a plan costs more than a list of a hundred rows does, so this one allocates
/// nothing, counts hardly any references, and goes to the list of the rarest value at once.
struct PlainQuestion {
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
    private(set) var isVain = false

    mutating func add(_ condition: Condition) {
        if condition.rows == 0 { self.isVain = true }
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

/// What of a segment a plain question needs: asking the segment itself would copy all of it and count all of its references,
/// which takes as long as a hundred rows do.
///
/// The segment has no rows of classes, and is not being loaded.
struct PlainSegment {
    let fields: [ValueField]
    /// By field: whether the schema has it, if there is one.
    let declared: [Bool]
    let tagsField: Int?
    let highestHost: Int
    let table: RowTable
    let instances: InstanceColumn

    /// Hands over what matches a pattern if that is a plain question, ascending, in batches that are full but the last.
    ///
    /// - Returns: False if it takes a plan; then nothing was handed over.
    func answer(
        _ pattern: MatchPattern,
        _ hosts: some HostNaming,
        batchLimit: Int,
        _ body: (Span<UInt32>) -> Void
    ) -> Bool {
        guard let question = self.plainQuestion(pattern, hosts) else { return false }
        return self.answer(question, batchLimit: batchLimit, body)
    }

    /// A pattern as a plain question, or nil if it is none.
    private func plainQuestion(_ pattern: MatchPattern, _ hosts: some HostNaming) -> PlainQuestion? {
        var question = PlainQuestion()
        switch pattern {
        case .field(let field, let atoms):
            guard self.add(field, atoms, hosts, to: &question) else { return nil }
        case .all(let parts):
            guard parts.count > 0, parts.count <= PlainQuestion.conditionsMax else { return nil }
            for index in parts.indices {
                guard case .field(let field, let atoms) = parts.span[index],
                    self.add(field, atoms, hosts, to: &question)
                else { return nil }
            }
        case .any: return nil
        }
        return question
    }

    /// Adds a condition, unless it takes a plan.
    @inline(__always)
    private func add(
        _ field: MatchField,
        _ atoms: [MatchAtom],
        _ hosts: some HostNaming,
        to question: inout PlainQuestion
    ) -> Bool {
        guard let column = self.column(of: field), atoms.count <= PlainQuestion.codesMax else { return false }
        var condition = PlainQuestion.Condition()
        condition.column = column
        for index in atoms.indices {
            guard case .equals(let literal) = atoms.span[index],
                let code = self.code(column, literal, hosts)
            else { return false }
            guard code != 0 else { continue }
            for place in condition.count..<PlainQuestion.codesMax { condition.codes[place] = code }
            condition.count += 1
            condition.rows += self.table.columns.span[column].lists.count(of: code)
        }
        question.add(condition)
        return true
    }

    /// The code of the value that equals a literal, 0 if none does; nil if there may be two.
    @inline(__always)
    private func code(_ column: Int, _ literal: MatchLiteral, _ hosts: some HostNaming) -> UInt32? {
        guard column == KindSegment.hostField else { return self.fields.span[column].dictionary.code(equalTo: literal) }
        return HostCodes.code(literal, hosts, highestCode: self.highestHost)
    }

    /// The column of a field that the kind is sure to have.
    @inline(__always)
    private func column(of field: MatchField) -> Int? {
        switch field {
        case .family: return KindSegment.familyField
        case .host: return KindSegment.hostField
        case .tags: return self.tagsField
        case .parameter(let name):
            guard let column = self.fields.span.index(named: name.bytes.span), self.declared[column] else { return nil }
            return column
        }
    }

    /// Hands over what matches a plain question, ascending, in batches that are full but the last.
    ///
    /// - Returns: False if it takes a plan after all; then nothing was handed over.
    private func answer(_ question: PlainQuestion, batchLimit: Int, _ body: (Span<UInt32>) -> Void) -> Bool {
        if question.isVain { return true }
        let driver = question.conditions[0]
        // Rows of several lists come in no order, and of an array perhaps twice.
        guard driver.count == 1 else { return false }
        let lists = driver.column
        let isAscending = self.instances.isAscending
        if question.count == 1, driver.rows > PostingLists.shortMax {
            guard isAscending else { return false }
            var scan = RowScan(batchLimit: batchLimit, candidates: driver.rows)
            scan.list(self.table, lists, driver.codes[0], self.instances, body)
            scan.finish(body)
            return true
        }
        guard driver.rows <= PlainQuestion.candidatesMax else { return false }
        for index in 1..<max(1, question.count)
        where self.table.columns.span[question.conditions[index].column].isArray {
            return false
        }
        let walk = PlainWalk(
            question: question,
            columns: self.table.columns,
            instances: self.instances,
            batchLimit: batchLimit
        )
        switch self.table.columns.span[lists].lists.place(of: driver.codes[0]) {
        case .nowhere: break
        case .row(let row):
            let rows: InlineArray<1, UInt32> = [row]
            walk.run(rows.span, body)
        case .block(let range):
            let elements = self.table.columns.span[lists].lists.elements
            elements.withSpan { walk.run($0.extracting(range), body) }
        case .containers:
            var rows = Column<UInt32>(undefined: driver.rows)
            var count = 0
            self.table.columns.span[lists].lists.forEachSpan(of: driver.codes[0]) { part in
                rows.write(part, at: count)
                count += part.count
            }
            rows.withSpan { walk.run($0, body) }
        }
        return true
    }
}

/// The walk over the rows of a plain question's first list.
private struct PlainWalk {
    let question: PlainQuestion
    let columns: [RowColumn]
    let instances: InstanceColumn
    let batchLimit: Int

    @inline(__always)
    func run(_ rows: Span<UInt32>, _ body: (Span<UInt32>) -> Void) {
        if self.question.count == 1, self.instances.isIdentity { return self.handOver(rows, body) }
        var found = Column<UInt32>(undefined: rows.count)
        var count = rows.count
        if self.question.count == 1 {
            found.write(rows, at: 0)
        } else {
            count = found.withMutableSpan { self.keep(self.question.conditions[1], rows, &$0) }
            for index in 2..<max(2, self.question.count) {
                var kept = Column<UInt32>(undefined: count)
                count = kept.withMutableSpan { kept in
                    found.withSpan { self.keep(self.question.conditions[index], $0.extracting(first: count), &kept) }
                }
                found = kept
            }
        }
        if !self.instances.isIdentity { found.withMutableSpan { self.instances.translate(&$0, 0..<count) } }
        if !self.instances.isAscending { found.sort(first: count) }
        found.withSpan { self.handOver($0.extracting(first: count), body) }
    }

    /// Keeps the rows with one of a condition's codes.
    @inline(__always)
    private func keep(
        _ condition: PlainQuestion.Condition,
        _ rows: Span<UInt32>,
        _ kept: inout MutableSpan<UInt32>
    ) -> Int {
        self.columns.span[condition.column].codes.keep(condition.codes, rows, &kept)
    }

    @inline(__always)
    private func handOver(_ instances: Span<UInt32>, _ body: (Span<UInt32>) -> Void) {
        var start = 0
        while start < instances.count {
            let end = min(start + self.batchLimit, instances.count)
            body(instances.extracting(start..<end))
            start = end
        }
    }
}

extension Column<UInt32> {
    /// Sorts the first `count` elements.
    fileprivate mutating func sort(first count: Int) {
        var elements: [UInt32] = []
        elements.reserveCapacity(count)
        for index in 0..<count { elements.append(self[index]) }
        elements.sort()
        for index in 0..<count { self[index] = elements[index] }
    }
}

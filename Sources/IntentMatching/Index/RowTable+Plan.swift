import BasicContainers
import Storage

/// The costs of paths, in picoseconds, measured once and good to a factor of two; only their ratios matter.
private enum Cost {
    /// A candidate from a list, and each filter that it goes through.
    static let candidate = 700
    static let filter = 1300
    /// Starting with a list.
    static let list = 100_000
    /// A row that a list's container marks in a bitmap.
    static let mark = 900
    /// Combining bitmaps and making rows of them, for each row.
    static let word = 40
    /// Bytes of tables in one plan. A test that finds no room is compared code by code.
    static let tableBytesMax = 64 << 20
    /// Elements of an array, about.
    static let elements = 8
}

/// Chooses a path by its cost.
extension RowTable {
    /// How the rows are found that pass a check.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - highestCodes: The highest code of each column.
    ///   - values: The judgements of values so far.
    /// - Returns: Nil if values have to be judged first, which are noted in `values`; then it is to be called again.
    func plan(_ check: RowCheck, _ highestCodes: [Int], _ values: inout ValueTables) -> SegmentPlan? {
        switch check {
        case .never: return SegmentPlan(path: .nothing, candidates: 0)
        case .always: return SegmentPlan(path: .everything, candidates: self.rowCount)
        default: break
        }
        guard self.rowCount > 0 else { return SegmentPlan(path: .nothing, candidates: 0) }
        // Values that are only known one by one give no list yet. Once all of them were looked at, they may.
        var room = Cost.tableBytesMax
        let rows = self.walk(check)?.rows ?? self.rowCount
        let check = self.prepared(check, for: .rows(rows), tabled: .max, &room, highestCodes, &values)
        guard !values.isWanting else { return nil }
        if case .never = check { return SegmentPlan(path: .nothing, candidates: 0) }
        if let walk = self.walk(check), walk.price <= self.densePrice(check) {
            let filtered = self.prepared(check, for: .rows(walk.rows), tabled: 2, &room, highestCodes, &values)
            guard !values.isWanting else { return nil }
            let passes = self.passes(filtered)
            return SegmentPlan(path: .postings(passes), candidates: passes.reduce(0) { $0 + $1.length })
        }
        let whole = self.prepared(check, for: .bits, tabled: 5, &room, highestCodes, &values)
        guard !values.isWanting else { return nil }
        return SegmentPlan(path: .dense(self.program(whole)), candidates: self.rowCount)
    }

    // MARK: Lists

    /// The cost of walking lists that hold all matches, and how many rows are on them; nil if there are none.
    private func walk(_ check: RowCheck, filters: Int = 0) -> (price: Int, rows: Int)? {
        switch check {
        case .never: return (0, 0)
        case .always: return nil
        case .column(let index, let test):
            guard self.columns[index].hasLists, let codes = test.drivers else { return nil }
            var rows = 0
            for code in codes { rows += self.columns[index].lists.count(of: code) }
            return (codes.count * Cost.list + rows * (Cost.candidate + filters * Cost.filter), rows)
        case .all(let parts):
            return self.cheapest(parts, filters: filters)?.walk
        case .any(let parts):
            var sum = (price: 0, rows: 0)
            for part in parts {
                guard let walk = self.walk(part, filters: filters) else { return nil }
                sum = (sum.price + walk.price, sum.rows + walk.rows)
            }
            return sum
        }
    }

    private func cheapest(_ parts: [RowCheck], filters: Int) -> (index: Int, walk: (price: Int, rows: Int))? {
        var best: (index: Int, walk: (price: Int, rows: Int))?
        for (index, part) in parts.enumerated() {
            guard let walk = self.walk(part, filters: filters + parts.count - 1) else { continue }
            if best.map({ walk.price < $0.walk.price }) ?? true { best = (index, walk) }
        }
        return best
    }

    /// The walks that find all matches of a check. Precondition: ``walk(_:filters:)`` is not nil.
    private func passes(_ check: RowCheck) -> [SegmentPlan.Pass] {
        switch check {
        case .never, .always: return []
        case .column(let index, let test):
            return (test.drivers ?? []).compactMap { code in
                let length = self.columns[index].lists.count(of: code)
                return length > 0 ? SegmentPlan.Pass(column: index, code: code, length: length) : nil
            }
        case .all(let parts):
            guard let best = self.cheapest(parts, filters: 0) else { return [] }
            var others = parts
            others.remove(at: best.index)
            let filters = self.ranked(others)
            return self.passes(parts[best.index]).map { pass in
                var pass = pass
                pass.filters = filters + pass.filters
                return pass
            }
        case .any(let parts): return parts.flatMap { self.passes($0) }
        }
    }

    /// The use that a check is made ready for.
    private enum Use {
        /// So many rows that are looked at one by one.
        case rows(Int)
        /// A bit for each row: no value is judged meanwhile.
        case bits
    }

    /// The check, with tables of all codes wherever so many rows pay for them.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - use: The use of the check.
    ///   - tabled: So many codes are more work to compare with than one look into a table is.
    ///   - room: Bytes that tables may still take, except for checks that cost too much without a table.
    ///   - highestCodes: The highest code of each column.
    ///   - values: The conditions that values were judged by so far. A missing one is noted there, and the check is
    ///     left as it is.
    private func prepared(
        _ check: RowCheck,
        for use: Use,
        tabled: Int,
        _ room: inout Int,
        _ highestCodes: [Int],
        _ values: inout ValueTables
    ) -> RowCheck {
        switch check {
        case .never, .always: return check
        case .all(let parts):
            return .joining(parts.map { self.prepared($0, for: use, tabled: tabled, &room, highestCodes, &values) })
        case .any(let parts):
            return .alternatives(
                parts.map { self.prepared($0, for: use, tabled: tabled, &room, highestCodes, &values) }
            )
        case .column(let index, let test):
            let highest = highestCodes[index]
            let isArray = self.columns[index].isArray
            let (rows, mustTable) = if case .rows(let rows) = use { (rows, false) } else { (self.rowCount, true) }
            // An array has many codes to compare with each.
            let tabled = isArray && tabled != .max ? 1 : tabled
            switch test.form {
            case .values(_, let table) where mustTable || (isArray ? rows * Cost.elements : rows) > highest / 8:
                guard let form = values.form(of: table) else { return check }
                room -= CodeTest.tableSize(highest)
                if case .table(_, let passing) = form, passing?.isEmpty ?? false { return .never }
                return .column(index, CodeTest(form: form))
            case .codes(let codes) where codes.count >= tabled && rows > highest / 16 && room > highest,
                .except(let codes) where codes.count >= tabled - 1 && rows > highest / 16 && room > highest:
                room -= CodeTest.tableSize(highest)
                return .column(index, test.tabled(highestCode: highest))
            default: return check
            }
        }
    }

    /// The checks in order, those first that are cheap and leave little.
    private func ranked(_ checks: [RowCheck]) -> [RowCheck] {
        // Indices break ties, since `sort` need not be stable.
        checks.indices.map { (self.rank(checks[$0]), $0) }.sorted { $0 < $1 }.map { checks[$0.1] }
    }

    private func rank(_ check: RowCheck) -> Int {
        guard case .column(let index, let test) = check else { return 5 }
        if self.columns[index].isArray { return 4 }
        switch test.form {
        case .codes: return 0
        case .table: return 1
        case .except: return 2
        case .values: return 3
        }
    }

    // MARK: All rows

    /// The cost of a bit for each row.
    private func densePrice(_ check: RowCheck) -> Int {
        switch check {
        case .never, .always: return 0
        case .all(let parts), .any(let parts):
            return parts.reduce(0) { $0 + self.densePrice($1) + self.rowCount * Cost.word / 2 }
        case .column(let index, let test):
            let scan = self.scanPrice(index, test)
            let marks = self.markPrice(index, test)
            return self.rowCount * Cost.word + (marks.map { min($0, scan) } ?? scan)
        }
    }

    /// The check as steps, of several parts those first that are cheap.
    func program(_ check: RowCheck) -> DenseProgram {
        var program = DenseProgram()
        self.add(check, to: &program.steps)
        return program
    }

    private func add(_ check: RowCheck, to steps: inout [DenseProgram.Step]) {
        switch check {
        case .never: steps.append(.marks(column: 0, codes: [], isRest: false))
        case .always: steps.append(.marks(column: 0, codes: [], isRest: true))
        case .any(let parts):
            self.add(parts[0], to: &steps)
            for part in parts.dropFirst() {
                self.add(part, to: &steps)
                steps.append(.or)
            }
        case .all(let parts):
            let ranked = parts.indices.map { (self.densePrice(parts[$0]), $0) }.sorted { $0 < $1 }
            self.add(parts[ranked[0].1], to: &steps)
            var skips: [Int] = []
            for (_, part) in ranked.dropFirst() {
                skips.append(steps.count)
                steps.append(.skipIfEmpty(to: 0))
                self.add(parts[part], to: &steps)
                steps.append(.and)
            }
            for place in skips { steps[place] = .skipIfEmpty(to: steps.count) }
        case .column(let index, let test):
            let marks = self.markPrice(index, test)
            if let marks, marks < self.scanPrice(index, test), let listed = self.listed(index, test) {
                steps.append(.marks(column: index, codes: listed.codes, isRest: listed.isRest))
            } else {
                steps.append(.scan(column: index, test))
            }
        }
    }

    /// The codes on whose lists all rows are that pass, or all that do not; nil if lists do not tell.
    private func listed(_ column: Int, _ test: CodeTest) -> (codes: [UInt32], isRest: Bool)? {
        guard self.columns[column].hasLists else { return nil }
        if let codes = test.drivers { return (codes, false) }
        // A row on none of the lists may have no value, or another element that passes.
        guard case .except(let codes) = test.form, !self.columns[column].isArray, self.columns[column].absentCount == 0
        else { return nil }
        return (codes, true)
    }

    /// Picoseconds to look at every row's code.
    private func scanPrice(_ index: Int, _ test: CodeTest) -> Int {
        let rows = self.rowCount
        if self.columns[index].isArray { return rows * (4000 + self.valuePrice(test)) }
        let width = self.columns[index].codes.width.rawValue
        switch test.form {
        case .codes(let codes) where codes.count <= 4: return rows * 40 * width * codes.count
        case .except(let codes) where codes.count <= 3: return rows * 40 * width * (codes.count + 1)
        case .table: return rows * (width == 1 ? 60 : 700 * width / 2)
        case .codes, .except, .values: return rows * (1500 + self.valuePrice(test))
        }
    }

    private func valuePrice(_ test: CodeTest) -> Int {
        if case .values = test.form { 50_000 } else { 1000 }
    }

    /// Picoseconds to mark the rows of a test's lists, or of those it excepts; nil if lists do not tell.
    private func markPrice(_ index: Int, _ test: CodeTest) -> Int? {
        guard let codes = self.listed(index, test)?.codes else { return nil }
        let rows = self.rowCount
        var price = codes.count * self.blockCount * Cost.list / 10
        for code in codes {
            let count = self.columns[index].lists.count(of: code)
            // Where a list is dense its containers are bitmaps.
            price += min(count * Cost.mark, rows * Cost.word)
        }
        return price
    }
}

/// How the rows of one table are found.
struct SegmentPlan: Sendable {
    /// One walk over a list of candidate rows. A row may be on several.
    struct Pass: Sendable {
        let column: Int
        let code: UInt32
        /// The number of candidates.
        let length: Int
        /// What a candidate must pass.
        var filters: [RowCheck] = []
    }

    enum Path: Sendable {
        case nothing
        case everything
        /// Lists of rows by code, their rows verified on columns.
        case postings([Pass])
        /// A bit for each row, 65,536 rows at a time, from columns and lists.
        case dense(DenseCheck)
    }

    var path: Path
    /// Rows that are looked at.
    var candidates: Int

    /// Whether rows are found: once each, and ascending.
    var findsRows: Bool {
        if case .nothing = self.path { false } else { true }
    }
}

/// Chooses a path by what it would cost. Costs are in picoseconds, measured once and good to a factor of two; only their
/// ratios matter.
struct Planner {
    /// A candidate from a list, and each filter that it goes through.
    private static let candidate = 700
    private static let filter = 1300
    /// Starting with a list.
    private static let list = 100_000
    /// A row that a list's container marks in a bitmap.
    private static let mark = 900
    /// Combining bitmaps and making rows of them, for each row.
    private static let word = 40

    /// Bytes of tables in one plan. What finds no room is compared code by code.
    private static let tableBytesMax = 64 << 20
    /// Elements of an array, about.
    private static let elements = 8

    let table: RowTable
    let highestCodes: [Int]

    func plan(_ check: RowCheck) -> SegmentPlan {
        switch check {
        case .never: return SegmentPlan(path: .nothing, candidates: 0)
        case .always: return SegmentPlan(path: .everything, candidates: self.table.rowCount)
        default: break
        }
        guard self.table.rowCount > 0 else { return SegmentPlan(path: .nothing, candidates: 0) }
        // Values that are only known one by one give no list yet. Once all of them were looked at, they may.
        var room = Self.tableBytesMax
        let check = self.prepared(check, self.walk(check)?.rows ?? self.table.rowCount, tabled: .max, &room)
        if case .never = check { return SegmentPlan(path: .nothing, candidates: 0) }
        if let walk = self.walk(check), walk.price <= self.densePrice(check) {
            let passes = self.passes(self.prepared(check, walk.rows, tabled: 2, &room))
            return SegmentPlan(path: .postings(passes), candidates: passes.reduce(0) { $0 + $1.length })
        }
        let whole = self.prepared(check, self.table.rowCount, tabled: 5, &room)
        return SegmentPlan(path: .dense(self.dense(whole)), candidates: self.table.rowCount)
    }

    // MARK: Lists

    /// What walking lists costs that hold all matches, and how many rows are on them; nil if there are none.
    private func walk(_ check: RowCheck, filters: Int = 0) -> (price: Int, rows: Int)? {
        switch check {
        case .never: return (0, 0)
        case .always: return nil
        case .column(let index, let test):
            guard self.table.columns[index].hasLists, let codes = test.drivers else { return nil }
            var rows = 0
            for code in codes { rows += self.table.columns[index].lists.count(of: code) }
            return (codes.count * Self.list + rows * (Self.candidate + filters * Self.filter), rows)
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
                let length = self.table.columns[index].lists.count(of: code)
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

    /// The check with tables of all codes wherever so many rows pay for them.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - candidates: How many rows there are to look at.
    ///   - tabled: So many codes are more work to compare with than one look into a table is.
    ///   - room: Bytes that tables may still take, but for what costs too much without.
    private func prepared(_ check: RowCheck, _ candidates: Int, tabled: Int, _ room: inout Int) -> RowCheck {
        switch check {
        case .never, .always: return check
        case .all(let parts): return .joining(parts.map { self.prepared($0, candidates, tabled: tabled, &room) })
        case .any(let parts): return .alternatives(parts.map { self.prepared($0, candidates, tabled: tabled, &room) })
        case .column(let index, let test):
            let highest = self.highestCodes[index]
            let isArray = self.table.columns[index].isArray
            let looks = isArray ? candidates * Self.elements : candidates
            // An array has many codes to compare with each.
            let tabled = isArray && tabled != .max ? 1 : tabled
            switch test.form {
            case .values where looks > highest / 8:
                room -= CodeTest.tableSize(highest)
                let table = test.tabled(highestCode: highest)
                if case .table(_, let passing) = table.form, passing?.isEmpty ?? false { return .never }
                return .column(index, table)
            case .codes(let codes) where codes.count >= tabled && candidates > highest / 16 && room > highest,
                .except(let codes) where codes.count >= tabled - 1 && candidates > highest / 16 && room > highest:
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
        if self.table.columns[index].isArray { return 4 }
        switch test.form {
        case .codes: return 0
        case .table: return 1
        case .except: return 2
        case .values: return 3
        }
    }

    // MARK: All rows

    /// What a bit for each row costs.
    private func densePrice(_ check: RowCheck) -> Int {
        switch check {
        case .never, .always: return 0
        case .all(let parts), .any(let parts):
            return parts.reduce(0) { $0 + self.densePrice($1) + self.table.rowCount * Self.word / 2 }
        case .column(let index, let test):
            let scan = self.scanPrice(index, test)
            let marks = self.markPrice(index, test)
            return self.table.rowCount * Self.word + (marks.map { min($0, scan) } ?? scan)
        }
    }

    private func dense(_ check: RowCheck) -> DenseCheck {
        switch check {
        case .never: return .marks(column: 0, codes: [], isRest: false)
        case .always: return .marks(column: 0, codes: [], isRest: true)
        case .any(let parts): return .any(parts.map { self.dense($0) })
        case .all(let parts):
            let ranked = parts.indices.map { (self.densePrice(parts[$0]), $0) }.sorted { $0 < $1 }
            return .all(ranked.map { self.dense(parts[$0.1]) })
        case .column(let index, let test):
            let marks = self.markPrice(index, test)
            guard let marks, marks < self.scanPrice(index, test),
                let listed = DenseCheck.listed(test, self.table, index)
            else { return .scan(column: index, test) }
            return .marks(column: index, codes: listed.codes, isRest: listed.isRest)
        }
    }

    /// Picoseconds to look at every row's code.
    private func scanPrice(_ index: Int, _ test: CodeTest) -> Int {
        let rows = self.table.rowCount
        if self.table.columns[index].isArray { return rows * (4000 + self.valuePrice(test)) }
        let width = self.table.columns[index].codes.width.rawValue
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
        guard let codes = DenseCheck.listed(test, self.table, index)?.codes else { return nil }
        let rows = self.table.rowCount
        var price = codes.count * self.table.blockCount * Self.list / 10
        for code in codes {
            let count = self.table.columns[index].lists.count(of: code)
            // Where a list is dense its containers are bitmaps.
            price += min(count * Self.mark, rows * Self.word)
        }
        return price
    }
}

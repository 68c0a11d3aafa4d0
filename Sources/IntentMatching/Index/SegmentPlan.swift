/// How the rows of one segment are found: passes over lists of rows, no row in two of them.
struct SegmentPlan: Sendable {
    /// One walk over a list of candidate rows.
    struct Pass: Sendable {
        enum Source: Sendable {
            /// All rows.
            case dense
            /// The rows with a code.
            case list(column: Int, code: UInt32)
        }

        var source: Source
        /// The number of candidates.
        var length: Int
        var filters: [Filter] = []
    }

    /// What a candidate must pass.
    enum Filter: Sendable {
        case keep(RowCheck)
        case drop(RowCheck)
        /// Of the codes, the row's lowest is this one: an array with several of them is found by several lists.
        case first(column: Int, codes: [UInt32], code: UInt32)
    }

    var passes: [Pass]

    /// The number of rows that are looked at.
    var candidates: Int { self.passes.reduce(0) { $0 + $1.length } }
}

extension KindSegment {
    /// Plans a query: the shortest list that all matches are on, or all rows where none is short.
    func plan(_ check: RowCheck) -> SegmentPlan {
        switch self.prepared(check, self.cost(check) ?? self.rowCount) {
        case .never: return SegmentPlan(passes: [])
        case .always: return SegmentPlan(passes: [SegmentPlan.Pass(source: .dense, length: self.rowCount)])
        case let check:
            // A walk over all rows reads columns in order and costs half as much a row.
            guard let cost = self.cost(check), cost <= self.rowCount / 2 else { return self.densePlan(check) }
            return SegmentPlan(passes: self.passes(check))
        }
    }

    private func densePlan(_ check: RowCheck) -> SegmentPlan {
        var pass = SegmentPlan.Pass(source: .dense, length: self.rowCount)
        if case .all(let parts) = check {
            pass.filters = self.ordered(parts)
        } else {
            pass.filters = [.keep(check)]
        }
        return SegmentPlan(passes: [pass])
    }

    /// The number of candidates on the lists that `passes` would walk, nil if some match is on no list.
    private func cost(_ check: RowCheck) -> Int? {
        switch check {
        case .never: return 0
        case .always: return nil
        case .column(let index, let test): return test.drivers.map { self.columns[index].listLength($0) }
        case .all(let parts):
            var least: Int?
            for part in parts {
                guard let cost = self.cost(part) else { continue }
                least = least.map { min($0, cost) } ?? cost
            }
            return least
        case .any(let parts):
            var sum = 0
            for part in parts {
                guard let cost = self.cost(part) else { return nil }
                sum += cost
            }
            return sum
        }
    }

    /// The walks that find each match of a check with a cost just once.
    private func passes(_ check: RowCheck) -> [SegmentPlan.Pass] {
        switch check {
        case .never, .always: return []
        case .column(let index, let test):
            let codes = test.drivers ?? []
            let column = self.columns[index]
            return codes.map { code in
                var pass = SegmentPlan.Pass(
                    source: .list(column: index, code: code),
                    length: column.lists.count(of: code)
                )
                // A row with the lowest code has no lower one of them.
                if column.isArray, code != codes[0] {
                    pass.filters = [.first(column: index, codes: codes, code: code)]
                }
                return pass
            }
        case .all(let parts):
            var best = 0
            var least = Int.max
            for (index, part) in parts.enumerated() {
                if let cost = self.cost(part), cost < least { (best, least) = (index, cost) }
            }
            var others = parts
            others.remove(at: best)
            let filters = self.ordered(others)
            return self.passes(parts[best]).map { pass in
                var pass = pass
                pass.filters = filters + pass.filters
                return pass
            }
        case .any(let parts):
            var passes: [SegmentPlan.Pass] = []
            for (index, part) in parts.enumerated() {
                for var pass in self.passes(part) {
                    if index > 0 { pass.filters.append(.drop(.any(Array(parts[..<index])))) }
                    passes.append(pass)
                }
            }
            return passes
        }
    }

    /// The checks as filters, those first that are cheap and leave little.
    private func ordered(_ checks: [RowCheck]) -> [SegmentPlan.Filter] {
        // Indices break ties, since `sort` need not be stable.
        let ranked = checks.indices.map { (self.rank(checks[$0]), $0) }.sorted { $0 < $1 }
        return ranked.map { .keep(checks[$0.1]) }
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
}

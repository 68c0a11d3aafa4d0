// The filters of a scan. Each copies those of some hundred ascending rows that pass, in their order, so that filters
// follow one another and what one drops can be told by comparing its input with its output.

extension KindSegment {
    /// The check with tables of all values wherever so many rows pay for them.
    func prepared(_ check: RowCheck, _ candidates: Int) -> RowCheck {
        switch check {
        case .never, .always: return check
        case .all(let parts): return .all(parts.map { self.prepared($0, candidates) })
        case .any(let parts): return .any(parts.map { self.prepared($0, candidates) })
        case .column(let index, let test):
            let column = self.columns[index]
            let isTableWorthwhile = candidates > column.dictionary.count / 16
            switch test.form {
            case .values(let atoms) where candidates > column.dictionary.count / 2:
                guard var table = column.table(atoms) else { return .never }
                table.acceptsEmpty = test.acceptsEmpty
                return .column(index, table)
            case .codes(let codes) where codes.count > 1 && isTableWorthwhile:
                return .column(index, test.tabled(codes, passes: 1, values: column.dictionary.count))
            case .except(let codes) where !codes.isEmpty && isTableWorthwhile:
                return .column(index, test.tabled([0] + codes, passes: 0, values: column.dictionary.count))
            default: return check
            }
        }
    }

    /// Copies the rows that pass to the front of `rows` and returns how many they are.
    func filter(_ filter: SegmentPlan.Filter, _ source: Span<UInt32>, into rows: inout [UInt32]) -> Int {
        switch filter {
        case .keep(let check): return self.keep(check, source, &rows)
        case .drop(let check):
            var marks = [UInt8](repeating: 1, count: source.count)
            let kept = self.keep(check, source, &rows)
            RowKernel.mark(&marks, where: rows.span.extracting(first: kept), isIn: source, as: 0)
            return RowKernel.keep(source, marked: marks.span, &rows)
        case .first(let index, let codes, let code):
            let column = self.columns[index]
            return RowKernel.keep(source, &rows) { row in
                for element in column.elements(of: row) {
                    let own = column.codes[element]
                    if own >= code { return own == code }
                    if codes.containsAscending(own) { return false }
                }
                return false
            }
        }
    }

    private func keep(_ check: RowCheck, _ source: Span<UInt32>, _ rows: inout [UInt32]) -> Int {
        switch check {
        case .never: return 0
        case .always: return RowKernel.keep(source, &rows) { _ in true }
        case .all(let parts):
            var count = self.keep(parts[0], source, &rows)
            var spare = [UInt32](repeating: 0, count: count)
            for part in parts.dropFirst() where count > 0 {
                count = self.keep(part, rows.span.extracting(first: count), &spare)
                for index in 0..<count { rows[index] = spare[index] }
            }
            return count
        case .any(let parts):
            var marks = [UInt8](repeating: 0, count: source.count)
            for part in parts {
                let kept = self.keep(part, source, &rows)
                RowKernel.mark(&marks, where: rows.span.extracting(first: kept), isIn: source, as: 1)
            }
            return RowKernel.keep(source, marked: marks.span, &rows)
        case .column(let index, let test):
            guard !self.columns[index].isArray else {
                let column = self.columns[index]
                return RowKernel.keep(source, &rows) { column.passes(row: $0, test) }
            }
            switch self.columns[index].codes.width {
            case .one:
                let codes = self.columns[index].codes.narrow
                return RowKernel.keep(test, source, codes.span, self, index, &rows)
            case .two:
                let codes = self.columns[index].codes.medium
                return RowKernel.keep(test, source, codes.span, self, index, &rows)
            case .four:
                let codes = self.columns[index].codes.wide
                return RowKernel.keep(test, source, codes.span, self, index, &rows)
            }
        }
    }
}

extension CodeTest {
    /// The same test as a look into a table: one load for each row, however many codes there are.
    func tabled(_ codes: [UInt32], passes: UInt8, values: Int) -> CodeTest {
        var table = [UInt8](repeating: 1 - passes, count: values + 1)
        for code in codes { table[Int(code)] = passes }
        return CodeTest(form: .table(table, passing: self.drivers), acceptsEmpty: self.acceptsEmpty)
    }
}

extension ValueColumn {
    /// Whether the row's value, or one of its elements, passes.
    func passes(row: Int, _ test: CodeTest) -> Bool {
        let elements = self.elements(of: row)
        if elements.isEmpty { return test.acceptsEmpty }
        for element in elements where self.passes(self.codes[element], test.form) { return true }
        return false
    }

    func passes(_ code: UInt32, _ form: CodeTest.Form) -> Bool {
        switch form {
        case .codes(let codes): codes.containsAscending(code)
        case .except(let codes): code != 0 && !codes.containsAscending(code)
        case .table(let table, _): table[Int(code)] != 0
        case .values(let atoms): self.dictionary.satisfies(code, atoms)
        }
    }
}

extension [UInt32] {
    /// Whether an ascending array contains a number. O(log n).
    func containsAscending(_ number: UInt32) -> Bool {
        if self.count <= 4 { return self.contains(number) }
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < self.count && self[low] == number
    }
}

/// The walk of one query over rows: candidates through filters to batches of instances.
///
/// Rows go through a filter some hundred at a time, from one buffer to the other, without a branch that depends on the
/// data: a wrong guess of the processor costs more than ten comparisons.
struct RowScan {
    private static let chunk = 1024

    /// The instances of the current batch, as far as ``filled``.
    private var batch: [UInt32]
    private var filled = 0
    private var rows: [UInt32]
    private var spare: [UInt32]

    /// - Parameters:
    ///   - batchLimit: The most instances of one batch; at least 1.
    ///   - candidates: How many rows there are to look at in all.
    init(batchLimit: Int, candidates: Int) {
        let chunk = max(1, min(Self.chunk, candidates))
        self.batch = [UInt32](repeating: 0, count: max(1, min(batchLimit, candidates)))
        self.rows = [UInt32](repeating: 0, count: chunk)
        self.spare = self.rows
    }

    /// Hands over what is left.
    mutating func finish(_ body: (Span<UInt32>) -> Void) {
        guard self.filled > 0 else { return }
        body(self.batch.span.extracting(first: self.filled))
        self.filled = 0
    }

    mutating func run(_ pass: SegmentPlan.Pass, in segment: borrowing KindSegment, _ body: (Span<UInt32>) -> Void) {
        let filters = pass.filters.map { segment.prepared($0, candidates: pass.length) }
        switch pass.source {
        case .list(let column, let code):
            // The array itself: a span of it would not outlive the access to the column.
            let (rows, range) = segment.columns[column].lists.list(of: code)
            var start = range.lowerBound
            while start < range.upperBound {
                let end = min(start + Self.chunk, range.upperBound)
                self.run(rows.span.extracting(start..<end), filters, in: segment, body)
                start = end
            }
        case .dense where filters.isEmpty && segment.deadCount == 0 && self.filled == 0:
            self.runWhole(segment, body)
        case .dense:
            let iota = [UInt32](0..<UInt32(min(Self.chunk, segment.rowCount)))
            var numbers = iota
            var start = 0
            while start < segment.rowCount {
                let count = min(numbers.count, segment.rowCount - start)
                for index in 0..<count { numbers[index] = iota[index] &+ UInt32(truncatingIfNeeded: start) }
                self.run(numbers.span.extracting(first: count), filters, in: segment, body)
                start += count
            }
        }
    }

    /// Every row matches and lives: hands out the segment's own memory.
    private func runWhole(_ segment: borrowing KindSegment, _ body: (Span<UInt32>) -> Void) {
        var start = 0
        while start < segment.rowCount {
            let end = min(start + self.batch.count, segment.rowCount)
            body(segment.instances.span.extracting(start..<end))
            start = end
        }
    }

    private mutating func run(
        _ candidates: Span<UInt32>,
        _ filters: [SegmentPlan.Filter],
        in segment: borrowing KindSegment,
        _ body: (Span<UInt32>) -> Void
    ) {
        guard let first = filters.first else {
            return self.emit(candidates, count: candidates.count, segment.instances.span, body)
        }
        // Out of the scan and back, so that reading one buffer and writing the other are two accesses.
        var rows = self.rows
        var spare = self.spare
        self.rows = []
        self.spare = []
        var count = segment.filter(first, candidates, into: &rows)
        for filter in filters.dropFirst() where count > 0 {
            count = segment.filter(filter, rows.span.extracting(first: count), into: &spare)
            swap(&rows, &spare)
        }
        self.emit(rows.span, count: count, segment.instances.span, body)
        self.rows = rows
        self.spare = spare
    }

    /// Adds the living instances of the first `count` rows to the batch.
    private mutating func emit(
        _ rows: Span<UInt32>,
        count: Int,
        _ instances: Span<UInt32>,
        _ body: (Span<UInt32>) -> Void
    ) {
        var index = 0
        while index < count {
            let end = min(count, index + self.batch.count - self.filled)
            self.filled += RowKernel.gather(rows.extracting(index..<end), instances, into: &self.batch, at: self.filled)
            index = end
            if self.filled == self.batch.count { self.finish(body) }
        }
    }
}

extension KindSegment {
    /// Chooses between a table of all values and a look at each row's value, now that the number of rows is known.
    func prepared(_ filter: SegmentPlan.Filter, candidates: Int) -> SegmentPlan.Filter {
        guard case .keep(.column(let index, let test)) = filter else { return filter }
        let column = self.columns[index]
        switch test.form {
        case .values(let atoms) where candidates > column.dictionary.count / 2:
            guard var table = column.table(atoms) else { return .keep(.never) }
            table.acceptsEmpty = test.acceptsEmpty
            return .keep(.column(index, table))
        case .codes(let codes) where codes.count > 1 && column.isTableWorthwhile(candidates):
            return .keep(.column(index, test.tabled(codes, passes: 1, values: column.dictionary.count)))
        case .except(let codes) where !codes.isEmpty && column.isTableWorthwhile(candidates):
            return .keep(.column(index, test.tabled([0] + codes, passes: 0, values: column.dictionary.count)))
        default: return filter
        }
    }

    /// Copies the rows that pass to the front of `rows` and returns how many they are.
    func filter(_ filter: SegmentPlan.Filter, _ source: Span<UInt32>, into rows: inout [UInt32]) -> Int {
        switch filter {
        case .keep(.column(let index, let test)) where !self.columns[index].isArray:
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
        case .keep(.column(let index, let test)):
            let column = self.columns[index]
            return RowKernel.keep(source, &rows) { column.passes(row: $0, test) }
        case .keep(let check): return RowKernel.keep(source, &rows) { self.passes($0, check) }
        case .drop(let check): return RowKernel.keep(source, &rows) { !self.passes($0, check) }
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

    /// Whether a row passes; for what has no kernel of its own.
    func passes(_ row: Int, _ check: RowCheck) -> Bool {
        switch check {
        case .never: return false
        case .always: return true
        case .all(let parts): return parts.allSatisfy { self.passes(row, $0) }
        case .any(let parts): return parts.contains { self.passes(row, $0) }
        case .column(let index, let test):
            return self.columns[index].passes(row: row, test)
        }
    }
}

extension CodeTest {
    /// The same test as a look into a table: one load for each row, however many codes there are.
    func tabled(_ codes: [UInt32], passes: UInt8, values: Int) -> CodeTest {
        var table = [UInt8](repeating: 1 - passes, count: values + 1)
        for code in codes { table[Int(code)] = passes }
        return CodeTest(form: .table(table, passing: nil), acceptsEmpty: self.acceptsEmpty)
    }
}

extension ValueColumn {
    /// Whether so many rows pay for a table of all values.
    func isTableWorthwhile(_ candidates: Int) -> Bool {
        candidates > self.dictionary.count / 16
    }

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

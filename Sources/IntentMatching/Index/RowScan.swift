/// The walk of one query over a table: candidates through filters to batches of instances.
///
/// Rows go through a filter some thousand at a time, from one buffer to the other, without a branch that depends on the
/// data: a wrong guess of the processor costs more than ten comparisons.
struct RowScan {
    private static let chunk = 1024

    /// The instances of the current batch, as far as ``filled``.
    private var batch: [UInt32]
    private var filled = 0
    private var rows: [UInt32] = []
    private var spare: [UInt32] = []
    /// What was looked at, and what came out.
    private(set) var counts = ScanCounts()

    /// - Parameters:
    ///   - batchLimit: The most instances of one batch; at least 1.
    ///   - candidates: How many rows there are to look at in all.
    init(batchLimit: Int, candidates: Int) {
        self.batch = [UInt32](repeating: 0, count: max(1, min(batchLimit, candidates)))
    }

    /// Hands over what is left.
    mutating func finish(_ body: (Span<UInt32>) -> Void) {
        guard self.filled > 0 else { return }
        body(self.batch.span.extracting(first: self.filled))
        self.filled = 0
    }

    mutating func run(
        _ plan: SegmentPlan,
        _ table: RowTable,
        _ instances: InstanceColumn,
        _ body: (Span<UInt32>) -> Void
    ) {
        switch plan.path {
        case .nothing: break
        case .everything: self.runWhole(instances, body)
        case .dense(let check): self.run(check, table, instances, body)
        case .postings(let passes):
            for pass in passes {
                let filters = pass.filters
                if filters.isEmpty {
                    table.columns[pass.column].lists.forEachSpan(of: pass.code) { rows in
                        self.counts.listed += rows.count
                        self.emit(rows, instances, body)
                    }
                    continue
                }
                let room = min(Self.chunk, pass.length)
                while self.rows.count < room { self.rows.append(0) }
                while self.spare.count < room { self.spare.append(0) }
                table.columns[pass.column].lists.forEachSpan(of: pass.code) { rows in
                    self.counts.listed += rows.count
                    var start = 0
                    while start < rows.count {
                        let end = min(start + Self.chunk, rows.count)
                        self.run(rows.extracting(start..<end), filters, table, instances, body)
                        start = end
                    }
                }
            }
        }
        self.finish(body)
    }

    /// Every row matches: hands out the column's own memory.
    private mutating func runWhole(_ instances: InstanceColumn, _ body: (Span<UInt32>) -> Void) {
        let limit = self.batch.count
        instances.numbers.withSpan { numbers in
            var start = 0
            while start < numbers.count {
                let end = min(start + limit, numbers.count)
                body(numbers.extracting(start..<end))
                start = end
            }
        }
        self.counts.matched += instances.count
    }

    private mutating func run(
        _ check: DenseCheck,
        _ table: RowTable,
        _ instances: InstanceColumn,
        _ body: (Span<UInt32>) -> Void
    ) {
        var scan = DenseScan()
        var words = [UInt64](repeating: 0, count: DenseScan.words)
        let step = Self.chunk / 64
        var rows = [UInt32](repeating: 0, count: Self.chunk + 16)
        for block in 0..<table.blockCount {
            scan.evaluate(check, table, block: block, into: &words)
            let count = min(table.rowCount - block << 16, 1 << 16)
            self.counts.scanned += count
            for part in stride(from: 0, to: (count + 63) / 64, by: step) {
                var target = rows.mutableSpan
                let found = Kernels.decode(
                    words.span.extracting(part..<part + step),
                    base: UInt32(block << 16 + part * 64),
                    into: &target
                )
                if found > 0 { self.emit(rows.span.extracting(first: found), instances, body) }
            }
        }
    }

    private mutating func run(
        _ candidates: Span<UInt32>,
        _ filters: [SegmentPlan.Filter],
        _ table: RowTable,
        _ instances: InstanceColumn,
        _ body: (Span<UInt32>) -> Void
    ) {
        // Out of the scan and back, so that reading one buffer and writing the other are two accesses.
        var rows = self.rows
        var spare = self.spare
        self.rows = []
        self.spare = []
        var count = table.filter(filters[0], candidates, into: &rows)
        self.counts.filtered += candidates.count
        for filter in filters.dropFirst() where count > 0 {
            self.counts.filtered += count
            count = table.filter(filter, rows.span.extracting(first: count), into: &spare)
            swap(&rows, &spare)
        }
        self.emit(rows.span.extracting(first: count), instances, body)
        self.rows = rows
        self.spare = spare
    }

    /// Adds the instances of ascending rows to the batch.
    private mutating func emit(_ rows: Span<UInt32>, _ instances: InstanceColumn, _ body: (Span<UInt32>) -> Void) {
        self.counts.matched += rows.count
        var index = 0
        while index < rows.count {
            let end = min(rows.count, index + self.batch.count - self.filled)
            instances.write(rows.extracting(index..<end), to: &self.batch, at: self.filled)
            self.filled += end - index
            index = end
            if self.filled == self.batch.count { self.finish(body) }
        }
    }
}

/// What a query touched.
struct ScanCounts: Sendable {
    /// Rows that came from lists.
    var listed = 0
    /// Rows that a filter was asked about, once for each filter.
    var filtered = 0
    /// Rows whose bits were computed.
    var scanned = 0
    var matched = 0
}

/// The walk of one query over a table: candidates through filters to batches of instances.
struct RowScan {
    /// Words of bits that become rows at once, and beyond the batch the room that this may take.
    private static let words = 16
    private static let slack = 64 * words + 16

    private let batchLimit: Int
    /// The instances of the current batch, as far as ``filled``.
    private var batch: Column<UInt32>
    private var filled = 0
    /// What was looked at, and what came out.
    private(set) var counts = ScanCounts()

    /// - Parameters:
    ///   - batchLimit: The most instances of one batch; at least 1.
    ///   - candidates: How many rows there are to look at in all.
    init(batchLimit: Int, candidates: Int) {
        self.batchLimit = max(1, min(batchLimit, candidates))
        self.batch = Column(undefined: self.batchLimit + Self.slack)
    }

    /// Hands over what is left.
    mutating func finish(_ body: (Span<UInt32>) -> Void) {
        guard self.filled > 0 else { return }
        self.batch.withSpan { body($0.extracting(first: self.filled)) }
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
        case .postings(let passes) where passes.count == 1 && passes[0].filters.isEmpty:
            self.list(table, passes[0].column, passes[0].code, instances, body)
        case .postings(let passes):
            var walk = ListWalk()
            if passes.count == 1 {
                walk.run(passes[0], table) { self.emit($0, instances, body) }
            } else {
                // A row that several lists have is found once.
                var union = AscendingUnion(bound: table.rowCount, batchLimit: ListWalk.chunk)
                for pass in passes { walk.run(pass, table) { union.add($0) } }
                union.finish { self.emit($0, instances, body) }
            }
            self.counts.listed += walk.listed
            self.counts.filtered += walk.filtered
        }
        self.finish(body)
    }

    /// Adds all rows of a list, each written once: from where the list has it to its place in the batch.
    mutating func list(
        _ table: RowTable,
        _ column: Int,
        _ code: UInt32,
        _ instances: InstanceColumn,
        _ body: (Span<UInt32>) -> Void
    ) {
        table.columns.span[column].lists.forEachPart(of: code) { rows in
            self.counts.listed += rows.count
            self.emit(rows, instances, body)
        } lows: { lows, block in
            self.counts.listed += lows.count
            self.emit(lows, block, instances, body)
        } words: { words, block in
            let before = self.counts.matched
            self.emit(words, block, instances, body)
            self.counts.listed += self.counts.matched - before
        }
    }

    /// Every row matches: hands out the column's own memory.
    private mutating func runWhole(_ instances: InstanceColumn, _ body: (Span<UInt32>) -> Void) {
        let limit = self.batchLimit
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
        for block in 0..<table.blockCount {
            scan.evaluate(check, table, block: block, into: &words)
            let count = min(table.rowCount - block << 16, 1 << 16)
            self.counts.scanned += count
            self.emit(words.span.extracting(first: (count + 63) / 64), block, instances, body)
        }
    }

    /// Adds the instances of ascending rows to the batch.
    private mutating func emit(_ rows: Span<UInt32>, _ instances: InstanceColumn, _ body: (Span<UInt32>) -> Void) {
        self.counts.matched += rows.count
        var index = 0
        while index < rows.count {
            let end = min(rows.count, index + self.batchLimit - self.filled)
            instances.write(rows.extracting(index..<end), to: &self.batch, at: self.filled)
            self.filled += end - index
            index = end
            if self.filled == self.batchLimit { self.finish(body) }
        }
    }

    /// Adds the instances of a block's rows, whose lower halves these are.
    private mutating func emit(
        _ lows: Span<UInt16>,
        _ block: Int,
        _ instances: InstanceColumn,
        _ body: (Span<UInt32>) -> Void
    ) {
        self.counts.matched += lows.count
        let offset = instances.offset(ofBlock: block)
        let base = UInt32(block) << 16 &+ (offset ?? 0)
        var index = 0
        while index < lows.count {
            let end = min(lows.count, index + self.batchLimit - self.filled)
            let places = self.filled..<self.filled + end - index
            self.batch.withMutableSpan { batch in
                Kernels.widen(lows.extracting(index..<end), base: base, into: &batch, at: places.lowerBound)
                if offset == nil { instances.translate(&batch, places) }
            }
            self.filled = places.upperBound
            index = end
            if self.filled == self.batchLimit { self.finish(body) }
        }
    }

    /// Adds the instances of a block's rows, whose bits are set.
    private mutating func emit(
        _ words: Span<UInt64>,
        _ block: Int,
        _ instances: InstanceColumn,
        _ body: (Span<UInt32>) -> Void
    ) {
        let offset = instances.offset(ofBlock: block)
        let base = UInt32(block) << 16 &+ (offset ?? 0)
        var part = 0
        while part < words.count {
            let end = min(part + Self.words, words.count)
            let start = self.filled
            self.batch.withMutableSpan { batch in
                let words = words.extracting(part..<end)
                self.filled += Kernels.decode(words, base: base &+ UInt32(part * 64), into: &batch, at: start)
                if offset == nil { instances.translate(&batch, start..<self.filled) }
            }
            self.counts.matched += self.filled - start
            part = end
            if self.filled >= self.batchLimit { self.handOver(body) }
        }
    }

    /// Hands over the whole batches of what is there, and keeps the rest.
    private mutating func handOver(_ body: (Span<UInt32>) -> Void) {
        var start = 0
        self.batch.withSpan { batch in
            while self.filled - start >= self.batchLimit {
                body(batch.extracting(start..<start + self.batchLimit))
                start += self.batchLimit
            }
        }
        self.batch.move(from: start, to: 0, count: self.filled - start)
        self.filled -= start
    }
}

/// Walks over lists of candidate rows and lets them through filters.
///
/// Rows go through a filter some thousand at a time, from one buffer to the other, without a branch that depends on the
/// data: a wrong guess of the processor costs more than ten comparisons.
private struct ListWalk {
    static let chunk = 1024

    private var rows: [UInt32] = []
    private var spare: [UInt32] = []
    /// Rows that lists gave.
    private(set) var listed = 0
    /// Rows that a filter was asked about, once for each filter.
    private(set) var filtered = 0

    /// Calls `found` with the rows of a list that pass its filters, ascending.
    mutating func run(_ pass: SegmentPlan.Pass, _ table: RowTable, _ found: (Span<UInt32>) -> Void) {
        let room = pass.filters.isEmpty ? 0 : min(Self.chunk, pass.length)
        while self.rows.count < room { self.rows.append(0) }
        while self.spare.count < room { self.spare.append(0) }
        table.columns.span[pass.column].lists.forEachSpan(of: pass.code) { rows in
            self.listed += rows.count
            if pass.filters.isEmpty { return found(rows) }
            var start = 0
            while start < rows.count {
                let end = min(start + Self.chunk, rows.count)
                self.filter(rows.extracting(start..<end), pass.filters, table, found)
                start = end
            }
        }
    }

    private mutating func filter(
        _ candidates: Span<UInt32>,
        _ filters: [RowCheck],
        _ table: RowTable,
        _ found: (Span<UInt32>) -> Void
    ) {
        // Out of the walk and back, so that reading one buffer and writing the other are two accesses.
        var rows = self.rows
        var spare = self.spare
        self.rows = []
        self.spare = []
        var count = table.keep(filters[0], candidates, &rows)
        self.filtered += candidates.count
        for filter in filters.dropFirst() where count > 0 {
            self.filtered += count
            count = table.keep(filter, rows.span.extracting(first: count), &spare)
            swap(&rows, &spare)
        }
        found(rows.span.extracting(first: count))
        self.rows = rows
        self.spare = spare
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

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
        switch pass.source {
        case .list(let column, let code):
            // The array itself: a span of it would not outlive the access to the column.
            let (rows, range) = segment.columns[column].lists.list(of: code)
            var start = range.lowerBound
            while start < range.upperBound {
                let end = min(start + Self.chunk, range.upperBound)
                self.run(rows.span.extracting(start..<end), pass.filters, in: segment, body)
                start = end
            }
        case .dense where pass.filters.isEmpty && segment.deadCount == 0 && self.filled == 0:
            self.runWhole(segment, body)
        case .dense:
            let iota = [UInt32](0..<UInt32(min(Self.chunk, segment.rowCount)))
            var numbers = iota
            var start = 0
            while start < segment.rowCount {
                let count = min(numbers.count, segment.rowCount - start)
                for index in 0..<count { numbers[index] = iota[index] &+ UInt32(truncatingIfNeeded: start) }
                self.run(numbers.span.extracting(first: count), pass.filters, in: segment, body)
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

import BasicContainers
import Storage

/// The walk of one query over a table, some rows at a time: candidates through filters to instances.
///
/// Rows go through a filter some thousand at a time, from one buffer to the other, without a branch that depends on the
/// data: a wrong guess of the processor costs more than ten comparisons.
struct RowScan: ~Copyable {
    /// The rows that one call of ``fill(_:from:limit:_:_:_:)`` looks at, about.
    private static let rowsMax = 1 << 18
    /// The same in words of bits, and the instances that are gathered at once.
    static let boundWords = rowsMax / 64
    /// Beyond its limit the room that filling takes.
    static let slack = ListPosition.partMax + AscendingUnion.slack

    private let path: SegmentPlan.Path
    /// Whether all rows have been found.
    private(set) var isDone: Bool
    /// The row, the list or the block that is next.
    private var next = 0
    /// How far the list has been read, or the word of the block's bits that is next.
    private var position = ListPosition()
    private var word = DenseScan.words
    private var dense = DenseScan()
    /// The rows of several lists, each once.
    private var union: AscendingUnion?
    /// Candidates, and those that passed.
    private var rows = Column<UInt32>()
    private var spare = Column<UInt32>()
    /// How many rows were looked at, and how many passed.
    private(set) var counts = QueryPlan.Touched()

    /// A walk that finds nothing.
    init() {
        self.path = .nothing
        self.isDone = true
    }

    init(_ plan: SegmentPlan) {
        self.path = plan.path
        self.isDone = !plan.findsRows
    }

    /// Goes on until there is so much, or so much was looked at.
    ///
    /// - Parameters:
    ///   - found: Where the instances are written to, from `filled` on. Precondition: room for `limit` and ``slack`` more.
    ///   - filled: How many are there already.
    ///   - limit: How many there are to be.
    ///   - table: The table, the same each time.
    ///   - instances: Those of its rows.
    ///   - judge: The filters' judgements of values.
    /// - Returns: How many are there now.
    mutating func fill(
        _ found: inout Column<UInt32>,
        from filled: Int,
        limit: Int,
        _ table: borrowing RowTable,
        _ instances: borrowing InstanceColumn,
        _ judge: CodeJudge
    ) -> Int {
        guard !self.isDone else { return filled }
        let end =
            switch self.path {
            case .nothing: filled
            case .everything: self.copyAll(&found, filled, limit, instances)
            case .dense(let program): self.scan(program, &found, filled, limit, table, instances)
            case .postings(let passes) where passes.count == 1 && passes[0].filters.isEmpty:
                self.readList(passes[0], &found, filled, limit, table, instances)
            case .postings(let passes) where passes.count == 1:
                self.walk(passes[0], &found, filled, limit, table, instances, judge)
            case .postings(let passes): self.join(passes, &found, filled, limit, table, instances, judge)
            }
        self.counts.matched += end - filled
        return end
    }

    /// Every row matches.
    private mutating func copyAll(
        _ found: inout Column<UInt32>,
        _ filled: Int,
        _ limit: Int,
        _ instances: borrowing InstanceColumn
    ) -> Int {
        let count = min(limit - filled, instances.count - self.next)
        found.write(instances.numbers.span.extracting(self.next..<self.next + count), at: filled)
        self.next += count
        self.isDone = self.next == instances.count
        return filled + count
    }

    /// All rows of a list, each written once: from where the list has it to its place among the instances.
    private mutating func readList(
        _ pass: SegmentPlan.Pass,
        _ found: inout Column<UInt32>,
        _ filled: Int,
        _ limit: Int,
        _ table: borrowing RowTable,
        _ instances: borrowing InstanceColumn
    ) -> Int {
        var filled = filled
        while filled < limit {
            let part = table.columns[pass.column].lists.read(pass.code, &self.position, into: &found, at: filled) {
                instances.offset(ofBlock: $0) ?? 0
            }
            guard let part else {
                self.isDone = true
                break
            }
            if part.block.map({ instances.offset(ofBlock: $0) == nil }) ?? !instances.isIdentity {
                instances.translate(&found, filled..<filled + part.count)
            }
            filled += part.count
            self.counts.listed += part.count
        }
        return filled
    }

    /// The rows of one list that pass filters.
    private mutating func walk(
        _ pass: SegmentPlan.Pass,
        _ found: inout Column<UInt32>,
        _ filled: Int,
        _ limit: Int,
        _ table: borrowing RowTable,
        _ instances: borrowing InstanceColumn,
        _ judge: CodeJudge
    ) -> Int {
        var filled = filled
        let listed = self.counts.listed
        let rowsMax = Self.rowsMax / table.work(of: pass.filters)
        while filled < limit, self.counts.listed - listed <= rowsMax {
            guard let count = self.readCandidates(pass, table, judge) else {
                self.isDone = true
                break
            }
            instances.write(self.rows.span.extracting(first: count), to: &found, at: filled)
            filled += count
        }
        return filled
    }

    /// Reads some candidates of a list into ``rows`` and lets them through its filters; nil at the list's end.
    private mutating func readCandidates(
        _ pass: SegmentPlan.Pass,
        _ table: borrowing RowTable,
        _ judge: CodeJudge
    ) -> Int? {
        if self.rows.count == 0 {
            self.rows = Column(undefined: Self.slack)
            self.spare = Column(undefined: Self.slack)
        }
        let part = table.columns[pass.column].lists.read(pass.code, &self.position, into: &self.rows, at: 0) { _ in 0 }
        guard let part else { return nil }
        self.counts.listed += part.count
        var count = part.count
        for filter in pass.filters where count > 0 {
            self.counts.filtered += count
            count = Self.filter(&self.rows, count, &self.spare, filter, table, judge)
        }
        return count
    }

    /// Keeps those of the first `count` rows that pass, and returns how many they are.
    private static func filter(
        _ rows: inout Column<UInt32>,
        _ count: Int,
        _ spare: inout Column<UInt32>,
        _ filter: RowCheck,
        _ table: borrowing RowTable,
        _ judge: CodeJudge
    ) -> Int {
        var target = spare.mutableSpan
        let kept = table.keep(filter, rows.span.extracting(first: count), &target, judge)
        swap(&rows, &spare)
        return kept
    }

    /// A row that several lists have is found once: all lists are walked before the first row is told.
    private mutating func join(
        _ passes: [SegmentPlan.Pass],
        _ found: inout Column<UInt32>,
        _ filled: Int,
        _ limit: Int,
        _ table: borrowing RowTable,
        _ instances: borrowing InstanceColumn,
        _ judge: CodeJudge
    ) -> Int {
        var filled = filled
        var union = self.union.take() ?? AscendingUnion(bound: table.rowCount)
        let listed = self.counts.listed
        let rowsMax = self.next < passes.count ? Self.rowsMax / table.work(of: passes[self.next].filters) : 0
        while self.next < passes.count, self.counts.listed - listed <= rowsMax {
            if let count = self.readCandidates(passes[self.next], table, judge) {
                union.add(self.rows, first: count)
            } else {
                self.next += 1
                self.position = ListPosition()
                if self.next == passes.count { union.sort() }
            }
        }
        if self.next == passes.count {
            while filled < limit, !union.isRead {
                let count = union.read(limit: ListPosition.partMax, into: &self.rows, at: 0)
                instances.write(self.rows.span.extracting(first: count), to: &found, at: filled)
                filled += count
            }
            self.isDone = union.isRead
        }
        self.union = consume union
        return filled
    }

    /// The rows whose bits pass a check, block by block.
    private mutating func scan(
        _ program: DenseProgram,
        _ found: inout Column<UInt32>,
        _ filled: Int,
        _ limit: Int,
        _ table: borrowing RowTable,
        _ instances: borrowing InstanceColumn
    ) -> Int {
        var filled = filled
        let scanned = self.counts.scanned
        var work = DenseScan.workMax
        while filled < limit {
            if self.word == DenseScan.words {
                guard self.counts.scanned - scanned < Self.rowsMax, work > 0 else { break }
                guard self.next < table.blockCount else {
                    self.isDone = true
                    break
                }
                guard self.dense.evaluate(program, table, block: self.next, &work) else { break }
                self.counts.scanned += min(table.rowCount - self.next << 16, 1 << 16)
                self.word = 0
                self.next += 1
            }
            filled = self.decode(&found, filled, instances)
        }
        return filled
    }

    /// Adds the instances of some rows of a block, whose bits are set.
    private mutating func decode(
        _ found: inout Column<UInt32>,
        _ filled: Int,
        _ instances: borrowing InstanceColumn
    ) -> Int {
        let block = self.next - 1
        let offset = instances.offset(ofBlock: block)
        let base = UInt32(block << 16 + self.word * 64) &+ (offset ?? 0)
        let part = self.word..<self.word + ListPosition.wordsMax
        self.word += ListPosition.wordsMax
        var target = found.mutableSpan
        let count = Kernels.decode(self.dense.result.span.extracting(part), base: base, into: &target, at: filled)
        if offset == nil { instances.translate(&found, filled..<filled + count) }
        return filled + count
    }
}

extension RowTable {
    /// The cost of finding a value that is to be judged.
    private static let judgingWork = 64

    /// The cost of putting a row through filters, in conditions on plain codes; at least 1.
    fileprivate func work(of filters: [RowCheck]) -> Int { filters.reduce(1) { $0 + self.work(of: $1) } }

    private func work(of check: RowCheck) -> Int {
        switch check {
        case .never, .always: return 0
        case .all(let parts), .any(let parts): return self.work(of: parts)
        case .column(let index, let test):
            if case .values(let atoms, _) = test.form { return Self.judgingWork + 2 * atoms.steps }
            return self.columns[index].isArray ? 32 : 1
        }
    }
}

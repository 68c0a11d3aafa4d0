import Storage
package import WidgetModel

/// How far a question has been answered: instances that were found, and where to go on.
///
/// It is made by ``IntentIndex/cursor(app:kind:pattern:hosts:attributes:order:batchLimit:)`` and moved on by
/// ``IntentIndex/next(_:_:)``; between two calls the index must not change.
package struct MatchCursor: ~Copyable, Sendable {
    /// What a query does with the rows of one form in one segment.
    struct Step: Sendable {
        let segment: Int
        let isShared: Bool
        let plan: SegmentPlan
    }

    let steps: [Step]
    /// The step that is walked, and its walk.
    private(set) var step = 0
    var scan: RowScan
    /// What each step that was walked to its end touched.
    private(set) var counts: [ScanCounts] = []
    /// The most instances of a batch.
    let batchLimit: Int
    /// The instances that were found: ``filled`` of them, of which the first ``batchCount`` are the batch.
    var found: Column<UInt32>
    var filled = 0
    var batchCount = 0
    /// Where instances must be sorted: all of them, before the first is handed over.
    var sorted: AscendingUnion?

    /// - Parameters:
    ///   - steps: The steps.
    ///   - batchLimit: The most instances of a batch; at least 1.
    ///   - sorted: Sorts the instances; nil if they come in order, or need not.
    init(_ steps: [Step], batchLimit: Int, sorted: consuming AscendingUnion?) {
        precondition(batchLimit > 0, "batches of no instance")
        self.steps = steps
        self.sorted = sorted
        let candidates = steps.reduce(0) { $0.addingSaturating($1.plan.candidates) }
        self.batchLimit = min(batchLimit, max(1, candidates))
        self.scan = RowScan(steps.first?.plan ?? SegmentPlan(path: .nothing, candidates: 0))
        self.found = Column(undefined: candidates > 0 ? self.batchLimit + RowScan.slack : 0)
    }

    /// The answer to a question that is known already.
    init(_ instances: consuming Column<UInt32>, count: Int, batchLimit: Int) {
        precondition(batchLimit > 0, "batches of no instance")
        self.steps = []
        self.batchLimit = batchLimit
        self.scan = RowScan(SegmentPlan(path: .nothing, candidates: 0))
        self.found = instances
        self.filled = count
    }

    /// The instances that the last call of ``IntentIndex/next(_:_:)`` found; there may be none.
    package var batch: Span<InstanceNumber> {
        @_lifetime(borrow self)
        get { self.found.span.extracting(first: self.batchCount).numbers() }
    }

    /// Adds ``batch`` to instances that were found before.
    package func appendBatch(to instances: inout [InstanceNumber]) {
        let batch = self.batch
        for index in batch.indices { instances.append(batch[index]) }
    }

    /// Whether all steps were walked to their ends.
    var isWalked: Bool { self.step == self.steps.count }

    /// Whether there is nothing more than what is in ``found``.
    var isExhausted: Bool {
        guard self.isWalked else { return false }
        switch self.sorted {
        case .some(let sorted): return sorted.isRead
        case .none: return true
        }
    }

    /// Forgets the batch that was handed over.
    mutating func dropBatch() {
        guard self.batchCount > 0 else { return }
        self.filled -= self.batchCount
        self.found.move(from: self.batchCount, to: 0, count: self.filled)
        self.batchCount = 0
    }

    /// Goes on to the next step, if this one is at its end; returns whether it is.
    mutating func endStep() -> Bool {
        guard self.scan.isDone else { return false }
        self.counts.append(self.scan.counts)
        self.step += 1
        if self.step < self.steps.count { self.scan = RowScan(self.steps[self.step].plan) }
        return true
    }
}

/// The order in which the index hands over instances.
package enum MatchOrder: Sendable {
    /// By the caller's number, which is all that this order depends on. Comes as it is found where a kind's rows are in
    /// this order, as they are until instances go; otherwise the first batch comes when all is found.
    case ascending
    /// As it is found, the first batch at once: a function of all calls made so far.
    case asFound
}

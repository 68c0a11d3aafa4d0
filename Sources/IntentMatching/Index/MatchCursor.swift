import Storage
package import WidgetModel

/// The progress of a question: its plans, the found instances, and where to continue.
///
/// ``IntentIndex/cursor(app:kind:pattern:hosts:attributes:order:isExplained:batchLimit:)`` makes it, and
/// ``IntentIndex/next(_:_:work:)`` advances it; between two calls the index must not change.
package struct MatchCursor: ~Copyable, Sendable {
    /// The most work for plans before others get their turn, in steps of a pattern on a value: some milliseconds.
    package static let workMax = 1 << 18
    /// The same of each plan: of a pattern that is asked of many kinds.
    static let planWork = workMax / 16

    /// A query's work on a segment.
    struct Step: Sendable {
        let segment: Int
        let plan: SegmentPlan
    }

    /// The question, until there is a plan for all segments in question.
    var planning: MatchPlanning?
    /// How many values were judged for plans.
    package internal(set) var judged = 0
    private(set) var steps: [Step] = []
    /// The step that is walked.
    private(set) var step = 0
    /// Its walk.
    var scan: RowScan
    /// The counts of each step that was walked to its end.
    private(set) var counts: [QueryPlan.Touched] = []
    /// The most instances of a batch.
    private(set) var batchLimit: Int
    /// The instances that were found: ``filled`` of them, of which the first ``batchCount`` are the batch.
    var found: Column<UInt32>
    var filled = 0
    var batchCount = 0
    /// Where instances must be sorted: all of them, before the first is handed over.
    var sorted: AscendingUnion?

    /// - Parameters:
    ///   - planning: The question.
    ///   - batchLimit: The most instances of a batch; at least 1.
    init(_ planning: MatchPlanning, batchLimit: Int) {
        precondition(batchLimit > 0, "batches of no instance")
        self.planning = planning
        self.scan = RowScan()
        self.batchLimit = batchLimit
        self.found = Column()
    }

    /// A question with a known plan.
    init(_ step: Step, batchLimit: Int) {
        precondition(batchLimit > 0, "batches of no instance")
        self.steps = [step]
        self.scan = RowScan(step.plan)
        self.batchLimit = min(batchLimit, max(1, step.plan.candidates))
        self.found = Column(undefined: self.batchLimit + RowScan.slack)
    }

    /// The answer to a question that is known already.
    init(_ instances: consuming Column<UInt32>, count: Int, batchLimit: Int) {
        precondition(batchLimit > 0, "batches of no instance")
        self.scan = RowScan()
        self.batchLimit = batchLimit
        self.found = instances
        self.filled = count
    }

    /// Begins to walk, once there are plans.
    ///
    /// - Parameters:
    ///   - steps: The steps.
    ///   - sorted: Sorts the instances; nil if they come in order, or need not.
    mutating func begin(_ steps: [Step], sorted: consuming AscendingUnion?) {
        self.steps = steps
        self.sorted = sorted
        if let first = steps.first { self.scan = RowScan(first.plan) }
        let candidates = steps.reduce(0) { $0.addingSaturating($1.plan.candidates) }
        self.batchLimit = min(self.batchLimit, max(1, candidates))
        self.found = Column(undefined: candidates > 0 ? self.batchLimit + RowScan.slack : 0)
    }

    /// The instances that the last call of ``IntentIndex/next(_:_:work:)`` found; there may be none.
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

    /// Whether ``found`` has all matches.
    var isExhausted: Bool {
        guard self.planning == nil, self.isWalked else { return false }
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

/// A question for which plans are made, one for each segment.
struct MatchPlanning: Sendable {
    let pattern: MatchPattern?
    /// The conditions of instances that are fulfilled; nil if none is asked about.
    let fulfilled: [ExpressionNumber]?
    /// Whether the query names a kind.
    let isNamed: Bool
    let order: MatchOrder
    /// All segments in question, and the steps that have plans already.
    let segments: [Int]
    var steps: [MatchCursor.Step] = []
    /// The next one's plan.
    var current: SegmentPlanning?

    /// The segment for which there is no plan yet; nil if there is none.
    var next: Int? { self.steps.count < self.segments.count ? self.segments[self.steps.count] : nil }
}

/// The order in which the index hands over instances.
package enum MatchOrder: Sendable {
    /// By the caller's number; this order depends on nothing else. Instances come as they are found if a kind's rows
    /// are in this order, as they are until instances are removed; otherwise the first batch comes when all are found.
    case ascending
    /// As it is found, the first batch at once: a function of all calls made so far.
    case asFound
}

import BasicContainers
import Storage
package import WidgetModel

/// Asking which instances match.
extension IntentIndex {
    /// The instances that pushes reach, of one kind or of all kinds of an app.
    package func count(app: BundleID, kind: WidgetKind? = nil) -> Int {
        self.segments(app, kind).reduce(0) { $0 + self.segments[$1].count }
    }

    /// The host of an instance that pushes reach; nil of any other.
    package func host(of instance: InstanceNumber) -> HostNumber? {
        guard instance.index < self.places.count, self.places[instance.index] != 0 else { return nil }
        let row = self.rows[instance.index]
        guard row != Self.silent else { return nil }
        let segment = Int(self.places[instance.index]) - 1
        return HostNumber(raw: self.segments[segment].table.singleCode(KindSegment.hostField, Int(row)) - 1)
    }

    /// Begins to find every matching instance, each once; ``next(_:_:work:)`` continues.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - kind: The kind, or nil for all kinds of the app.
    ///   - pattern: The condition on instances, or nil for none.
    ///   - hosts: The ids of hosts.
    ///   - attributes: The push's attributes for the conditions of instances; nil for a question that is not a push,
    ///     for which no instance has a condition.
    ///   - order: The order in which they come.
    ///   - isExplained: Whether ``plans(of:)`` is to say how they were found.
    ///   - batchLimit: The most instances of one batch; at least 1.
    package func cursor(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        hosts: borrowing some HostNaming & ~Copyable,
        attributes: Configuration? = nil,
        order: MatchOrder = .ascending,
        isExplained: Bool = false,
        batchLimit: Int
    ) -> MatchCursor {
        precondition(!self.isChanging, "a question amid changes")
        if !isExplained, let kind, let pattern, let segment = self.segmentOfPlainRows(app, kind),
            let query = self.segments[segment].equalityQuery(pattern, hosts),
            let answer = self.segments[segment].answer(query)
        {
            switch consume answer {
            case .instances(let instances, let count):
                return MatchCursor(instances, count: count, batchLimit: batchLimit)
            case .list(let plan):
                return MatchCursor(MatchCursor.Step(segment: segment, plan: plan), batchLimit: batchLimit)
            }
        }
        return self.plannedCursor(app, kind, pattern, attributes, order, batchLimit: batchLimit)
    }

    /// Finds the next batch of instances, which is then ``MatchCursor/batch``. It works for some milliseconds at most,
    /// so a batch before the last may have few instances, or none.
    ///
    /// - Parameters:
    ///   - cursor: The question, begun by ``cursor(app:kind:pattern:hosts:attributes:order:isExplained:batchLimit:)``.
    ///     Precondition: the index has not changed since.
    ///   - hosts: The same as at the beginning.
    ///   - work: The most work for plans, in steps of a pattern on a value; it does not change the result.
    /// - Returns: False if all instances had been returned.
    package func next(
        _ cursor: inout MatchCursor,
        _ hosts: borrowing some HostNaming & ~Copyable,
        work: Int = MatchCursor.workMax
    ) -> Bool {
        cursor.dropBatch()
        guard cursor.planning == nil || self.plan(&cursor, work: work, hosts) else { return true }
        if cursor.sorted == nil {
            self.walk(&cursor, hosts)
        } else {
            self.gather(&cursor, hosts)
        }
        cursor.batchCount = min(cursor.filled, cursor.batchLimit)
        return cursor.batchCount > 0 || !cursor.isExhausted
    }

    /// How a finished question was answered: a plan for each of its kinds, and the rows that this run touched.
    package func plans(of cursor: borrowing MatchCursor) -> [QueryPlan] {
        zip(cursor.steps, cursor.counts).map { step, counts in
            self.segments[step.segment].describe(step.plan, counts)
        }
    }

    // MARK: Plans

    /// The segment of a kind's instances without a `when`, if there are no others.
    private func segmentOfPlainRows(_ app: BundleID, _ kind: WidgetKind) -> Int? {
        guard let plain = self.segment(app, kind, isConditional: false) else { return nil }
        if let other = self.segment(app, kind, isConditional: true), self.segments[other].count > 0 { return nil }
        return self.segments[plain].isLoading ? nil : plain
    }

    /// A question that is answered by plans.
    private func plannedCursor(
        _ app: BundleID,
        _ kind: WidgetKind?,
        _ pattern: MatchPattern?,
        _ attributes: Configuration?,
        _ order: MatchOrder,
        batchLimit: Int
    ) -> MatchCursor {
        let segments = self.segments(app, kind)
        let planning = MatchPlanning(
            pattern: pattern,
            fulfilled: self.fulfilled(segments, attributes),
            isNamed: kind != nil,
            order: order,
            segments: segments
        )
        return MatchCursor(planning, batchLimit: batchLimit)
    }

    /// Goes on with the plans of a question, if there are some to be made; returns whether all are made, so that it can be walked.
    @inline(never)
    private func plan(
        _ cursor: inout MatchCursor,
        work: Int,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> Bool {
        guard var planning = cursor.planning.take() else { return true }
        var work = work
        while work > 0, let segment = planning.next {
            var current: SegmentPlanning
            if let begun = planning.current.take() {
                current = begun
                current.values.work = work
            } else {
                current = self.segments[segment].beginPlan(planning, work: work, hosts)
            }
            let plan = self.segments[segment].plan(&current, hosts)
            cursor.judged += current.values.takeJudged()
            work = current.values.work - MatchCursor.planWork
            if let plan {
                planning.steps.append(MatchCursor.Step(segment: segment, plan: plan))
            } else {
                planning.current = current
            }
        }
        guard planning.next == nil else {
            cursor.planning = planning
            return false
        }
        self.begin(&cursor, planning.steps, planning.order)
        return true
    }

    private func begin(_ cursor: inout MatchCursor, _ steps: [MatchCursor.Step], _ order: MatchOrder) {
        // Rows of one table that are in the order of their instances need no sorting.
        let walks = steps.count { $0.plan.findsRows }
        let isAscending = steps.allSatisfy {
            !$0.plan.findsRows || self.segments[$0.segment].instances.isAscending
        }
        guard order == .ascending, walks > 1 || !isAscending else { return cursor.begin(steps, sorted: nil) }
        cursor.begin(steps, sorted: AscendingUnion(bound: self.places.count))
    }

    /// The conditions that attributes fulfil; nil where none is asked about.
    private func fulfilled(_ segments: [Int], _ attributes: Configuration?) -> [ExpressionNumber]? {
        guard let attributes, let first = segments.first(where: { self.segments[$0].conditionField != nil }),
            let conditions = self.conditionsByApp[self.segments[first].app]
        else { return nil }
        return self.conditions[conditions].matches(attributes)
    }

    private func segments(_ app: BundleID, _ kind: WidgetKind?) -> [Int] {
        guard let kind else { return self.segmentsByApp[app] ?? [] }
        return [false, true].compactMap { self.segment(app, kind, isConditional: $0) }
    }

    /// The segment of a kind, if there is one.
    @inline(__always)
    func segment(_ app: BundleID, _ kind: WidgetKind, isConditional: Bool) -> Int? {
        // Hashing two names takes longer than comparing a few.
        guard self.segments.count <= 8 else {
            return self.segmentByKey[SegmentKey(app: app, kind: kind, isConditional: isConditional)]
        }
        for index in self.segments.indices where self.isSegment(index, app, kind, isConditional) { return index }
        return nil
    }

    @inline(__always)
    func isSegment(_ index: Int, _ app: BundleID, _ kind: WidgetKind, _ isConditional: Bool) -> Bool {
        (self.segments[index].conditionField != nil) == isConditional
            && self.segments[index].kind.rawValue == kind.rawValue && self.segments[index].app.rawValue == app.rawValue
    }

    // MARK: Walking

    /// Walks on until there is a batch, or so many rows were looked at.
    private func walk(_ cursor: inout MatchCursor, _ hosts: borrowing some HostNaming & ~Copyable) {
        while !cursor.isWalked, cursor.filled < cursor.batchLimit {
            let segment = cursor.steps[cursor.step].segment
            let limit = cursor.batchLimit
            cursor.filled = self.segments[segment].fill(
                &cursor.scan,
                &cursor.found,
                from: cursor.filled,
                limit: limit,
                hosts
            )
            guard cursor.endStep() else { return }
        }
    }

    /// Walks on and gathers all instances, and then hands them over in order.
    private func gather(_ cursor: inout MatchCursor, _ hosts: borrowing some HostNaming & ~Copyable) {
        if !cursor.isWalked {
            self.walk(&cursor, hosts)
            cursor.sorted?.add(cursor.found, first: cursor.filled)
            cursor.filled = 0
            if cursor.isWalked { cursor.sorted?.sort() }
        }
        guard cursor.isWalked, cursor.filled < cursor.batchLimit else { return }
        let limit = cursor.batchLimit - cursor.filled
        cursor.filled += cursor.sorted?.read(limit: limit, into: &cursor.found, at: cursor.filled) ?? 0
    }
}

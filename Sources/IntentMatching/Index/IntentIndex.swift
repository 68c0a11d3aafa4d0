package import WidgetModel

/// Finds the widget instances that a push is about.
///
/// A segment per kind of an app holds its instances in columns of value codes, and for each value the rows that have it.
/// A query walks the shortest list that all its matches are on and verifies the other conditions on the columns; a query
/// without a list that is short makes a bit for each row instead. What matches is defined by ``MatchPattern/matches(_:)``.
///
/// Every change takes effect at once and none waits for a rebuilding: the longest steps move a few thousand bytes.
///
/// The caller numbers the instances and their hosts, both densely: memory grows with the highest number. Everything is a
/// pure function of the calls made.
package struct IntentIndex: Sendable {
    /// The row of an instance that pushes do not reach: it is known, but in no segment's rows.
    private static let silent = UInt32.max

    private struct SegmentKey: Hashable {
        let app: BundleID
        let kind: WidgetKind
        /// Whether its instances have a `when`.
        let isConditional: Bool
    }

    var segments: [KindSegment] = []
    private var segmentByKey: [SegmentKey: Int] = [:]
    /// What the instances' conditions are, by app.
    private var conditions: [SubscriptionIndex] = []
    private var conditionsByApp: [BundleID: Int] = [:]
    /// Whether there are no lists yet, see ``startLoading()``.
    package private(set) var isLoading = false
    /// Whether lists wait for ``finishChanges()``, and the segments in which some do.
    private var isChanging = false
    private var changed: [Int] = []
    /// The index of the segment that was changed last.
    private var recent = 0
    /// The segments of an app in the order in which they came.
    private var segmentsByApp: [BundleID: [Int]] = [:]
    /// By instance: its segment's index plus one, 0 if it is not known.
    var places = CodeColumn()
    /// By instance: its row in the segment.
    var rows = Column<UInt32>()

    private let interning: Interning

    /// - Parameter interning: When instances share what they are configured with; changes no answer.
    package init(interning: Interning = .observed(atLeast: 4096)) {
        self.interning = interning
    }

    // MARK: Changing

    /// Tells the index a kind's parameters, again after each change of them.
    ///
    /// Needed for queries that name no kind: a kind that lacks a parameter does not match a condition on it, not even
    /// `{"exists": false}`. Of a kind that was never declared the parameters are those that some instance has had.
    package mutating func declare(_ schema: KindSchema, app: BundleID) {
        for isConditional in [false, true] {
            let key = SegmentKey(app: app, kind: schema.kind, isConditional: isConditional)
            // Most kinds have no conditions, and need no segment for them.
            if isConditional, self.segmentByKey[key] == nil { continue }
            self.segments[self.place(app, schema.kind, isConditional: isConditional)].schema = schema
        }
    }

    /// Adds an instance, or replaces what was known of it. O(parameters).
    ///
    /// - Parameters:
    ///   - instance: The caller's number; free again after ``remove(_:)``. Below `UInt32.max`.
    ///   - app: Its app.
    ///   - kind: Its kind.
    ///   - family: What `$family` matches.
    ///   - host: The caller's number of its host, whose id `$host` matches; free for another host once no instance here has
    ///     it.
    ///   - tags: What `$tags` matches.
    ///   - configuration: Its parameters, defaults filled in.
    ///   - when: What a push's attributes must fulfil to reach it, or nil if every push may.
    ///   - pushEnabled: Whether pushes reach it; if not, it matches nothing.
    package mutating func insert(
        _ instance: UInt32,
        app: BundleID,
        kind: WidgetKind,
        family: WidgetFamily,
        host: UInt32,
        tags: [String],
        configuration: Configuration,
        when: MatchPattern? = nil,
        pushEnabled: Bool
    ) {
        self.makeRoom(for: instance)
        let when = pushEnabled ? when : nil
        let segment = self.place(app, kind, isConditional: when != nil)
        var attributes = InstanceAttributes(family: family, host: host, tags: tags, configuration: configuration)
        let conditions = when == nil ? 0 : self.conditions(of: app)
        if let when { attributes.condition = self.conditions[conditions].insert(when) }
        let row = self.rows[Int(instance)]
        if pushEnabled, Int(self.places[Int(instance)]) == segment + 1, row != Self.silent {
            let old = when == nil ? nil : self.segments.span[segment].condition(of: row)
            self.segments[segment].update(row, attributes, waits: self.isChanging)
            if self.isChanging, self.changed.last != segment { self.changed.append(segment) }
            if let old { self.conditions[conditions].release(old) }
            return self.settle(segment)
        }
        if self.places[Int(instance)] != 0 { self.remove(instance) }
        self.places[Int(instance)] = UInt32(segment + 1)
        self.rows[Int(instance)] =
            pushEnabled ? self.segments[segment].append(instance, attributes) : Self.silent
        self.settle(segment)
    }

    /// Adds an instance that is like another one in everything but its number and its host, where that is less work: nothing
    /// is looked up. Preconditions: the instance is not known, the other one is, and pushes reach it.
    ///
    /// - Returns: False if it is not, or instances have conditions; then nothing has changed.
    package mutating func insert(_ instance: UInt32, like other: UInt32, host: UInt32) -> Bool {
        self.makeRoom(for: instance)
        let segment = Int(self.places[Int(other)]) - 1
        let row = self.rows[Int(other)]
        precondition(segment >= 0 && row != Self.silent && self.places[Int(instance)] == 0, "not like that one")
        guard self.segments.span[segment].conditionField == nil,
            let row = self.segments[segment].append(instance, like: row, host: host)
        else { return false }
        self.places[Int(instance)] = UInt32(segment + 1)
        self.rows[Int(instance)] = row
        self.settle(segment)
        return true
    }

    mutating func makeRoom(for instance: UInt32) {
        guard Int(instance) >= self.places.count else { return }
        self.places.append(repeating: 0, count: Int(instance) + 1 - self.places.count)
        self.rows.append(repeating: 0, count: Int(instance) + 1 - self.rows.count)
    }

    mutating func settle(_ segment: Int) {
        for moved in self.segments[segment].settle() { self.rows[Int(moved.instance)] = moved.row }
    }

    /// Lets lists of rows by value wait until ``finishChanges()``: what they need of memory then comes for all changes at once.
    /// For a few dozen instances that are registered anew together. Precondition: no question is asked meanwhile.
    package mutating func startChanges() { self.isChanging = true }

    /// Brings the lists up to date.
    package mutating func finishChanges() {
        self.isChanging = false
        for index in self.changed.indices { self.segments[self.changed[index]].finishChanges() }
        self.changed.removeAll(keepingCapacity: true)
    }

    /// Fetches what is known of some instances, which are about to be registered anew or removed: a few dozen that wait for
    /// memory together wait hardly longer than one.
    ///
    /// Changes nothing, and is mutating, as all that it calls, because what is not is handed a copy: hundreds of references.
    package mutating func prefetch(_ instances: Span<UInt32>) {
        for index in instances.indices {
            self.places.prefetch(Int(instances[index]))
            self.rows.prefetch(Int(instances[index]))
        }
        var rows: [UInt32] = []
        rows.reserveCapacity(instances.count)
        var last: UInt32 = 0
        for index in instances.indices {
            let instance = Int(instances[index])
            guard instance < self.places.count else { continue }
            let (place, row) = (self.places[instance], self.rows[instance])
            guard place != 0, row != Self.silent else { continue }
            if place != last, last != 0 {
                self.segments[Int(last) - 1].prefetch(rows.span)
                rows.removeAll(keepingCapacity: true)
            }
            last = place
            rows.append(row)
        }
        if last != 0 { self.segments[Int(last) - 1].prefetch(rows.span) }
    }

    /// Forgets an instance, if it is known. O(parameters).
    package mutating func remove(_ instance: UInt32) {
        guard Int(instance) < self.places.count, self.places[Int(instance)] != 0 else { return }
        let segment = Int(self.places[Int(instance)]) - 1
        let row = self.rows[Int(instance)]
        self.places[Int(instance)] = 0
        guard row != Self.silent else { return }
        if !self.conditions.isEmpty, let condition = self.segments.span[segment].condition(of: row) {
            let conditions = self.conditions(of: self.segments.span[segment].app)
            self.conditions[conditions].release(condition)
        }
        if let moved = self.segments[segment].remove(row) { self.rows[Int(moved)] = row }
        self.settle(segment)
    }

    /// Leaves the lists of rows by value out from now on, to build them all at once by ``finishLoading()``: half the work
    /// where there are many instances. Does nothing unless the index is empty.
    ///
    /// Every change and every question works meanwhile, questions by looking at every row.
    package mutating func startLoading() {
        guard !self.isLoading, self.segments.allSatisfy({ $0.count == 0 }) else { return }
        self.isLoading = true
        for index in self.segments.indices { self.segments[index].startLoading() }
    }

    /// Builds what ``startLoading()`` left out. O(instances).
    package mutating func finishLoading() {
        guard self.isLoading else { return }
        self.isLoading = false
        for index in self.segments.indices where self.segments[index].finishLoading() {
            let instances = self.segments[index].classes.instances
            for row in 0..<instances.count { self.rows[Int(instances[row])] = UInt32(row) | KindSegment.sharedFlag }
        }
    }

    /// The segment of a kind, new if there is none yet.
    mutating func place(_ app: BundleID, _ kind: WidgetKind, isConditional: Bool) -> Int {
        // Instances of one kind come one after the other.
        if self.recent < self.segments.count, self.isSegment(self.recent, app, kind, isConditional) {
            return self.recent
        }
        let key = SegmentKey(app: app, kind: kind, isConditional: isConditional)
        self.recent = self.segmentByKey[key] ?? self.addSegment(key)
        return self.recent
    }

    private mutating func addSegment(_ key: SegmentKey) -> Int {
        let index = self.segments.count
        var segment = KindSegment(
            app: key.app,
            kind: key.kind,
            isConditional: key.isConditional,
            interning: self.interning
        )
        let plain = SegmentKey(app: key.app, kind: key.kind, isConditional: false)
        if key.isConditional, let plain = self.segmentByKey[plain] { segment.schema = self.segments[plain].schema }
        if self.isLoading { segment.startLoading() }
        self.segments.append(segment)
        self.segmentByKey[key] = index
        self.segmentsByApp[key.app, default: []].append(index)
        return index
    }

    private mutating func conditions(of app: BundleID) -> Int {
        if let index = self.conditionsByApp[app] { return index }
        self.conditions.append(SubscriptionIndex())
        self.conditionsByApp[app] = self.conditions.count - 1
        return self.conditions.count - 1
    }

    // MARK: Asking

    /// The instances that pushes reach, of one kind or of all kinds of an app.
    package func count(app: BundleID, kind: WidgetKind? = nil) -> Int {
        self.segments(app, kind).reduce(0) { $0 + self.segments[$1].count }
    }

    /// The host of an instance that pushes reach; nil of any other.
    package func host(of instance: UInt32) -> UInt32? {
        guard Int(instance) < self.places.count, self.places[Int(instance)] != 0 else { return nil }
        let row = self.rows[Int(instance)]
        guard row != Self.silent else { return nil }
        return self.segments.span[Int(self.places[Int(instance)]) - 1].code(KindSegment.hostField, row) - 1
    }

    /// Hands over every instance that matches, each once, in batches.
    ///
    /// The index must not change meanwhile; the spans are valid only during the call of `body`.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - kind: The kind, or nil for all kinds of the app.
    ///   - pattern: The condition on instances, or nil for none.
    ///   - hosts: Whom the numbers of hosts stand for.
    ///   - attributes: What the push brings, which the conditions of instances ask for; nil for a question that is no
    ///     push, to which no instance has a condition.
    ///   - order: The order in which they come.
    ///   - batchLimit: The most instances of one batch; at least 1.
    ///   - body: Called with each batch; none is empty.
    package func matches(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        hosts: some HostNaming,
        attributes: Configuration? = nil,
        order: MatchOrder = .ascending,
        batchLimit: Int,
        _ body: (Span<UInt32>) -> Void
    ) {
        precondition(!self.isChanging, "a question amid changes")
        if let kind, let pattern, self.answer(app, kind, pattern, hosts, batchLimit, body) { return }
        self.run(self.plans(app, kind, pattern, hosts, attributes), order, batchLimit, body) { _, _ in }
    }

    /// Answers a plain question about the instances of one kind that have no `when`, if there are no others.
    private func answer(
        _ app: BundleID,
        _ kind: WidgetKind,
        _ pattern: MatchPattern,
        _ hosts: some HostNaming,
        _ batchLimit: Int,
        _ body: (Span<UInt32>) -> Void
    ) -> Bool {
        precondition(batchLimit > 0, "batches of no instance")
        guard let plain = self.segment(app, kind, isConditional: false) else { return false }
        if let other = self.segment(app, kind, isConditional: true), self.segments.span[other].count > 0 {
            return false
        }
        let segments = self.segments.span
        guard segments[plain].classes.members.rowCount == 0, !segments[plain].isLoading else { return false }
        let segment = PlainSegment(
            fields: segments[plain].fields,
            declared: segments[plain].declared,
            tagsField: segments[plain].tagsField,
            highestHost: segments[plain].highestHost,
            table: segments[plain].table,
            instances: segments[plain].instances
        )
        return segment.answer(pattern, hosts, batchLimit: batchLimit, body)
    }

    /// The segment of a kind, if there is one.
    @inline(__always)
    private func segment(_ app: BundleID, _ kind: WidgetKind, isConditional: Bool) -> Int? {
        // Hashing two names takes longer than comparing a few.
        guard self.segments.count <= 8 else {
            return self.segmentByKey[SegmentKey(app: app, kind: kind, isConditional: isConditional)]
        }
        for index in self.segments.indices where self.isSegment(index, app, kind, isConditional) { return index }
        return nil
    }

    @inline(__always)
    private func isSegment(_ index: Int, _ app: BundleID, _ kind: WidgetKind, _ isConditional: Bool) -> Bool {
        // No method of the segment: calling one copies all of its references.
        let segments = self.segments.span
        return (segments[index].conditionField != nil) == isConditional
            && segments[index].kind.rawValue == kind.rawValue && segments[index].app.rawValue == app.rawValue
    }

    /// Hands over what ``matches(app:kind:pattern:hosts:attributes:order:batchLimit:_:)`` does, and says how that was found:
    /// a plan for each kind in question, and what this very run touched.
    package func explain(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        hosts: some HostNaming,
        attributes: Configuration? = nil,
        order: MatchOrder = .ascending,
        batchLimit: Int = 4096,
        _ body: (Span<UInt32>) -> Void = { _ in }
    ) -> [QueryPlan] {
        precondition(!self.isChanging, "a question amid changes")
        var described: [QueryPlan] = []
        let plans = self.plans(app, kind, pattern, hosts, attributes)
        self.run(plans, order, batchLimit, body) { step, counts in
            described.append(self.segments[step.segment].describe(step.plan, isShared: step.isShared, counts))
        }
        return described
    }

    /// What a query does with the rows of one form in one segment.
    private struct Step {
        let segment: Int
        let isShared: Bool
        let plan: SegmentPlan
    }

    private func plans(
        _ app: BundleID,
        _ kind: WidgetKind?,
        _ pattern: MatchPattern?,
        _ hosts: some HostNaming,
        _ attributes: Configuration?
    ) -> [Step] {
        let segments = self.segments(app, kind)
        let fulfilled = self.fulfilled(segments, attributes)
        var steps: [Step] = []
        for index in segments {
            for isShared in [false, true] {
                let rows = self.segments[index].rows(isShared: isShared).table.rowCount
                // Of a segment without rows one step says so.
                guard rows > 0 || (!isShared && self.segments[index].count == 0) else { continue }
                let plan = self.plan(index, isShared: isShared, pattern, hosts, fulfilled, isNamed: kind != nil)
                steps.append(Step(segment: index, isShared: isShared, plan: plan))
            }
        }
        return steps
    }

    private func run(
        _ steps: [Step],
        _ order: MatchOrder,
        _ batchLimit: Int,
        _ body: (Span<UInt32>) -> Void,
        _ finished: (Step, ScanCounts) -> Void
    ) {
        precondition(batchLimit > 0, "batches of no instance")
        // Rows of one table that are in the order of their instances need no sorting.
        let walks = steps.count { $0.plan.findsRows }
        let isAscending = steps.allSatisfy {
            !$0.plan.findsRows || self.segments[$0.segment].rows(isShared: $0.isShared).instances.isAscending
        }
        guard order == .ascending, walks > 1 || !isAscending else {
            return self.walk(steps, batchLimit, body, finished)
        }
        var sorted = AscendingUnion(bound: self.places.count, batchLimit: batchLimit)
        self.walk(steps, 4096, { sorted.add($0) }, finished)
        sorted.finish(body)
    }

    private func walk(
        _ steps: [Step],
        _ batchLimit: Int,
        _ body: (Span<UInt32>) -> Void,
        _ finished: (Step, ScanCounts) -> Void
    ) {
        for step in steps {
            var scan = RowScan(batchLimit: batchLimit, candidates: step.plan.candidates)
            if step.plan.findsRows {
                let rows = self.segments[step.segment].rows(isShared: step.isShared)
                scan.run(step.plan, rows.table, rows.instances, body)
            }
            finished(step, scan.counts)
        }
    }

    /// The conditions that attributes fulfil; nil where none is asked about.
    private func fulfilled(_ segments: [Int], _ attributes: Configuration?) -> [UInt32]? {
        guard let attributes, let first = segments.first(where: { self.segments[$0].conditionField != nil }),
            let conditions = self.conditionsByApp[self.segments[first].app]
        else { return nil }
        return self.conditions[conditions].matches(attributes)
    }

    private func plan(
        _ segment: Int,
        isShared: Bool,
        _ pattern: MatchPattern?,
        _ hosts: some HostNaming,
        _ fulfilled: [UInt32]?,
        isNamed: Bool
    ) -> SegmentPlan {
        guard self.segments[segment].count > 0 else { return SegmentPlan(path: .nothing, candidates: 0) }
        var check =
            pattern.map { self.segments[segment].check($0, hosts, isShared: isShared, isNamed: isNamed) } ?? .always
        if let fulfilled {
            check = .joining([check, self.segments[segment].check(conditions: fulfilled)])
        }
        return self.segments[segment].plan(check, isShared: isShared)
    }

    private func segments(_ app: BundleID, _ kind: WidgetKind?) -> [Int] {
        guard let kind else { return self.segmentsByApp[app] ?? [] }
        return [false, true].compactMap { self.segment(app, kind, isConditional: $0) }
    }

    /// Bytes of memory held, allocators' overhead not counted.
    package var byteCount: Int {
        self.segments.reduce(self.places.byteCount + self.rows.byteCount) { $0 + $1.byteCount }
            + self.conditions.reduce(0) { $0 + $1.byteCount }
    }

    // MARK: Invariants

    /// What is wrong with the index; empty if nothing. O(everything).
    package func checkInvariants() -> [String] {
        var faults = self.segments.flatMap { $0.checkInvariants() }
        faults += self.conditions.flatMap { $0.checkInvariants() }
        var placed = 0
        for instance in 0..<self.places.count where self.places[instance] != 0 && self.rows[instance] != Self.silent {
            placed += 1
            let isShared = self.rows[instance] & KindSegment.sharedFlag != 0
            let instances = self.segments[Int(self.places[instance]) - 1].rows(isShared: isShared).instances
            let row = Int(self.rows[instance] & ~KindSegment.sharedFlag)
            if row >= instances.count || instances[row] != instance {
                faults.append("instance \(instance) is not where it should be")
            }
        }
        let count = self.segments.reduce(0) { $0 + $1.count }
        if count != placed { faults.append("\(count) rows for \(placed) instances") }
        return faults
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

package import WidgetModel

/// Finds the widget instances that a push is about.
///
/// A segment per kind of an app holds its instances in columns of value codes, and for each value the rows that have it.
/// A query walks the shortest list that all its matches are on and verifies the other conditions on the columns; a query
/// without such a list walks all rows. What matches is defined by ``MatchPattern/matches(_:)``.
///
/// The caller numbers the instances, densely: memory grows with the highest number. Everything is a pure function of the
/// calls made.
package struct IntentIndex: Sendable {
    /// Where an instance is.
    private struct Place: Sendable {
        static let nowhere = Place(segment: .max, row: .max)

        let segment: UInt32
        /// `.max` for an instance that pushes do not reach: it is known, but in no segment's rows.
        let row: UInt32
    }

    private struct SegmentKey: Hashable {
        let app: BundleID
        let kind: WidgetKind
    }

    private var segments: [KindSegment] = []
    private var segmentByKey: [SegmentKey: Int] = [:]
    /// The segments of an app in the order in which they came.
    private var segmentsByApp: [BundleID: [Int]] = [:]
    private var places: [Place] = []

    package init() {}

    // MARK: Changing

    /// Tells the index a kind's parameters, again after each change of them.
    ///
    /// Needed for queries that name no kind: a kind that lacks a parameter does not match a condition on it, not even
    /// `{"exists": false}`. Of a kind that was never declared the parameters are those that some instance has had.
    package mutating func declare(_ schema: KindSchema, app: BundleID) {
        self.segments[self.segment(app, schema.kind)].schema = schema
    }

    /// Adds an instance, or replaces what was known of it. Amortised O(parameters).
    ///
    /// - Parameters:
    ///   - instance: The caller's number; free again after ``remove(_:)``. Below `UInt32.max`.
    ///   - app: Its app.
    ///   - kind: Its kind.
    ///   - family: What `$family` matches.
    ///   - host: What `$host` matches.
    ///   - tags: What `$tags` matches.
    ///   - configuration: Its parameters, defaults filled in.
    ///   - pushEnabled: Whether pushes reach it; if not, it matches nothing.
    package mutating func insert(
        _ instance: UInt32,
        app: BundleID,
        kind: WidgetKind,
        family: WidgetFamily,
        host: HostID,
        tags: [String],
        configuration: Configuration,
        pushEnabled: Bool
    ) {
        precondition(instance < KindSegment.dead, "an instance number is the mark of a dead row")
        self.remove(instance)
        while self.places.count <= Int(instance) { self.places.append(.nowhere) }
        let segment = self.segment(app, kind)
        let row =
            pushEnabled
            ? self.segments[segment].append(
                instance,
                family: family,
                host: host,
                tags: tags,
                configuration: configuration
            ) : UInt32.max
        self.places[Int(instance)] = Place(segment: UInt32(segment), row: row)
    }

    /// Forgets an instance, if it is known. Amortised O(parameters).
    package mutating func remove(_ instance: UInt32) {
        guard Int(instance) < self.places.count else { return }
        let place = self.places[Int(instance)]
        self.places[Int(instance)] = .nowhere
        guard place.segment != .max, place.row != .max else { return }
        let segment = Int(place.segment)
        self.segments[segment].kill(place.row)
        guard self.segments[segment].isCompactionDue else { return }
        self.segments[segment].compact()
        for (row, instance) in self.segments[segment].instances.enumerated() {
            self.places[Int(instance)] = Place(segment: place.segment, row: UInt32(row))
        }
    }

    private mutating func segment(_ app: BundleID, _ kind: WidgetKind) -> Int {
        let key = SegmentKey(app: app, kind: kind)
        if let index = self.segmentByKey[key] { return index }
        let index = self.segments.count
        self.segments.append(KindSegment(app: app, kind: kind))
        self.segmentByKey[key] = index
        self.segmentsByApp[app, default: []].append(index)
        return index
    }

    // MARK: Asking

    /// The instances that pushes reach, of one kind or of all kinds of an app.
    package func count(app: BundleID, kind: WidgetKind? = nil) -> Int {
        self.segments(app, kind).reduce(0) { $0 + self.segments[$1].liveCount }
    }

    /// Hands over every instance that matches, each once, in batches.
    ///
    /// The order is a function of the calls made so far. The index must not change meanwhile; the spans are valid only
    /// during the call of `body`.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - kind: The kind, or nil for all kinds of the app.
    ///   - pattern: The condition, or nil for none.
    ///   - batchLimit: The most instances of one batch; at least 1.
    ///   - body: Called with each batch; none is empty.
    package func matches(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        batchLimit: Int,
        _ body: (Span<UInt32>) -> Void
    ) {
        precondition(batchLimit > 0, "batches of no instance")
        for index in self.segments(app, kind) {
            let plan = self.plan(index, pattern, isNamed: kind != nil)
            guard !plan.passes.isEmpty else { continue }
            var scan = RowScan(batchLimit: batchLimit, candidates: plan.candidates)
            for pass in plan.passes { scan.run(pass, in: self.segments[index], body) }
            scan.finish(body)
        }
    }

    /// How the index would answer, a plan for each kind in question.
    package func explain(app: BundleID, kind: WidgetKind?, pattern: MatchPattern?) -> [QueryPlan] {
        self.segments(app, kind).map { index in
            self.segments[index].describe(self.plan(index, pattern, isNamed: kind != nil))
        }
    }

    private func plan(_ segment: Int, _ pattern: MatchPattern?, isNamed: Bool) -> SegmentPlan {
        guard self.segments[segment].liveCount > 0 else { return SegmentPlan(passes: []) }
        let check = pattern.map { self.segments[segment].check($0, isNamed: isNamed) } ?? .always
        return self.segments[segment].plan(check)
    }

    private func segments(_ app: BundleID, _ kind: WidgetKind?) -> [Int] {
        guard let kind else { return self.segmentsByApp[app] ?? [] }
        return self.segmentByKey[SegmentKey(app: app, kind: kind)].map { [$0] } ?? []
    }

    /// Bytes of memory held, allocators' overhead not counted.
    package var byteCount: Int {
        self.segments.reduce(MemoryLayout<Place>.stride * self.places.capacity) { $0 + $1.byteCount }
    }

    // MARK: Invariants

    /// What is wrong with the index; empty if nothing. O(everything).
    package func checkInvariants() -> [String] {
        var faults = self.segments.flatMap { $0.checkInvariants() }
        var placed = 0
        for (instance, place) in self.places.enumerated() where place.segment != .max && place.row != .max {
            placed += 1
            let instances = self.segments[Int(place.segment)].instances
            if Int(place.row) >= instances.count || instances[Int(place.row)] != instance {
                faults.append("instance \(instance) is not where it should be")
            }
        }
        let live = self.segments.reduce(0) { $0 + $1.liveCount }
        if live != placed { faults.append("\(live) rows live for \(placed) instances") }
        return faults
    }
}

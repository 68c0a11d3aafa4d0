import BasicContainers
import Storage
package import WidgetModel

/// Finds the widget instances that a push is about.
///
/// A segment per kind of an app has its instances in columns of value codes, and for each value the rows that have it.
/// A query walks the shortest list that contains all its matches and verifies the other conditions on the columns; a
/// query without a short list makes a bit for each row instead. ``MatchPattern/matches(_:)`` defines a match.
///
/// Every change takes effect at once and none waits for a rebuild: the longest steps move a few thousand bytes.
///
/// The caller numbers the instances and their hosts, both densely: memory grows with the highest number. Everything is
/// a pure function of the calls made.
package struct IntentIndex: ~Copyable, Sendable {
    /// The row of an instance that pushes do not reach: it is known, but in no segment's rows.
    static let silent = UInt32.max

    struct SegmentKey: Hashable {
        let app: BundleID
        let kind: WidgetKind
        /// Whether its instances have a `when`.
        let isConditional: Bool
    }

    var segments = UniqueArray<KindSegment>()
    private(set) var segmentByKey: [SegmentKey: Int] = [:]
    /// The instances' conditions, by app.
    private(set) var conditions = UniqueArray<SubscriptionIndex>()
    private(set) var conditionsByApp: [BundleID: Int] = [:]
    /// Whether there are no lists yet, see ``startLoading()``.
    package private(set) var isLoading = false
    /// Whether lists wait for ``finishChanges()``, and the segments in which some do.
    private(set) var isChanging = false
    private var changed: [Int] = []
    /// The index of the segment that was changed last.
    private var recent = 0
    /// The segments of an app in the order in which they came.
    private(set) var segmentsByApp: [BundleID: [Int]] = [:]
    /// By instance: its segment's index plus one, 0 if it is not known.
    var places = PackedIntegers()
    /// By instance: its row in the segment.
    var rows = Column<UInt32>()

    /// No instances.
    package init() {}

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
            self.segments[self.findOrMakeSegment(app, schema.kind, isConditional: isConditional)].schema = schema
        }
    }

    /// Adds an instance, or replaces its data. O(parameters).
    ///
    /// - Parameters:
    ///   - instance: The caller's number; free again after ``remove(_:)``. Not none.
    ///   - app: Its app.
    ///   - kind: Its kind.
    ///   - family: The family for `$family`.
    ///   - host: The caller's number of its host, whose id `$host` matches; free for another host once it has no
    ///     instance here.
    ///   - tags: The tags for `$tags`.
    ///   - configuration: Its parameters, defaults filled in.
    ///   - when: The condition on a push's attributes, or nil if every push may reach it.
    ///   - pushEnabled: Whether pushes reach it; if not, it matches nothing.
    package mutating func insert(
        _ instance: InstanceNumber,
        app: BundleID,
        kind: WidgetKind,
        family: WidgetFamily,
        host: HostNumber,
        tags: [String],
        configuration: Configuration,
        when: MatchPattern? = nil,
        pushEnabled: Bool
    ) {
        self.makeRoom(for: instance)
        let when = pushEnabled ? when : nil
        let segment = self.findOrMakeSegment(app, kind, isConditional: when != nil)
        var attributes = InstanceAttributes(family: family, host: host, tags: tags, configuration: configuration)
        let conditions = when == nil ? 0 : self.conditions(of: app)
        if let when { attributes.condition = self.conditions[conditions].insert(when) }
        let row = self.rows[instance.index]
        if pushEnabled, Int(self.places[instance.index]) == segment + 1, row != Self.silent {
            let old = when == nil ? nil : self.segments[segment].condition(of: row)
            self.segments[segment].update(row, attributes, waits: self.isChanging)
            if self.isChanging, self.changed.last != segment { self.changed.append(segment) }
            if let old { self.conditions[conditions].release(old) }
            return
        }
        if self.places[instance.index] != 0 { self.remove(instance) }
        self.places[instance.index] = UInt32(segment + 1)
        self.rows[instance.index] =
            pushEnabled ? self.segments[segment].append(instance, attributes) : Self.silent
    }

    mutating func makeRoom(for instance: InstanceNumber) {
        precondition(!instance.isNone, "no instance")
        guard instance.index >= self.places.count else { return }
        self.places.append(repeating: 0, count: instance.index + 1 - self.places.count)
        self.rows.extend(to: instance.index, repeating: 0)
    }

    /// Delays the lists of rows by value until ``finishChanges()``, which gets the memory for all changes at once. For
    /// a few dozen instances that are registered again together. Precondition: no question is asked meanwhile.
    package mutating func startChanges() { self.isChanging = true }

    /// Brings the lists up to date.
    package mutating func finishChanges() {
        self.isChanging = false
        for index in self.changed.indices { self.segments[self.changed[index]].finishChanges() }
        self.changed.removeAll(keepingCapacity: true)
    }

    /// Prefetches the data of some instances that are about to be registered again or removed: a few dozen that wait
    /// for memory together wait hardly longer than one.
    package func prefetch(_ instances: Span<InstanceNumber>) {
        for index in instances.indices {
            self.places.prefetch(instances[index].index)
            self.rows.prefetch(instances[index].index)
        }
        var rows: [UInt32] = []
        rows.reserveCapacity(instances.count)
        var last: UInt32 = 0
        for index in instances.indices {
            let instance = instances[index].index
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
    package mutating func remove(_ instance: InstanceNumber) {
        guard instance.index < self.places.count, self.places[instance.index] != 0 else { return }
        let segment = Int(self.places[instance.index]) - 1
        let row = self.rows[instance.index]
        self.places[instance.index] = 0
        guard row != Self.silent else { return }
        if self.conditions.count > 0, let condition = self.segments[segment].condition(of: row) {
            let conditions = self.conditions(of: self.segments[segment].app)
            self.conditions[conditions].release(condition)
        }
        if let moved = self.segments[segment].remove(row) { self.rows[moved.index] = row }
    }

    /// Omits the lists of rows by value from now on, and builds them all at once in ``finishLoading()``: half the work
    /// for many instances. Does nothing unless the index is empty.
    ///
    /// Every change and every question works meanwhile, questions by looking at every row.
    package mutating func startLoading() {
        guard !self.isLoading, self.segments.indices.allSatisfy({ self.segments[$0].count == 0 }) else { return }
        self.isLoading = true
        for index in self.segments.indices { self.segments[index].startLoading() }
    }

    /// Builds the lists that ``startLoading()`` omitted. O(instances).
    package mutating func finishLoading() {
        guard self.isLoading else { return }
        self.isLoading = false
        for index in self.segments.indices { self.segments[index].finishLoading() }
    }

    /// The segment of a kind, new if there is none yet.
    mutating func findOrMakeSegment(_ app: BundleID, _ kind: WidgetKind, isConditional: Bool) -> Int {
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
        var segment = KindSegment(app: key.app, kind: key.kind, isConditional: key.isConditional)
        let plain = SegmentKey(app: key.app, kind: key.kind, isConditional: false)
        if key.isConditional, let plain = self.segmentByKey[plain] {
            segment.schema = self.segments[plain].schema
        }
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

    /// Bytes of memory held, by purpose, allocators' overhead not counted. O(fields of all kinds).
    package var bytes: (columns: Int, lists: Int, values: Int, conditions: Int) {
        var bytes = (columns: self.places.byteCount + self.rows.byteCount, lists: 0, values: 0, conditions: 0)
        for index in self.segments.indices {
            bytes.columns += self.segments[index].columnByteCount
            bytes.lists += self.segments[index].listByteCount
            bytes.values += self.segments[index].valueByteCount
        }
        for index in self.conditions.indices { bytes.conditions += self.conditions[index].byteCount }
        return bytes
    }

    /// Bytes of memory held, allocators' overhead not counted.
    package var byteCount: Int {
        let bytes = self.bytes
        return bytes.columns + bytes.lists + bytes.values + bytes.conditions
    }

    // MARK: Invariants

    /// The violated invariants of the index; empty if there are none. O(everything).
    package func checkInvariants() -> [String] {
        var faults: [String] = []
        var count = 0
        for index in self.segments.indices {
            faults += self.segments[index].checkInvariants()
            count += self.segments[index].count
        }
        for index in self.conditions.indices { faults += self.conditions[index].checkInvariants() }
        var placed = 0
        for instance in 0..<self.places.count where self.places[instance] != 0 && self.rows[instance] != Self.silent {
            placed += 1
            if self.segments[Int(self.places[instance]) - 1].instance(of: self.rows[instance])?.index != instance {
                faults.append("instance \(instance) is not where it should be")
            }
        }
        if count != placed { faults.append("\(count) rows for \(placed) instances") }
        return faults
    }
}

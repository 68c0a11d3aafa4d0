import Storage
import WidgetModel

/// The outcomes of every push: a row with a count for each outcome.
///
/// Rows of complete pushes are kept for questions, in the order in which they completed, within the limits.
struct PushTable: ~Copyable, Sendable {
    /// The time of completion in a row whose push was evicted.
    private static let evicted = Instant.distantPast

    struct Row: Sendable {
        let id: PushID
        let team: TeamNumber
        /// The app that it is for; none if that is not configured here.
        let app: AppNumber
        let priority: Priority
        /// Whether matching goes on; an open push is never complete.
        var isOpen = true
        /// Whether it is for an app: every partition applies one like it.
        var isForApp = false
        /// Why it was decided for no instance, if it was not.
        var failure: PushFailure?
        let contentHash: UInt64
        let position: LogPosition
        let acceptedAt: Instant
        let expiresAt: Instant
        /// `Instant.epoch` if there is none.
        let notBefore: Instant
        let hasCollapseID: Bool
        var completedAt = Instant.epoch
        var matched: UInt32 = 0
        var repeats: UInt32 = 0
        /// By ``PushOutcome``, and of those that failed by ``FailureReason``: as many as there are cases.
        var counts = InlineArray<11, UInt32>(repeating: 0)
        var failures = InlineArray<3, UInt32>(repeating: 0)
        /// The neighbours among the complete ones.
        var next = PushNumber.none
        var previous = PushNumber.none

        var isComplete: Bool {
            !self.isOpen && self.counts[Int(PushOutcome.deferred.rawValue)] == 0
                && self.counts[Int(PushOutcome.issued.rawValue)] == 0
        }
    }

    private(set) var rows = Table<NumberTag.Push, Row>()
    /// Beside the rows, since few pushes have one: a row that refers to nothing is copied and dropped for nothing.
    private var collapseIDs: [PushNumber: [UInt8]] = [:]
    private var index = SlotIndex()
    private(set) var sums = Sums()
    private(set) var recent = RecentPushes()
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Bytes of memory held, without the bytes of collapse ids.
    var byteCount: Int {
        self.rows.byteCount + self.index.byteCount + self.collapseIDs.heldBytes + self.recent.byteCount
    }

    /// The sums beside the rows.
    struct Sums: Sendable {
        var complete = (first: PushNumber.none, last: PushNumber.none)
        var completeCount = 0
        /// Totals over all pushes ever, evicted ones included.
        var matched = 0
        var totals = InlineArray<11, Int>(repeating: 0)
        var failures = InlineArray<3, Int>(repeating: 0)
    }

    /// The table of rows that were read back. O(rows).
    ///
    /// - Parameters:
    ///   - seed: As for an empty one.
    ///   - rows: The rows.
    ///   - collapseIDs: Those of the rows that have one.
    ///   - sums: The rest.
    init(seed: UInt64, rows: consuming Table<NumberTag.Push, Row>, collapseIDs: [PushNumber: [UInt8]], sums: Sums) {
        self.seed = seed
        self.rows = rows
        self.collapseIDs = collapseIDs
        self.sums = sums
        for slot in self.rows.usedNumbers() { self.index.insert(slot, self.hash(self.rows[slot].id)) }
        self.relist()
    }

    var count: Int { self.rows.count }
    var incompleteCount: Int { self.count - self.sums.completeCount }

    @inline(__always)
    subscript(push: PushNumber) -> Row {
        _read { yield self.rows[push] }
    }

    @inline(__always)
    private func hash(_ id: PushID) -> UInt64 { SeededHash.of(id.high, id.low, seed: self.seed) }

    /// Fetches where an id is or goes.
    @inline(__always)
    func prefetch(_ id: PushID) { self.index.prefetch(self.hash(id)) }

    /// Opens a row for a push that was just accepted; ``close(_:at:)`` it when matching is over.
    mutating func open(_ row: consuming Row, collapseID: ArraySlice<UInt8>) -> PushNumber {
        let hash = self.hash(row.id)
        let position = row.position
        let slot = self.rows.insert(row)
        self.recent.append(slot, at: position)
        if !collapseID.isEmpty { self.collapseIDs[slot] = Array(collapseID) }
        self.index.insert(slot, hash)
        return slot
    }

    /// Notes why an open push is decided for no instance; ``close(_:at:)`` it then as any other.
    mutating func fail(_ push: PushNumber, _ failure: PushFailure) { self.rows[push].failure = failure }

    /// Ends the matching of an open push.
    mutating func close(_ push: PushNumber, at now: Instant) {
        precondition(self.rows[push].isOpen, "a push is closed twice")
        self.rows[push].isOpen = false
        if self.rows[push].isComplete { self.appendComplete(push, at: now) }
    }

    /// Counts one more match, which starts with this outcome.
    @inline(__always)
    mutating func countMatch(of push: PushNumber, as outcome: PushOutcome) {
        let outcome = Int(outcome.rawValue)
        self.rows[push].matched += 1
        self.rows[push].counts[outcome] += 1
        self.sums.matched += 1
        self.sums.totals[outcome] += 1
    }

    /// An instance's push goes from one outcome to the next.
    @inline(__always)
    mutating func moveOutcome(of push: PushNumber, from old: PushOutcome, to new: PushOutcome, at now: Instant) {
        // A push that is complete stays so: it is listed once.
        precondition(!old.isFinal, "an outcome after a final one")
        let (old, newIndex) = (Int(old.rawValue), Int(new.rawValue))
        precondition(self.rows[push].counts[old] > 0, "an outcome is taken back that was not counted")
        self.rows[push].counts[old] -= 1
        self.rows[push].counts[newIndex] += 1
        self.sums.totals[old] -= 1
        self.sums.totals[newIndex] += 1
        if new.isFinal, self.rows[push].isComplete { self.appendComplete(push, at: now) }
    }

    mutating func countFailure(of push: PushNumber, _ reason: FailureReason) {
        self.rows[push].failures[Int(reason.rawValue)] += 1
        self.sums.failures[Int(reason.rawValue)] += 1
    }

    /// Counts a repeat of a push, if the push is still here; of several that are equal the newest has it.
    mutating func countRepeat(of id: PushID, team: TeamNumber, contentHash: UInt64) {
        var found: PushNumber?
        _ = self.index.find(self.hash(id)) { (slot: PushNumber) in
            let row = self.rows[slot]
            guard row.id == id, row.team == team, row.contentHash == contentHash else { return false }
            if found.map({ self.rows[$0].position < row.position }) ?? true { found = slot }
            return false
        }
        if let found { self.rows[found].repeats += 1 }
    }

    private mutating func appendComplete(_ push: PushNumber, at now: Instant) {
        self.rows[push].completedAt = now
        self.rows[push].previous = self.sums.complete.last
        if self.sums.complete.last.isNone {
            self.sums.complete.first = push
        } else {
            self.rows[self.sums.complete.last].next = push
        }
        self.sums.complete.last = push
        self.sums.completeCount += 1
    }

    /// Forgets the pushes that completed first: those above `max`, and those that completed before `instant`.
    ///
    /// - Parameter pushes: How many at most; afterwards, how many of them are left.
    mutating func evict(above max: Int, completedBefore instant: Instant, atMost pushes: inout Int) {
        while pushes > 0, !self.sums.complete.first.isNone {
            let slot = self.sums.complete.first
            guard self.sums.completeCount > max || self.rows[slot].completedAt < instant else { return }
            pushes -= 1
            let next = self.rows[slot].next
            self.sums.complete.first = next
            if next.isNone { self.sums.complete.last = .none } else { self.rows[next].previous = .none }
            self.sums.completeCount -= 1
            self.index.remove(slot, self.hash(self.rows[slot].id))
            if self.rows[slot].hasCollapseID { self.collapseIDs[slot] = nil }
            self.rows[slot].completedAt = Self.evicted
            self.rows.release(slot)
        }
    }

    /// A row whose push has completed and is kept; nil if it is no such row, or was never given out.
    func keptComplete(_ push: PushNumber) -> Row? {
        guard !push.isNone, push.index < self.rows.end else { return nil }
        let row = self.rows[push]
        return row.isComplete && row.completedAt != Self.evicted ? row : nil
    }

    /// The push that was accepted as the `number`th, if it is listed and still kept.
    func listed(_ number: UInt64) -> PushNumber? {
        guard let entry = self.recent[number] else { return nil }
        let row = self.rows[entry.slot]
        return row.position == entry.position && row.completedAt != Self.evicted ? entry.slot : nil
    }

    /// Lists the kept pushes in the order of positions, after rows were filled from elsewhere. O(rows log rows).
    private mutating func relist() {
        self.recent = RecentPushes()
        let slots = self.rows.usedNumbers().sorted { (self.rows[$0].position, $0) < (self.rows[$1].position, $1) }
        for slot in slots.suffix(RecentPushes.capacity) { self.recent.append(slot, at: self.rows[slot].position) }
    }

    /// The collapse id of a push, empty if it has none.
    func collapseID(of push: PushNumber) -> [UInt8] {
        self.rows[push].hasCollapseID ? self.collapseIDs[push] ?? [] : []
    }

    /// The rows of a push's id, of one team or of any, sorted by position: several if content or target differed.
    func find(_ id: PushID, team: TeamNumber? = nil) -> [PushNumber] {
        var found: [PushNumber] = []
        _ = self.index.find(self.hash(id)) { (slot: PushNumber) in
            if self.rows[slot].id == id, team == nil || self.rows[slot].team == team { found.append(slot) }
            return false
        }
        return found.sorted { (self.rows[$0].position, $0) < (self.rows[$1].position, $1) }
    }
}

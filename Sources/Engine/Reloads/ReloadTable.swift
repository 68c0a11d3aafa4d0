import Storage
import Timelines
import WidgetModel

/// The reloads that were issued and whose end is not known yet; each instance threads its own, oldest first.
///
/// Fields that only reloads for pushes have are kept apart from the rest.
struct ReloadTable: ~Copyable, Sendable {
    /// The fields of every reload: one line of memory.
    struct Row: Sendable {
        let instance: InstanceNumber
        var next = ReloadNumber.none
        /// Where it was issued: unique among the reloads of an instance, and rising along their list.
        let position: LogPosition
        let issuedAt: Instant
        var expiresAt: Instant
        let causes: ReloadCauses
        let exemption: Exemption?
        /// The instance's generation when the reload was issued.
        let generation: UInt32
        /// The window that the reload is charged in.
        let window: BudgetWindow
        /// The number of its ``Served``, none if it has nothing of that.
        fileprivate(set) var served = Number<Served>.none
        /// Its part in a push that another instance made go out; nil for a decision of its own.
        var collateral: Collateral?
        /// Whether its window counts it.
        let isCounted: Bool
        /// Whether it also counts against the pushes' share of that window.
        let isPush: Bool
        /// Whether it is one of several that a push to their token brings.
        var sharesToken = false
    }

    /// The fields of a reload that pushes made happen, or that serves some.
    struct Served: SideRow {
        /// The pushes that it serves.
        var pushes = MatchList()
        /// The match of the push that made the reload happen; none if something else did.
        var primary = MatchNumber.none
        /// The push named in the effect.
        var push: PushID?
        /// The state of content that the reload brings, as far as senders told.
        var digest: ContentDigest?

        var isBlank: Bool {
            self.pushes.count == 0 && self.primary.isNone && self.push == nil && self.digest == nil
        }
    }

    /// A whole reload: its row, and the fields that lie apart.
    @dynamicMemberLookup
    struct Whole: Sendable {
        var row: Row
        var served = Served()

        @inline(__always)
        subscript<Value>(dynamicMember member: KeyPath<Row, Value>) -> Value { self.row[keyPath: member] }

        @inline(__always)
        subscript<Value>(dynamicMember member: KeyPath<Served, Value>) -> Value { self.served[keyPath: member] }
    }

    private(set) var rows = Table<NumberTag.Reload, Row>()
    private(set) var served = SideTable<Served>()

    /// No reloads.
    init() {}

    /// Room for reloads that are read back, see ``restore(_:_:)``.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - reloads: About how many will come.
    init(free: [ReloadNumber], expecting reloads: Int) {
        self.rows = Table(free: free, expecting: reloads)
    }

    /// Bytes of memory held.
    var byteCount: Int { self.rows.byteCount + self.served.byteCount }

    /// A whole reload. ``subscript(row:)`` reads the fields of every reload, and copies no others.
    subscript(slot: ReloadNumber) -> Whole {
        let row = self.rows[slot]
        return Whole(row: row, served: self.served[row.served])
    }

    @inline(__always)
    subscript(row slot: ReloadNumber) -> Row {
        _read { yield self.rows[slot] }
    }

    /// Threads a reload before another one of its instance.
    mutating func link(_ slot: ReloadNumber, to next: ReloadNumber) { self.rows[slot].next = next }

    mutating func insert(_ reload: Whole) -> ReloadNumber { self.rows.insert(self.keepServed(of: reload)) }

    /// Keeps the fields that lie apart.
    ///
    /// - Returns: The row, which knows where.
    private mutating func keepServed(of reload: Whole) -> Row {
        var row = reload.row
        row.served = self.served.keep(reload.served)
        return row
    }

    mutating func release(_ slot: ReloadNumber) {
        self.served.release(self.rows[slot].served)
        self.rows.release(slot)
    }

    /// Takes back a reload under its number. They come in the order of their numbers.
    mutating func restore(_ slot: ReloadNumber, _ reload: Whole) {
        self.rows.restore(slot, self.keepServed(of: reload), blank: .blank)
    }

    /// Frees the number of a reload that the reader leaves out, because it does not read its host.
    mutating func leaveOut(_ slot: ReloadNumber) { self.rows.release(slot) }

    /// Makes the table as long as it was, once its last row was taken back.
    mutating func finishRestoring(end: Int) { self.rows.finishRestoring(end: end, blank: .blank) }
}

extension ReloadTable.Row {
    /// The row of a free number.
    static let blank = ReloadTable.Row(
        instance: .none,
        position: .start,
        issuedAt: .epoch,
        expiresAt: .epoch,
        causes: ReloadCauses(rawValue: 0),
        exemption: nil,
        generation: 0,
        window: BudgetWindow(start: .epoch, length: .day),
        isCounted: false,
        isPush: false
    )
}

/// A digest of content in its sender's namespace.
struct ContentDigest: Hashable, Sendable {
    let team: TeamNumber
    let bytes: [UInt8]
}

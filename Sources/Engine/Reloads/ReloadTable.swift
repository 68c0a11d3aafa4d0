import Storage
import Timelines
import WidgetModel

/// The reloads that were issued and whose end is not known yet; each instance threads its own, oldest first.
///
/// Fields that only reloads for pushes have are kept apart from the rest.
struct ReloadTable: ~Copyable, Sendable {
    /// A reload whole.
    struct Row: Sendable {
        let instance: InstanceNumber
        var next = ReloadNumber.none
        let position: LogPosition
        let issuedAt: Instant
        var expiresAt: Instant
        let causes: ReloadCauses
        let exemption: Exemption?
        /// The instance's generation when the reload was issued.
        let generation: UInt32
        /// The window that the reload is charged in, and whether it counts there, and against the pushes' share.
        let window: BudgetWindow
        let isCounted: Bool
        let isPush: Bool
        /// The pushes that it serves.
        let pushes: CauseList
        /// The node of the push that made the reload happen; none if something else did.
        let primary: CauseNumber
        /// The push named in the effect.
        let push: PushID?
        /// The state of content that the reload brings, as far as senders told.
        let digest: ContentDigest?
        /// Its part in a push that another instance made go out; nil for a decision of its own.
        var collateral: Collateral?
        /// Whether it is one of several that a push to their token brings.
        var sharesToken = false
    }

    /// The fields of every reload.
    struct Stored: Sendable {
        let instance: InstanceNumber
        var next: ReloadNumber
        let position: LogPosition
        let issuedAt: Instant
        let expiresAt: Instant
        let window: BudgetWindow
        let generation: UInt32
        /// The number of its ``Served``, none if it has nothing of that.
        let served: Number<ReloadTable.Served>
        let causes: ReloadCauses
        let exemption: Exemption?
        let collateral: Collateral?
        let isCounted: Bool
        let isPush: Bool
        let sharesToken: Bool
    }

    /// The fields of a reload that pushes made happen, or that serves some.
    struct Served: SideRow {
        var pushes = CauseList()
        var primary = CauseNumber.none
        var push: PushID?
        var digest: ContentDigest?

        init() {}

        init(_ row: Row) {
            self.pushes = row.pushes
            self.primary = row.primary
            self.push = row.push
            self.digest = row.digest
        }

        var isBlank: Bool {
            self.pushes.count == 0 && self.primary.isNone && self.push == nil && self.digest == nil
        }
    }

    private(set) var rows = Table<NumberTag.Reload, Stored>()
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

    /// A whole reload. ``subscript(stored:)`` reads one field that all reloads have.
    subscript(slot: ReloadNumber) -> Row {
        let stored = self.rows[slot]
        return Row(stored, self.served[stored.served])
    }

    @inline(__always)
    subscript(stored slot: ReloadNumber) -> Stored {
        _read { yield self.rows[slot] }
    }

    /// Threads a reload before another one of its instance.
    mutating func link(_ slot: ReloadNumber, to next: ReloadNumber) { self.rows[slot].next = next }

    mutating func insert(_ row: Row) -> ReloadNumber {
        let served = self.served.keep(Served(row))
        return self.rows.insert(Stored(row, served: served))
    }

    mutating func release(_ slot: ReloadNumber) {
        self.served.release(self.rows[slot].served)
        self.rows.release(slot)
    }

    /// Takes back a reload under its number. They come in the order of their numbers.
    mutating func restore(_ slot: ReloadNumber, _ row: Row) {
        let served = self.served.keep(Served(row))
        self.rows.restore(slot, Stored(row, served: served), blank: .blank)
    }

    /// Gives back the number of a reload that is left out.
    mutating func leaveOut(_ slot: ReloadNumber) { self.rows.release(slot) }

    /// Makes the table as long as it was, once its last row was taken back.
    mutating func finishRestoring(end: Int) { self.rows.finishRestoring(end: end, blank: .blank) }
}

extension ReloadTable.Row {
    fileprivate init(_ stored: ReloadTable.Stored, _ served: ReloadTable.Served) {
        self.init(
            instance: stored.instance,
            next: stored.next,
            position: stored.position,
            issuedAt: stored.issuedAt,
            expiresAt: stored.expiresAt,
            causes: stored.causes,
            exemption: stored.exemption,
            generation: stored.generation,
            window: stored.window,
            isCounted: stored.isCounted,
            isPush: stored.isPush,
            pushes: served.pushes,
            primary: served.primary,
            push: served.push,
            digest: served.digest,
            collateral: stored.collateral,
            sharesToken: stored.sharesToken
        )
    }

    /// Any reload.
    static let blank = ReloadTable.Row(.blank, ReloadTable.Served())
}

extension ReloadTable.Stored {
    fileprivate init(_ row: ReloadTable.Row, served: Number<ReloadTable.Served>) {
        self.init(
            instance: row.instance,
            next: row.next,
            position: row.position,
            issuedAt: row.issuedAt,
            expiresAt: row.expiresAt,
            window: row.window,
            generation: row.generation,
            served: served,
            causes: row.causes,
            exemption: row.exemption,
            collateral: row.collateral,
            isCounted: row.isCounted,
            isPush: row.isPush,
            sharesToken: row.sharesToken
        )
    }

    /// The row of a free number.
    static let blank = ReloadTable.Stored(
        instance: .none,
        next: .none,
        position: .start,
        issuedAt: .epoch,
        expiresAt: .epoch,
        window: BudgetWindow(start: .epoch, length: .day),
        generation: 0,
        served: .none,
        causes: ReloadCauses(rawValue: 0),
        exemption: nil,
        collateral: nil,
        isCounted: false,
        isPush: false,
        sharesToken: false
    )
}

/// A digest of content in its sender's namespace.
struct ContentDigest: Hashable, Sendable {
    let team: TeamNumber
    let bytes: [UInt8]
}

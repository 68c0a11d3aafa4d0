import Timelines
import WidgetModel

/// The reloads that were issued and of whose end nothing is known yet; each instance threads its own, oldest first.
struct ReloadTable: Sendable {
    static let none = Slab<Row>.none

    struct Row: Sendable {
        let instance: UInt32
        var next = ReloadTable.none
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
        let primary: UInt32
        /// The push named in the effect.
        let push: PushID?
        /// The state of content that the reload brings, as far as senders told.
        let digest: ContentDigest?
        /// What it is to a push that another instance made go out; nil for a decision of its own.
        var collateral: Collateral?
        /// Whether it is one of several that a push to their token brings, and whether that went out for it.
        var sharesToken = false
        var isTrigger = false
    }

    private(set) var rows = Slab<Row>()

    /// No reloads.
    init() {}

    /// Reloads that were read back.
    init(rows: Slab<Row>) {
        self.rows = rows
    }

    var count: Int { self.rows.count }

    subscript(slot: UInt32) -> Row {
        _read { yield self.rows[slot] }
        _modify { yield &self.rows[slot] }
    }

    mutating func insert(_ row: consuming Row) -> UInt32 { self.rows.insert(row) }
    mutating func release(_ slot: UInt32) { self.rows.release(slot) }
}

/// A digest of content in its sender's namespace.
struct ContentDigest: Hashable, Sendable {
    let team: UInt32
    let bytes: [UInt8]
}

import Storage
import Timelines
import WidgetModel

/// The widget instances of a partition by number: what decisions touch in one table, what they seldom need in another.
struct InstanceTable: ~Copyable, Sendable {
    /// What is known of an instance at rest, and by which number it is active: no pointer in it, so that copying costs nothing, and
    /// in an order that leaves no gap between the fields.
    struct Row: Sendable {
        let host: HostNumber
        var kind: KindNumber
        /// That of its ``ActiveRow``.
        fileprivate(set) var active: Number<ActiveRow>
        /// Counts the configurations.
        var generation: UInt32 = 0
        var flags: Flags = [.isLive, .pushEnabled]
        /// The limit of the instance's first window.
        var firstLimit: UInt16 = .max
        /// The minute at which the host's windows start under the kind's policy.
        var anchor: UInt32
        var budget = ReloadBudget()
        /// When the timeline's policy asks for the next timeline, smoothed, in milliseconds.
        var timelineDue = Int64.max
        /// The number of the last decision.
        var lastDecision = Ledger.noDecision

        /// The start of the window that was opened last, in minutes, and what it allows; see ``Engine/openWindow(of:)``.
        var windowMinute: UInt32 = 0
        var allowance: UInt16 = 0
        /// How often it was looked at as of that window's opening, and since.
        var views: UInt16 = 0
        var rate = ViewRate.typical
        /// What an operator gave on top, for the present window.
        var granted: UInt16 = 0
        var exemptReloads: UInt32 = 0
        /// Milliseconds; the window in which the instance was first added.
        var firstWindow = Int64.min
        /// Until when the user is taken to see it, in milliseconds.
        var visibleUntil = Int64.min
        /// When an `added` or `configured` reload was last not charged, in milliseconds.
        var freeSetupAt = Int64.min
        /// Where the present configuration came in.
        var configuredAt = LogPosition.start
        /// The next instance of the host in the order of ids.
        var nextOfHost = InstanceNumber.none
        /// Its ``RollingDay``, if its policy counts so and it was ever charged.
        var rollingDay = Number<RollingDay>.none
        /// Makes it two whole lines of memory, so that no row has a part in a third.
        private let padding: UInt64 = 0

        @inline(__always)
        init(host: HostNumber, kind: KindNumber, anchor: UInt32, active: Number<ActiveRow> = ActiveTable.rest) {
            self.host = host
            self.kind = kind
            self.anchor = anchor
            self.active = active
        }

        /// Whether anything waits for it or a reload is outstanding.
        @inline(__always)
        var isActive: Bool { self.active != ActiveTable.rest }
    }

    private(set) var rows = Table<NumberTag.Instance, Row>()
    private(set) var active = ActiveTable()
    private(set) var days = Table<RollingDay, RollingDay>()
    private(set) var details = InstanceDetails()

    /// An empty table.
    init() {}

    /// The table of rows that were read back; details have the numbers of their rows.
    init(
        rows: consuming Table<NumberTag.Instance, Row>,
        active: consuming ActiveTable,
        details: consuming InstanceDetails,
        days: consuming Table<RollingDay, RollingDay>
    ) {
        self.rows = rows
        self.active = active
        self.details = details
        self.days = days
    }

    /// Takes in rows that were read back, and their details.
    mutating func takeRows(
        _ rows: consuming Table<NumberTag.Instance, Row>,
        _ active: consuming ActiveTable,
        _ details: consuming InstanceDetails
    ) {
        self.rows = rows
        self.active = active
        self.details = details
    }

    /// The same instances under the same numbers. O(instances).
    func duplicate() -> InstanceTable {
        InstanceTable(
            rows: self.rows.duplicate(),
            active: self.active.duplicate(),
            details: self.details.duplicate(),
            days: self.days.duplicate()
        )
    }

    /// Rows in use, those of removed instances included.
    var count: Int { self.rows.count }
    /// All numbers are below this; some of them may be free.
    var end: Int { self.rows.end }

    @inline(__always)
    subscript(slot: InstanceNumber) -> Row {
        _read { yield self.rows[slot] }
        _modify { yield &self.rows[slot] }
    }

    /// What an instance has while it is not at rest. A change makes it active; see ``rest(_:)``.
    @inline(__always)
    subscript(active slot: InstanceNumber) -> ActiveRow {
        _read { yield self.active[self.rows[slot].active] }
        _modify {
            if !self.rows[slot].isActive { self.rows[slot].active = self.active.insert() }
            yield &self.active[self.rows[slot].active]
        }
    }

    /// Fetches the active row of an instance that has one.
    @inline(__always)
    func prefetchActive(of slot: InstanceNumber) { self.active.prefetch(self.rows[slot].active) }

    /// Gives an instance's active row back if nothing waits for it any more and no reload is outstanding.
    @inline(__always)
    mutating func rest(_ slot: InstanceNumber) {
        if self.rows[slot].isActive, self.active[self.rows[slot].active].isBlank { self.endActive(slot) }
    }

    /// Brings an instance to rest, whatever waits for it.
    mutating func endActive(_ slot: InstanceNumber) {
        self.active.release(self.rows[slot].active)
        self.rows[slot].active = ActiveTable.rest
    }

    @inline(__always)
    func id(of slot: InstanceNumber) -> InstanceID { self.details.id(of: slot) }

    @inline(__always)
    func family(of slot: InstanceNumber) -> WidgetFamily { self.details.family(of: slot) }

    @inline(__always)
    func confirmedBy(of slot: InstanceNumber) -> LogPosition { self.details.confirmedBy(of: slot) }

    mutating func setConfirmedBy(of slot: InstanceNumber, _ position: LogPosition) {
        self.details.setConfirmedBy(of: slot, position)
    }

    mutating func setFamily(of slot: InstanceNumber, _ family: WidgetFamily) {
        self.details.setFamily(of: slot, family)
    }

    @inline(__always)
    subscript(particulars slot: InstanceNumber) -> InstanceDetails.Particulars {
        _read { yield self.details[particulars: slot] }
        _modify { yield &self.details[particulars: slot] }
    }

    @inline(__always)
    subscript(content slot: InstanceNumber) -> InstanceDetails.Content {
        _read { yield self.details[content: slot] }
        _modify { yield &self.details[content: slot] }
    }

    @inline(__always)
    subscript(observed slot: InstanceNumber) -> InstanceDetails.Observed {
        _read { yield self.details[observed: slot] }
        _modify { yield &self.details[observed: slot] }
    }

    func configuration(of slot: InstanceNumber) -> Configuration { self.details.configuration(of: slot) }

    mutating func isConfigured(_ slot: InstanceNumber, as configuration: Configuration) -> Bool {
        self.details.isConfigured(slot, as: configuration)
    }

    /// See ``InstanceDetails/setConfiguration(of:)``.
    mutating func setConfiguration(of slot: InstanceNumber) { self.details.setConfiguration(of: slot) }

    mutating func setConfiguration(of slot: InstanceNumber, _ configuration: Configuration) {
        self.details.setConfiguration(of: slot, configuration)
    }

    /// Leaves an instance that is removed nothing but its id, its family and its budget's row.
    mutating func clearDetails(of slot: InstanceNumber) { self.details.clear(slot) }

    mutating func insert(_ row: Row, _ details: InstanceDetails.Row) -> InstanceNumber {
        let slot = self.rows.insert(row)
        self.details.insert(slot, details)
        return slot
    }

    mutating func release(_ slot: InstanceNumber) {
        if !self.rows[slot].rollingDay.isNone { self.days.release(self.rows[slot].rollingDay) }
        self.endActive(slot)
        // No decision is this one's any more.
        self.rows[slot].lastDecision = Ledger.noDecision
        self.rows.release(slot)
        self.details.release(slot)
    }

    /// The charges of the last 24 hours, of an instance whose policy counts them.
    func rollingDay(of slot: InstanceNumber) -> RollingDay? {
        let day = self.rows[slot].rollingDay
        return day.isNone ? nil : self.days[day]
    }

    /// Notes a charge among those of the last 24 hours.
    mutating func chargeRollingDay(of slot: InstanceNumber, at now: Instant) {
        if self.rows[slot].rollingDay.isNone {
            self.rows[slot].rollingDay = self.days.insert(RollingDay())
        }
        self.days[self.rows[slot].rollingDay].charge(at: now)
    }

    mutating func refundRollingDay(of slot: InstanceNumber, chargedAt instant: Instant) {
        guard !self.rows[slot].rollingDay.isNone else { return }
        self.days[self.rows[slot].rollingDay].refund(chargedAt: instant)
    }

    /// Every row in use, in the order of its number. O(rows).
    func usedNumbers() -> [InstanceNumber] { self.rows.usedNumbers() }
}

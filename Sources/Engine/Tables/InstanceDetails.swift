import IntentMatching
import Timelines
import WidgetModel

/// What decisions seldom need of the instances of a partition, by their number.
///
/// Every instance has a ``Row``. What only some have lies in side tables, group by group, so that a plain instance takes
/// a few dozen bytes here: one that never had a field of a group reads its defaults and takes no memory for it.
struct InstanceDetails: Sendable {
    /// What every instance has.
    struct Row: Sendable {
        let id: InstanceID
        /// The number of its configuration.
        fileprivate var configuration = ConfigurationTable.empty
        /// The numbers of its groups, if it has any.
        fileprivate var particulars = SideTable<Particulars>.none
        fileprivate var content = SideTable<Content>.none
        fileprivate var observed = SideTable<Observed>.none
        var family: WidgetFamily

        init(id: InstanceID, family: WidgetFamily) {
            self.id = id
            self.family = family
        }
    }

    /// What few registrations say.
    struct Particulars: SideRow {
        var tags: [String] = []
        var when: MatchPattern?
        var controlToken: DeviceToken?
        /// The app's environment when that token was registered last.
        var controlEnvironment = PushEnvironment.production

        var isBlank: Bool { self.tags.isEmpty && !self.isConditionOrControl }
        /// Whether there is anything beside tags.
        var isConditionOrControl: Bool {
            self.when != nil || self.controlToken != nil || self.controlEnvironment != .production
        }
    }

    /// The state of content that an instance shows, and will.
    struct Content: SideRow {
        /// As far as it is confirmed, and the reload that confirmed it.
        var confirmedDigest: ContentDigest?
        var confirmedBy = LogPosition.start
        var pendingDigest: ContentDigest?
        /// Most hosts say nothing of timelines.
        private var keptTimeline: Kept?
        /// The date of the entry that the host said it shows.
        var shownEntry: Instant?
        /// The last acknowledged reload that served pushes and of which the host has not yet said that it shows it.
        var unshown: Unshown?

        private indirect enum Kept: Sendable {
            case timeline(Shown)
        }

        var timeline: Shown? {
            get {
                guard case .timeline(let shown)? = self.keptTimeline else { return nil }
                return shown
            }
            set { self.keptTimeline = newValue.map { .timeline($0) } }
        }

        var isBlank: Bool {
            self.keptTimeline == nil && self.confirmedDigest == nil && self.pendingDigest == nil
                && self.confirmedBy == .start && self.shownEntry == nil && self.unshown == nil
        }
    }

    /// The timeline that the instance shows.
    struct Shown: Sendable {
        let timeline: Timeline
        let receivedAt: Instant
        let findings: [TimelineFinding]
        /// How many timelines in a row had its digest, itself included.
        let equalDigests: Int
    }

    /// News that has come to the host and is still to be seen.
    struct Unshown: Sendable {
        /// Where the reload was issued.
        let position: LogPosition
        /// When the oldest push that it serves was accepted.
        let acceptedAt: Instant
    }

    /// What happened to an instance beside the reloads that it was given.
    struct Observed: SideRow {
        /// When it was last looked at, and when the system last reloaded it by itself, in milliseconds.
        var viewedAt = Int64.min
        var systemChangeAt = Int64.min
        /// When a reload that the host does by itself, or after a push to its token, was booked without a report of it,
        /// in milliseconds; `.min` if none is awaited.
        var awaitsReport = Int64.min
        /// Whether it reloads when it is next looked at.
        var awaitsLook = false
        var observedReloads: UInt32 = 0
        /// Reloads that pushes for other instances with the same token brought, within the budget and beyond it.
        var collateralReloads: UInt32 = 0
        var collateralOverReloads: UInt32 = 0

        var isBlank: Bool {
            self.viewedAt == .min && self.systemChangeAt == .min && self.awaitsReport == .min && !self.awaitsLook
                && self.observedReloads == 0 && self.collateralReloads == 0 && self.collateralOverReloads == 0
        }
    }

    /// All of one instance but its configuration, as it is written and read: nil is a group that has nothing.
    struct Whole {
        var row: Row
        var particulars: Particulars?
        var content: Content?
        var observed: Observed?
    }

    private var rows = Slab<Row>()
    private(set) var configurations = ConfigurationTable()
    private(set) var particulars = SideTable<Particulars>()
    private(set) var content = SideTable<Content>()
    private(set) var observed = SideTable<Observed>()

    /// No rows.
    init() {}

    /// Room for rows that are read back, see ``restore(_:_:)``.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - rows: About how many rows will come.
    init(free: [UInt32], expecting rows: Int) {
        self.rows = Slab(free: free, expecting: rows)
    }

    @inline(__always)
    subscript(slot: UInt32) -> Row {
        _read { yield self.rows[slot] }
        _modify { yield &self.rows[slot] }
    }

    @inline(__always)
    subscript(particulars slot: UInt32) -> Particulars {
        _read { yield self.particulars[self.rows[slot].particulars] }
        _modify {
            let number = self.rows[slot].particulars
            if number != SideTable<Particulars>.none {
                yield &self.particulars[number]
            } else {
                var first = Particulars()
                yield &first
                if !first.isBlank { self.rows[slot].particulars = self.particulars.keep(first) }
            }
        }
    }

    @inline(__always)
    subscript(content slot: UInt32) -> Content {
        _read { yield self.content[self.rows[slot].content] }
        _modify {
            let number = self.rows[slot].content
            if number != SideTable<Content>.none {
                yield &self.content[number]
            } else {
                var first = Content()
                yield &first
                if !first.isBlank { self.rows[slot].content = self.content.keep(first) }
            }
        }
    }

    @inline(__always)
    subscript(observed slot: UInt32) -> Observed {
        _read { yield self.observed[self.rows[slot].observed] }
        _modify {
            let number = self.rows[slot].observed
            if number != SideTable<Observed>.none {
                yield &self.observed[number]
            } else {
                var first = Observed()
                yield &first
                if !first.isBlank { self.rows[slot].observed = self.observed.keep(first) }
            }
        }
    }

    /// The particulars, nil for the many that have none: who registers instances asks for all of them.
    func particulars(of slot: UInt32) -> Particulars? {
        let number = self.rows[slot].particulars
        return number == SideTable<Particulars>.none ? nil : self.particulars[number]
    }

    func whole(_ slot: UInt32) -> Whole {
        let row = self.rows[slot]
        var whole = Whole(row: row)
        if row.particulars != SideTable<Particulars>.none { whole.particulars = self.particulars[row.particulars] }
        if row.content != SideTable<Content>.none { whole.content = self.content[row.content] }
        if row.observed != SideTable<Observed>.none { whole.observed = self.observed[row.observed] }
        return whole
    }

    // MARK: Configurations

    func configuration(of slot: UInt32) -> Configuration { self.configurations[self.rows[slot].configuration] }

    /// Whether an instance is configured like that, see ``ConfigurationTable/equals(_:_:)``.
    mutating func isConfigured(_ slot: UInt32, as configuration: Configuration) -> Bool {
        self.configurations.equals(self.rows[slot].configuration, configuration)
    }

    mutating func setConfiguration(of slot: UInt32, _ configuration: Configuration) {
        self.configurations.replace(&self.rows[slot].configuration, with: configuration)
    }

    // MARK: Rows

    /// A row for the number that is next; see ``Slab/insert(_:)``.
    mutating func insert(_ row: consuming Row) -> UInt32 { self.rows.insert(row) }

    /// Gives a number back, and all groups of it.
    mutating func release(_ slot: UInt32) {
        self.clear(slot)
        self.rows.release(slot)
    }

    /// Leaves an instance its id and its family.
    mutating func clear(_ slot: UInt32) {
        let row = self.rows[slot]
        self.particulars.release(row.particulars)
        self.content.release(row.content)
        self.observed.release(row.observed)
        self.configurations.release(row.configuration)
        self.rows[slot] = Row(id: row.id, family: row.family)
    }

    /// Takes back a row under its number, see ``Slab/restore(_:_:blank:)``.
    @inline(__always)
    mutating func restore(_ slot: UInt32, _ whole: consuming Whole, _ configuration: Configuration) {
        var row = whole.row
        if let particulars = whole.particulars { row.particulars = self.particulars.keep(particulars) }
        if let content = whole.content { row.content = self.content.keep(content) }
        if let observed = whole.observed { row.observed = self.observed.keep(observed) }
        self.restore(slot, row, configuration)
    }

    /// Takes back a row of an instance that has none of the groups.
    @inline(__always)
    mutating func restore(_ slot: UInt32, _ row: consuming Row, _ configuration: Configuration) {
        row.configuration = self.configurations.insert(configuration)
        self.rows.restore(slot, row, blank: .blank)
    }

    /// Gives back the number of a row that is left out while rows are read back.
    mutating func leaveOut(_ slot: UInt32) { self.rows.release(slot) }

    /// Makes the table as long as it was, once its last row was taken back.
    mutating func finishRestoring(end: Int) { self.rows.finishRestoring(end: end, blank: .blank) }

    /// What does not hold of what must always hold: every row of a group is one instance's. O(instances).
    ///
    /// - Parameter slots: The numbers in use.
    func checkInvariants(of slots: [UInt32]) -> [String] {
        func check(_ group: String, _ rows: Int, _ number: (Row) -> UInt32) -> String? {
            let numbers = slots.map { number(self.rows[$0]) }.filter { $0 != Slab<Row>.none }
            guard numbers.count != rows || Set(numbers).count != rows else { return nil }
            return "\(rows) rows of \(group), but \(numbers.count) instances have \(Set(numbers).count)"
        }
        return [
            check("particulars", self.particulars.count, \.particulars),
            check("content", self.content.count, \.content),
            check("observed", self.observed.count, \.observed),
        ].compactMap { $0 }
    }
}

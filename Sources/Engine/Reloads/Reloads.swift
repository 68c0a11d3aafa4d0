import Storage
import WidgetModel

/// The unsettled requests to instances: the pushes that wait for an instance or are served by a reload of it, and the outstanding reloads.
///
/// Each instance threads its own: a ``MatchList`` of the waiting pushes, a ``ReloadList``, and in each reload a list of the pushes that it
/// serves. The holder of a list knows its instance.
struct Reloads: ~Copyable, Sendable {
    typealias Reload = ReloadTable.Whole
    typealias Row = ReloadTable.Row
    typealias Served = ReloadTable.Served

    private(set) var table: ReloadTable
    /// Written by the verbs of Reloads+Matches alone.
    var matches: Table<NumberTag.Match, Match>
    /// By the number of a push: the first of its matches that wait. Written by those verbs, too.
    var waiting = Column<MatchNumber>()

    /// None.
    init() {
        self.table = ReloadTable()
        self.matches = Table()
    }

    /// Some that were read back. O(matches).
    init(table: consuming ReloadTable, matches: consuming Table<NumberTag.Match, Match>) {
        self.table = table
        self.matches = matches
        self.joinAll()
    }
}

extension Reloads {
    /// Notes the memory of its tables.
    func measure(_ bytes: inout TableBytes) {
        bytes[.reloads] = self.table.byteCount
        bytes[.matches] = self.matches.byteCount + self.waiting.byteCount
    }

    /// How many pushes wait or are served, one for each instance that they matched.
    var matchCount: Int { self.matches.count }

    /// How many reloads are outstanding.
    var count: Int { self.table.rows.count }

    /// A whole reload. ``subscript(row:)`` reads the fields of every reload, and copies no others.
    subscript(reload: ReloadNumber) -> Reload { self.table[reload] }

    /// The fields of every reload.
    @inline(__always)
    subscript(row reload: ReloadNumber) -> Row {
        _read { yield self.table[row: reload] }
    }

    /// How many reloads a list has. O(them).
    func count(of list: ReloadList) -> Int {
        var (count, reload) = (0, list.first)
        while !reload.isNone {
            count += 1
            reload = self.table[row: reload].next
        }
        return count
    }

    /// Gives each reload of a list to `body`, the oldest first.
    @inline(__always)
    func forEach(in list: ReloadList, _ body: (Reload) -> Void) {
        var reload = list.first
        while !reload.isNone {
            let row = self.table[reload]
            body(row)
            reload = row.next
        }
    }

    /// The reload of a list that was issued at a position, if it is still outstanding.
    ///
    /// They lie in the order of their positions. The newest is looked at first, the others from the oldest on, and only as
    /// far as they are older: while a provider is down, thousands may be outstanding for one instance. O(those that are older).
    @inline(__always)
    func find(_ position: LogPosition, in list: ReloadList) -> ReloadNumber? {
        guard !list.isEmpty else { return nil }
        var found = self.table[row: list.last].position
        guard found > position else { return found == position ? list.last : nil }
        var reload = list.first
        found = self.table[row: reload].position
        while found < position {
            reload = self.table[row: reload].next
            found = self.table[row: reload].position
        }
        return found == position ? reload : nil
    }

    /// Makes a reload the newest of a list. O(1).
    mutating func append(_ reload: Reload, to list: inout ReloadList) {
        let number = self.table.insert(reload)
        if list.isEmpty { list.first = number } else { self.table.link(list.last, to: number) }
        list.last = number
        list.expires = min(list.expires, reload.expiresAt)
    }

    /// The reload before another one of a list; none for the first. O(those that are older).
    func previous(of reload: ReloadNumber, in list: ReloadList) -> ReloadNumber {
        var (previous, other) = (ReloadNumber.none, list.first)
        while other != reload, !other.isNone { (previous, other) = (other, self.table[row: other].next) }
        return previous
    }

    /// Takes a reload out of its list, and forgets it. O(1): many can be taken out one after the other. Before that ``release(_:)`` the
    /// pushes that it serves, and call ``refreshExpiry(of:)`` at the end: until then the list keeps its earliest end.
    ///
    /// - Parameter previous: The one before it; none for the first.
    mutating func remove(_ reload: ReloadNumber, after previous: ReloadNumber, from list: inout ReloadList) {
        let next = self.table[row: reload].next
        if previous.isNone { list.first = next } else { self.table.link(previous, to: next) }
        if next.isNone { list.last = previous }
        if list.isEmpty { list.expires = .distantFuture }
        self.table.release(reload)
    }

    /// Finds the earliest end of a list's reloads again. O(them).
    func refreshExpiry(of list: inout ReloadList) {
        list.expires = .distantFuture
        var reload = list.first
        while !reload.isNone {
            let row = self.table[row: reload]
            list.expires = min(list.expires, row.expiresAt)
            reload = row.next
        }
    }
}

// MARK: - Checks

extension Reloads {
    /// The violated invariants of an instance's list; empty unless there is a bug. O(reloads of the list).
    func checkInvariants(of list: ReloadList, _ instance: InstanceNumber) -> [String] {
        var faults: [String] = []
        var (earliest, last, reload) = (Instant.distantFuture, ReloadNumber.none, list.first)
        while !reload.isNone {
            let row = self.table[row: reload]
            earliest = min(earliest, row.expiresAt)
            if row.instance != instance { faults.append("holds another instance's reload") }
            if !last.isNone, self.table[row: last].position >= row.position {
                faults.append("two reloads at position \(row.position)")
            }
            (last, reload) = (reload, row.next)
        }
        if list.expires != earliest || list.last != last { faults.append("list of reloads is broken") }
        return faults
    }
}

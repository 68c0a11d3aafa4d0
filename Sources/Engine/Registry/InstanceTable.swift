import Storage
import WidgetModel

/// The widget instances of a partition by number: their identities in one table, their seldom read details in another.
struct InstanceTable: ~Copyable, Sendable {
    /// The identity of an instance: 32 bytes without a pointer.
    struct Row: Sendable {
        let host: HostNumber
        var kind: KindNumber
        /// The next instance of the host in the order of ids.
        var nextOfHost = InstanceNumber.none
        /// Counts the configurations.
        var generation: UInt32 = 0
        /// Where the present configuration came in.
        var configuredAt = LogPosition.start
        var flags: Flags = [.isLive, .pushEnabled]

        @inline(__always)
        init(host: HostNumber, kind: KindNumber) {
            self.host = host
            self.kind = kind
        }

        /// The row of a free number: no live instance.
        @inline(__always)
        static var blank: Row {
            var row = Row(host: .none, kind: .none)
            row.flags = .isFree
            return row
        }
    }

    var rows = Table<NumberTag.Instance, Row>()
    var details = InstanceDetails()

    /// An empty table.
    init() {}

    /// Bytes of memory held by the fields that every instance has.
    var byteCount: Int { self.rows.byteCount + self.details.byteCount }

    /// Room for rows that are read back.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - rows: About how many rows will come.
    init(free: [InstanceNumber], expecting rows: Int) {
        self.rows = Table(free: free, expecting: rows)
        self.details = InstanceDetails(expecting: rows)
    }

    mutating func insert(_ row: Row, _ details: InstanceDetails.Row) -> InstanceNumber {
        let slot = self.rows.insert(row)
        self.details.insert(slot, details)
        return slot
    }

    mutating func release(_ slot: InstanceNumber) {
        self.rows[slot].flags.insert(.isFree)
        self.rows.release(slot)
        self.details.release(slot)
    }
}

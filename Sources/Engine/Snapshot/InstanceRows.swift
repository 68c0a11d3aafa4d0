import WidgetModel

/// The rows of instances while a snapshot is read, and what follows from each: so that nobody goes through all of them
/// again.
struct InstanceRows: Sendable {
    struct Timer: Sendable {
        let instance: UInt32
        /// Of the epoch.
        let second: UInt32
    }

    /// What a snapshot's head says of its rows of instances.
    struct Bounds: Sendable {
        let version: UInt64
        /// What is above all numbers of hosts, and of kinds.
        let hosts: UInt32
        let kinds: UInt32

        init(_ head: borrowing SnapshotHead) {
            self.version = head.version
            self.hosts = head.ends[EngineSnapshot.hostTable]
            self.kinds = UInt32(clamping: head.kinds.count)
        }
    }

    private(set) var rows: Slab<InstanceTable.Row>
    private(set) var details: InstanceDetails
    /// The timers that are armed: the instance, and the second that it is due.
    private(set) var timers = RowChunks<Timer>()
    /// The live instances that have a token of their own.
    private(set) var controls: [UInt32] = []
    /// How many rows were read, and how many of them are what.
    private(set) var count: UInt64 = 0
    private(set) var live = 0
    private(set) var pushEnabled = 0
    private(set) var orphaned = 0

    /// No rows yet.
    ///
    /// - Parameter free: The numbers that are not in use, in the order in which they were given back.
    init(free: [UInt32]) {
        self.rows = Slab(free: free)
        self.details = InstanceDetails(free: free)
    }

    /// The number that the next row has at least.
    var end: Int { self.rows.end }

    /// Reads the row of a number.
    @inline(__always)
    mutating func read(_ slot: UInt32, _ bounds: Bounds, _ coder: inout StateReader) throws(ByteFault) {
        let row: InstanceTable.Row
        let details: InstanceDetails.Whole
        if bounds.version >= 3 {
            let rowHead = try InstanceTable.Row.blank.head(by: &coder)
            details = try InstanceDetails.Whole.blank.coded(by: &coder)
            row = try InstanceTable.Row.blank.coded(by: &coder, rowHead)
        } else {
            row = try InstanceTable.Row.blank.coded(by: &coder, nil)
            details = try InstanceDetails.Whole.blank.coded(by: &coder)
        }
        guard row.host < bounds.hosts, row.kind < bounds.kinds else { throw coder.fault() }
        let next: UInt64 = try coder.number()
        if next > 0 {
            guard let second = UInt32(exactly: next - 1) else { throw coder.fault() }
            self.timers.append(Timer(instance: slot, second: second))
        }
        self.count += 1
        if row.isLive {
            self.live += 1
            if row.pushEnabled { self.pushEnabled += 1 }
            if details.particulars?.controlToken != nil { self.controls.append(slot) }
        }
        if row.isOrphaned { self.orphaned += 1 }
        self.rows.restore(slot, row, blank: .blank)
        self.details.restore(slot, consume details)
    }

    /// Gives back the number of a row that is left out.
    mutating func leaveOut(_ slot: UInt32) {
        self.count += 1
        self.rows.release(slot)
        self.details.leaveOut(slot)
    }

    /// Makes the tables as long as they were, once the last row was read.
    mutating func finish(end: Int) {
        self.rows.finishRestoring(end: end, blank: .blank)
        self.details.finishRestoring(end: end)
    }
}

import Storage
import WidgetModel

/// The rows of instances while a snapshot is read, and the values that follow from each row, so that the rows are read
/// only once.
struct InstanceRows: ~Copyable, Sendable {
    struct Timer: Sendable {
        let instance: InstanceNumber
        /// Of the epoch.
        let second: UInt32
    }

    /// The bounds of a snapshot's rows of instances, from its head.
    struct Bounds: Sendable {
        /// The ends of the numbers of hosts, and of kinds.
        let hosts: UInt32
        let kinds: UInt32

        init(_ head: borrowing SnapshotHead) {
            self.hosts = head.ends[EngineSnapshot.hostTable]
            self.kinds = UInt32(clamping: head.kinds.count)
        }
    }

    private(set) var instances: InstanceTable
    private(set) var schedule: Schedule
    /// The timers that are armed: the instance, and the second that it is due.
    private(set) var timers = RowChunks<Timer>()
    /// The live instances that have a token of their own.
    private(set) var controls: [InstanceNumber] = []
    /// How many rows were read, in all and by their state.
    private(set) var count: UInt64 = 0
    private(set) var live = 0
    private(set) var pushEnabled = 0
    private(set) var orphaned = 0
    /// The same by kind, hosts excepted.
    private(set) var usages: [RegistryUsage] = []

    /// No rows yet.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - rows: About how many rows will come.
    init(free: [InstanceNumber], expecting rows: Int = 0) {
        self.instances = InstanceTable(free: free, expecting: rows)
        self.schedule = Schedule(expecting: rows)
    }

    /// The number that the next row has at least.
    var end: Int { self.instances.rows.end }

    /// Reads the row of a number.
    ///
    /// - Parameters:
    ///   - slot: The number.
    ///   - bounds: The bounds from the snapshot's head.
    ///   - shapes: The frame's.
    ///   - coder: The reader.
    @inline(__always)
    mutating func read(
        _ slot: InstanceNumber,
        _ bounds: Bounds,
        _ shapes: inout ShapeReader,
        _ coder: inout StateReader
    ) throws(ByteError) {
        let head = try InstanceRecord.Head.blank.coded(by: &coder)
        let shape = try shapes.shape(head.shape, &coder)
        let id = InstanceID(try coder.text(""))
        guard id.rawValue.utf8.count <= InstanceRegistration.idBytesMax else { throw coder.fault() }
        let groups = try InstanceGroups([]).coded(by: &coder)
        let details = InstanceDetails.Row(id: id, family: shape.family)
        guard groups.isDisjoint(with: .details), shape.tags.isEmpty else {
            var whole = InstanceDetails.Whole(row: details)
            if !shape.tags.isEmpty { whole.coldFields = InstanceDetails.ColdFields(tags: shape.tags) }
            whole = try whole.coded(by: &coder, groups)
            let record = try self.readRecord(slot, head, kind: shape.kind, groups, &coder)
            return try self.takeWhole(slot, record, whole, shape.configuration, bounds, &coder)
        }
        // Nearly all instances: there is little to copy.
        let record = try self.readRecord(slot, head, kind: shape.kind, groups, &coder)
        try self.countRow(slot, record, bounds, &coder)
        self.restore(slot, record)
        self.instances.details.insert(slot, details, shape.configuration)
        self.usages[record.row.kind.index].textBytes += self.instances.details.textBytes(of: slot)
    }

    @inline(__always)
    private mutating func restore(_ slot: InstanceNumber, _ record: borrowing InstanceRecord) {
        self.instances.rows.restore(slot, record.row, blank: .blank)
        self.schedule.restore(slot, record.resting, record.cold)
    }

    @inline(__always)
    private mutating func readRecord(
        _ slot: InstanceNumber,
        _ head: InstanceRecord.Head,
        kind: KindNumber,
        _ groups: InstanceGroups,
        _ coder: inout StateReader
    ) throws(ByteError) -> InstanceRecord {
        var active = ActiveTable.rest
        if groups.contains(.active) {
            let row = try ActiveRow().coded(by: &coder)
            let since: UInt32 = try coder.number(0)
            active = self.schedule.active.insert(row, of: .init(instance: slot, since: since))
        }
        return try InstanceRecord.blank
            .coded(by: &coder, head, kind: kind, groups, active: active, addressHash: 0)
    }

    @inline(never)
    private mutating func takeWhole(
        _ slot: InstanceNumber,
        _ record: InstanceRecord,
        _ details: InstanceDetails.Whole,
        _ configuration: Configuration,
        _ bounds: Bounds,
        _ coder: inout StateReader
    ) throws(ByteError) {
        try self.countRow(slot, record, bounds, &coder)
        if record.row.isLive, details.coldFields?.controlToken != nil { self.controls.append(slot) }
        self.restore(slot, record)
        self.instances.details.restore(slot, details, configuration)
        self.usages[record.row.kind.index].textBytes += self.instances.details.textBytes(of: slot)
    }

    /// Notes the values that follow from a row, and its timer, which comes behind it.
    @inline(__always)
    private mutating func countRow(
        _ slot: InstanceNumber,
        _ record: borrowing InstanceRecord,
        _ bounds: Bounds,
        _ coder: inout StateReader
    ) throws(ByteError) {
        let row = record.row
        guard row.host.raw < bounds.hosts, row.kind.raw < bounds.kinds else { throw coder.fault() }
        let next: UInt64 = try coder.number()
        if next > 0 {
            guard let second = UInt32(exactly: next - 1) else { throw coder.fault() }
            self.timers.append(Timer(instance: slot, second: second))
        }
        self.count += 1
        if self.usages.count < bounds.kinds {
            self.usages = Array(repeating: RegistryUsage(), count: Int(bounds.kinds))
        }
        if row.isLive {
            self.usages[row.kind.index].instances += 1
            self.live += 1
            if row.pushEnabled { self.pushEnabled += 1 }
        } else {
            self.usages[row.kind.index].tombstones += 1
        }
        if row.isOrphaned { self.orphaned += 1 }
    }

    /// Gives back the number of a row that is not taken back, as its host is not read.
    mutating func leaveOut(_ slot: InstanceNumber) {
        self.count += 1
        self.instances.rows.release(slot)
    }

    /// Makes the tables as long as they were, once the last row was read.
    mutating func finish(end: Int) {
        self.instances.rows.finishRestoring(end: end, blank: .blank)
        self.instances.details.makeRoom(below: end)
        self.schedule.makeRoom(below: end)
    }
}

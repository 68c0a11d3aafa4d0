import Storage
import Timelines
import WidgetModel

/// When each instance may reload: its budget, its waiting causes and outstanding reloads, and its timers.
///
/// Instances have the numbers that the ``Registry`` gave them. An instance at rest is a row of one cache line, and a cold row that few
/// decisions read. It has an ``ActiveRow`` while a cause waits for it or a reload of it is outstanding, see ``Phase``.
struct Schedule: ~Copyable, Sendable {
    var resting = RowChunks<RestingRow>()
    var cold = RowChunks<ColdRow>()
    var active = ActiveTable()
    /// How many instances are behind. Only `Schedule+Phases.swift` and `Schedule+Behind.swift` change it.
    var behind = BehindTable()
    var days = Table<RollingDay, RollingDay>()
    var instanceTimers = Timers<NumberTag.Instance>()
    var hostTimers = Timers<NumberTag.Host>()

    /// Of no instances.
    init() {}

    /// Room for about this number of rows that are read back, see ``restore(_:_:_:)``.
    init(expecting rows: Int) {
        self.resting.expect(rows)
        self.cold.expect(rows)
    }

    /// Notes the memory of its tables.
    func measure(_ bytes: inout TableBytes) {
        bytes[.schedule] =
            self.resting.byteCount + self.cold.byteCount + self.active.byteCount + self.behind.byteCount
            + self.days.byteCount
        bytes[.timers] = self.instanceTimers.byteCount + self.hostTimers.byteCount
    }

    /// The fields that decisions read of an instance at rest.
    @inline(__always)
    subscript(instance: InstanceNumber) -> RestingRow {
        _read { yield self.resting[instance.index] }
        _modify { yield &self.resting[instance.index] }
    }

    /// The fields that few decisions read.
    @inline(__always)
    subscript(cold instance: InstanceNumber) -> ColdRow {
        _read { yield self.cold[instance.index] }
        _modify { yield &self.cold[instance.index] }
    }

    /// Takes in an instance that is new.
    mutating func insert(_ instance: InstanceNumber) {
        self.makeRoom(below: instance.index + 1)
        self.resting[instance.index] = RestingRow()
        self.cold[instance.index] = ColdRow()
    }

    /// Leaves nothing of an instance that is at rest. The next one with its number begins without decisions. Precondition: its timer is
    /// not armed.
    mutating func release(_ instance: InstanceNumber) {
        let day = self.cold[instance.index].rollingDay
        if !day.isNone { self.days.release(day) }
        precondition(!self.resting[instance.index].isActive, "an instance that is removed is at rest")
        self.resting[instance.index] = RestingRow()
        self.cold[instance.index] = ColdRow()
    }

    /// Takes back the rows of an instance. They come in the order of numbers.
    mutating func restore(_ instance: InstanceNumber, _ resting: RestingRow, _ cold: ColdRow) {
        self.makeRoom(below: instance.index)
        self.resting.append(resting)
        self.cold.append(cold)
    }

    /// Takes over the resting, cold and active rows of a schedule that was read back. Days, timers and counts stay.
    mutating func takeRows(_ other: consuming Schedule) {
        self.resting = other.resting
        self.cold = other.cold
        self.active = other.active
    }

    mutating func makeRoom(below end: Int) {
        guard end > self.resting.count else { return }
        self.cold.append(repeating: ColdRow(), count: end - self.resting.count)
        self.resting.append(repeating: RestingRow(), count: end - self.resting.count)
    }

    /// Fetches the rows of an instance that is about to be decided, but for its active one, and its timer's place.
    @inline(__always)
    func prefetch(_ instance: InstanceNumber) {
        self.prefetchRows(of: instance)
        self.instanceTimers.prefetch(instance)
    }

    /// Fetches the rows alone.
    @inline(__always)
    func prefetchRows(of instance: InstanceNumber) {
        self.resting.prefetch(instance.index)
        self.cold.prefetch(instance.index)
    }

    /// Fetches the active row of an instance that has one. See ``prefetch(_:)``, which is best called some time before.
    @inline(__always)
    func prefetchActive(of instance: InstanceNumber) { self.active.prefetch(self.resting[instance.index].active) }
}

/// The charges of the last 24 hours, of instances whose policy counts them.
extension Schedule {
    /// The charges of the last 24 hours; nil of an instance that has none.
    func rollingDay(of instance: InstanceNumber) -> RollingDay? {
        let day = self.cold[instance.index].rollingDay
        return day.isNone ? nil : self.days[day]
    }

    /// Notes a charge among those of the last 24 hours.
    mutating func chargeRollingDay(of instance: InstanceNumber, at now: Instant) {
        if self.cold[instance.index].rollingDay.isNone {
            self.cold[instance.index].rollingDay = self.days.insert(RollingDay())
        }
        self.days[self.cold[instance.index].rollingDay].charge(at: now)
    }

    /// Takes a charge back.
    mutating func refundRollingDay(of instance: InstanceNumber, chargedAt instant: Instant) {
        let day = self.cold[instance.index].rollingDay
        if !day.isNone { self.days[day].refund(chargedAt: instant) }
    }
}

/// Timers: one an instance, one a host.
extension Schedule {
    /// How many are armed.
    var timerCount: Int { self.instanceTimers.count + self.hostTimers.count }

    /// The first due second of any timer.
    var nextDue: Instant? {
        guard let host = self.hostTimers.nextDue else { return self.instanceTimers.nextDue }
        return self.instanceTimers.nextDue.map { min($0, host) } ?? host
    }

    /// Disarms the timers that are due by an instant, and gives their rows in the order of due seconds, then of
    /// numbers.
    mutating func takeDue(upTo second: Instant) -> (instances: [InstanceNumber], hosts: [HostNumber]) {
        (self.instanceTimers.takeDue(upTo: second), self.hostTimers.takeDue(upTo: second))
    }

    /// The first of an instance's dates; `.distantFuture` if it has none.
    func nextDate(of instance: InstanceNumber) -> Instant {
        let active = self[active: instance]
        return min(min(active.decidesAt, active.minExpiry), min(self[instance].timelineDue, active.outstanding.expires))
    }

    /// Arms an instance's timer for the first of its dates.
    mutating func arm(_ instance: InstanceNumber) {
        let at = self.nextDate(of: instance)
        if at == .distantFuture {
            self.instanceTimers.disarm(instance)
        } else {
            self.instanceTimers.arm(instance, at: at)
        }
    }

    /// Arms the timer of an instance that was removed, for when its budget may be forgotten.
    mutating func arm(_ instance: InstanceNumber, at end: Instant) { self.instanceTimers.arm(instance, at: end) }

    /// When an instance's timer is due; nil if it is not armed.
    func dueTime(of instance: InstanceNumber) -> Instant? { self.instanceTimers.dueTime(of: instance) }

    /// Disarms an instance's timer.
    mutating func disarm(_ instance: InstanceNumber) { self.instanceTimers.disarm(instance) }

    /// Arms a host's timer for the end of its lease; nil disarms it.
    mutating func arm(_ host: HostNumber, at end: Instant?) {
        if let end { self.hostTimers.arm(host, at: end) } else { self.hostTimers.disarm(host) }
    }
}

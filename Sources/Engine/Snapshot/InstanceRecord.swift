import Timelines
import WidgetModel

/// The rows of an instance in the registry and in the schedule, as snapshots hold them together.
struct InstanceRecord {
    /// The first fields of a row. Where there is no condition, the index is made of these and the shape alone.
    struct Head {
        let host: HostNumber
        let flags: InstanceTable.Flags
        let scheduleFlags: Schedule.Flags
        /// The number of its ``InstanceShape`` in the frame.
        let shape: UInt32

        func coded(by coder: inout some StateCoder) throws(ByteError) -> Head {
            let host = try coder.slot(self.host)
            let flags: UInt16 = try coder.number(self.flags.rawValue | self.scheduleFlags.rawValue)
            return Head(
                host: host,
                flags: InstanceTable.Flags(rawValue: flags).intersection(.known),
                scheduleFlags: Schedule.Flags(rawValue: flags).intersection(.known),
                shape: try coder.number(self.shape)
            )
        }

        static let blank = Head(host: .none, flags: [], scheduleFlags: [], shape: 0)
    }

    var row: InstanceTable.Row
    var resting = RestingRow()
    var cold = ColdRow()

    /// Of a number that is free.
    @inline(__always)
    static var blank: InstanceRecord { InstanceRecord(row: .blank) }

    /// The fields beside the head and the shape.
    ///
    /// - Parameters:
    ///   - coder: The coder.
    ///   - head: The head, which comes first.
    ///   - kind: As the shape says.
    ///   - groups: Which fields there are.
    ///   - active: The number of its ``ActiveRow``; no part of the record, either.
    ///   - addressHash: The address's, see ``Engine/addressHash(of:)``; no part of the record.
    @inline(__always)
    func coded(
        by coder: inout some StateCoder,
        _ head: Head,
        kind: KindNumber,
        _ groups: InstanceGroups,
        active: Number<ActiveRow>,
        addressHash: UInt64
    ) throws(ByteError) -> InstanceRecord {
        let anchor: UInt32 = try coder.number(self.resting.anchor)
        _ = try coder.fixed(addressHash)
        var row = InstanceTable.Row(host: head.host, kind: kind)
        var (resting, cold) = (RestingRow(), ColdRow())
        row.flags = head.flags
        row.nextOfHost = try coder.slot(self.row.nextOfHost)
        row.generation = try coder.number(self.row.generation)
        row.configuredAt = try coder.position(self.row.configuredAt)
        resting.anchor = anchor
        resting.active = active
        resting.flags = head.scheduleFlags
        resting.timelineDue = try coder.date(self.resting.timelineDue)
        resting.lastDecision = try coder.number(self.resting.lastDecision &+ 1) &- 1
        cold.firstWindow = try coder.date(self.cold.firstWindow)
        resting.firstLimit = try coder.number(self.resting.firstLimit)
        if groups.contains(.budget) {
            resting.budget = try coder.value(self.resting.budget)
            resting.windowMinute = try coder.number(self.resting.windowMinute)
            resting.allowance = try coder.number(self.resting.allowance)
        }
        if groups.contains(.views) {
            resting.views = try coder.number(self.resting.views)
            resting.rate = ViewRate(scaled: try coder.number(self.resting.rate.scaled))
            cold.visibleUntil = try coder.date(self.cold.visibleUntil)
        }
        if groups.contains(.cold) {
            cold.rollingDay = try coder.slot(self.cold.rollingDay)
            resting.granted = try coder.number(self.resting.granted)
            cold.exemptReloads = try coder.number(self.cold.exemptReloads)
            cold.freeSetupAt = try coder.date(self.cold.freeSetupAt)
        }
        return InstanceRecord(row: row, resting: resting, cold: cold)
    }
}

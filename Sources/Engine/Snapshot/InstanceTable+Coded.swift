import Timelines
import WidgetModel

extension InstanceTable.Row {
    /// What stands before all the rest. With the shape it is all that the index is made of, where there is no condition.
    struct Head {
        let host: HostNumber
        let flags: InstanceTable.Flags
        /// The number of its ``InstanceShape`` in the frame.
        let shape: UInt32

        func coded(by coder: inout some StateCoder) throws(ByteFault) -> Head {
            Head(
                host: try coder.slot(self.host),
                flags: try InstanceTable.Row.coded(self.flags, by: &coder),
                shape: try coder.number(self.shape)
            )
        }

        static let blank = Head(host: .none, flags: [], shape: 0)
    }

    /// What a number has that is free: no live instance.
    @inline(__always)
    static var blank: InstanceTable.Row {
        var row = InstanceTable.Row(host: .none, kind: .none, anchor: 0)
        row.isLive = false
        return row
    }

    /// What there is beside the head and the shape.
    ///
    /// - Parameters:
    ///   - coder: The coder.
    ///   - head: What stood before it.
    ///   - kind: As the shape says.
    ///   - groups: Which fields there are.
    ///   - active: The number of its ``ActiveRow``; no part of the row, either.
    ///   - addressHash: The address's, see ``Engine/addressHash(of:)``; no part of the row.
    @inline(__always)
    func coded(
        by coder: inout some StateCoder,
        _ head: Head,
        kind: KindNumber,
        _ groups: InstanceGroups,
        active: Number<ActiveRow>,
        addressHash: UInt64
    ) throws(ByteFault) -> InstanceTable.Row {
        let anchor: UInt32 = try coder.number(self.anchor)
        _ = try coder.fixed(addressHash)
        var row = InstanceTable.Row(host: head.host, kind: kind, anchor: anchor, active: active)
        row.flags = head.flags
        row.nextOfHost = try coder.slot(self.nextOfHost)
        row.generation = try coder.number(self.generation)
        row.configuredAt = try coder.position(self.configuredAt)
        row.timelineDue = try coder.date(self.timelineDue)
        row.lastDecision = try coder.number(self.lastDecision &+ 1) &- 1
        row.firstWindow = try coder.date(self.firstWindow)
        row.firstLimit = try coder.number(self.firstLimit)
        if groups.contains(.budget) {
            row.budget = try self.budget.coded(by: &coder)
            row.windowMinute = try coder.number(self.windowMinute)
            row.allowance = try coder.number(self.allowance)
        }
        if groups.contains(.views) {
            row.views = try coder.number(self.views)
            row.rate = ViewRate(scaled: try coder.number(self.rate.scaled))
            row.visibleUntil = try coder.date(self.visibleUntil)
        }
        if groups.contains(.cold) {
            row.rollingDay = try coder.slot(self.rollingDay)
            row.granted = try coder.number(self.granted)
            row.exemptReloads = try coder.number(self.exemptReloads)
            row.freeSetupAt = try coder.date(self.freeSetupAt)
        }
        return row
    }

    static func coded(
        _ flags: InstanceTable.Flags,
        by coder: inout some StateCoder
    ) throws(ByteFault) -> InstanceTable.Flags {
        InstanceTable.Flags(rawValue: try coder.number(flags.rawValue)).intersection(.known)
    }
}

import Timelines
import WidgetModel

extension InstanceTable.Row {
    /// What stands before all the rest since version 3: with the details, which follow it, all that an index is made of.
    struct Head {
        let host: UInt32
        let kind: UInt32
        let flags: InstanceTable.Flags
    }

    /// What a number has that is free: no live instance.
    static let blank: InstanceTable.Row = {
        var row = InstanceTable.Row(host: 0, kind: 0, anchor: 0, addressHash: 0)
        row.isLive = false
        return row
    }()

    var head: Head { Head(host: self.host, kind: self.kind, flags: self.flags) }

    func head(by coder: inout some StateCoder) throws(ByteFault) -> Head {
        Head(
            host: try coder.slot(self.host),
            kind: try coder.number(self.kind),
            flags: try InstanceTable.Row.coded(self.flags, by: &coder)
        )
    }

    /// The row.
    ///
    /// - Parameter head: What stood before it; nil for what versions before the third wrote, where it stands among the rest.
    func coded(by coder: inout some StateCoder, _ head: Head?) throws(ByteFault) -> InstanceTable.Row {
        let (host, kind): (UInt32, UInt32)
        if let head {
            (host, kind) = (head.host, head.kind)
        } else {
            host = try coder.slot(self.host)
            kind = try coder.number(self.kind)
        }
        var row = InstanceTable.Row(
            host: host,
            kind: kind,
            anchor: try coder.number(self.anchor),
            addressHash: try coder.fixed(self.addressHash)
        )
        row.pending = try self.pending.coded(by: &coder)
        row.nextOfHost = try coder.slot(self.nextOfHost)
        row.high = try coder.number(self.high)
        row.normal = try coder.number(self.normal)
        row.waiting = ReloadCauses(rawValue: try coder.number(self.waiting.rawValue))
        row.flags = if let head { head.flags } else { try Self.coded(self.flags, by: &coder) }
        row.rollingDay = try coder.slot(self.rollingDay)
        row.reason = try coder.choice(self.reason)
        row.minExpiry = try coder.date(self.minExpiry)
        row.decidesAt = try coder.date(self.decidesAt)
        row.timelineDue = try coder.date(self.timelineDue)
        row.lastDecision = try coder.number(self.lastDecision &+ 1) &- 1
        row.budget = try self.budget.coded(by: &coder)
        row.windowMinute = try coder.number(self.windowMinute)
        row.allowance = try coder.number(self.allowance)
        row.views = try coder.number(self.views)
        row.rate = ViewRate(scaled: try coder.number(self.rate.scaled))
        row.granted = try coder.number(self.granted)
        row.visibleUntil = try coder.date(self.visibleUntil)
        row.heldUntil = try coder.date(self.heldUntil)
        row.firstLimit = try coder.number(self.firstLimit)
        row.firstWindow = try coder.date(self.firstWindow)
        row.firstReload = try coder.slot(self.firstReload)
        row.lastReload = try coder.slot(self.lastReload)
        row.reloadsExpire = try coder.date(self.reloadsExpire)
        row.freeSetupAt = try coder.date(self.freeSetupAt)
        row.generation = try coder.number(self.generation)
        row.configuredAt = try coder.position(self.configuredAt)
        row.exemptReloads = try coder.number(self.exemptReloads)
        return row
    }

    private static func coded(
        _ flags: InstanceTable.Flags,
        by coder: inout some StateCoder
    ) throws(ByteFault) -> InstanceTable.Flags {
        InstanceTable.Flags(rawValue: try coder.number(flags.rawValue)).intersection(.known)
    }
}

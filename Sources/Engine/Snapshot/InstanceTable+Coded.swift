import Timelines
import WidgetModel

extension InstanceTable.Row {
    /// What stands before all the rest since version 3: with the details, which follow it, all that an index is made of.
    struct Head {
        let host: UInt32
        let kind: UInt32
        let flags: UInt16

        var isLive: Bool { InstanceTable.Row.isSet(0, self.flags) }
        var pushEnabled: Bool { InstanceTable.Row.isSet(1, self.flags) }
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
            flags: try coder.number(self.flags)
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
        if let head { row.setFlags(head.flags) } else { row.setFlags(try coder.number(self.flags)) }
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

    /// The booleans, a bit each. Their places are part of the format.
    private var flags: UInt16 {
        func bit(_ number: UInt16, _ isSet: Bool) -> UInt16 { isSet ? 1 << number : 0 }
        var flags = bit(0, self.isLive) | bit(1, self.pushEnabled) | bit(2, self.hasScheduled)
        flags |= bit(3, self.hasPendingDigest) | bit(4, self.isOrphaned) | bit(5, self.isPolicyPaced)
        flags |= bit(6, self.isControl) | bit(7, self.isConditional) | bit(8, self.isHostDriven)
        return flags
    }

    fileprivate static func isSet(_ bit: UInt16, _ flags: UInt16) -> Bool { flags >> bit & 1 == 1 }

    private mutating func setFlags(_ flags: UInt16) {
        func isSet(_ bit: UInt16) -> Bool { Self.isSet(bit, flags) }
        self.isLive = isSet(0)
        self.pushEnabled = isSet(1)
        self.hasScheduled = isSet(2)
        self.hasPendingDigest = isSet(3)
        self.isOrphaned = isSet(4)
        self.isPolicyPaced = isSet(5)
        self.isControl = isSet(6)
        self.isConditional = isSet(7)
        self.isHostDriven = isSet(8)
    }
}

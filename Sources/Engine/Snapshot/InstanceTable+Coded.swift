import IntentMatching
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

extension InstanceTable.Details: Coded {
    static let blank = InstanceTable.Details(
        id: InstanceID(""),
        family: .systemSmall,
        configuration: .empty,
        tags: []
    )

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> InstanceTable.Details {
        var details = InstanceTable.Details(
            id: InstanceID(try coder.text(self.id.rawValue)),
            family: try coder.choice(self.family),
            configuration: try coder.configuration(self.configuration),
            tags: try coder.list(self.tags, "") { (coder, value) throws(ByteFault) in try coder.text(value) }
        )
        // Most instances have none of what follows.
        let extras = try coder.number(self.extras)
        if extras & 1 != 0 {
            details.when = try coder.optional(self.when, .all([])) { (coder, value) throws(ByteFault) in
                try coder.value(
                    value,
                    { $0.encode(into: &$1) },
                    { (reader) throws(ByteFault) in try MatchPattern(from: &reader) }
                )
            }
            details.controlToken = try coder.optional(self.controlToken, DeviceToken(bytes: [])) {
                (coder, value) throws(ByteFault) in try coder.token(value)
            }
            details.controlEnvironment = try coder.choice(self.controlEnvironment)
        }
        if extras & 2 != 0 { try self.codeShown(into: &details, by: &coder) }
        if extras & 4 != 0 {
            details.viewedAt = try coder.date(self.viewedAt)
            details.systemChangeAt = try coder.date(self.systemChangeAt)
            details.awaitsReport = try coder.date(self.awaitsReport)
            details.awaitsLook = try coder.flag(self.awaitsLook)
            details.observedReloads = try coder.number(self.observedReloads)
            details.collateralReloads = try coder.number(self.collateralReloads)
            details.collateralOverReloads = try coder.number(self.collateralOverReloads)
        }
        return details
    }

    /// Which groups of fields follow.
    private var extras: UInt8 {
        var extras: UInt8 = 0
        if self.when != nil || self.controlToken != nil || self.controlEnvironment != .production { extras |= 1 }
        if self.timeline != nil || self.confirmedDigest != nil || self.pendingDigest != nil
            || self.confirmedBy != .start || self.shownEntry != nil || self.unshown != nil
        {
            extras |= 2
        }
        if self.viewedAt != .min || self.systemChangeAt != .min || self.awaitsReport != .min || self.awaitsLook
            || self.observedReloads != 0 || self.collateralReloads != 0 || self.collateralOverReloads != 0
        {
            extras |= 4
        }
        return extras
    }

    /// What the instance shows, and what it will.
    private func codeShown(
        into details: inout InstanceTable.Details,
        by coder: inout some StateCoder
    ) throws(ByteFault) {
        details.timeline = try coder.optional(self.timeline, .blank) { (coder, value) throws(ByteFault) in
            try value.coded(by: &coder)
        }
        details.confirmedDigest = try coder.optional(self.confirmedDigest, .blank) { (coder, value) throws(ByteFault) in
            try value.coded(by: &coder)
        }
        details.confirmedBy = try coder.position(self.confirmedBy)
        details.pendingDigest = try coder.optional(self.pendingDigest, .blank) { (coder, value) throws(ByteFault) in
            try value.coded(by: &coder)
        }
        details.shownEntry = try coder.optional(self.shownEntry, .epoch) { (coder, value) throws(ByteFault) in
            try coder.instant(value)
        }
        details.unshown = try coder.optional(self.unshown, .blank) { (coder, value) throws(ByteFault) in
            try value.coded(by: &coder)
        }
    }
}

extension InstanceTable.Shown: Coded {
    static let blank = InstanceTable.Shown(
        timeline: Timeline(entries: [], policy: .never),
        receivedAt: .epoch,
        findings: [],
        equalDigests: 0
    )

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> InstanceTable.Shown {
        InstanceTable.Shown(
            timeline: try self.timeline.coded(by: &coder),
            receivedAt: try coder.instant(self.receivedAt),
            findings: try coder.list(self.findings, .empty) { (coder, value) throws(ByteFault) in
                try value.coded(by: &coder)
            },
            equalDigests: try coder.number(self.equalDigests)
        )
    }
}

extension InstanceTable.Unshown: Coded {
    static let blank = InstanceTable.Unshown(position: .start, acceptedAt: .epoch)

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> InstanceTable.Unshown {
        InstanceTable.Unshown(
            position: try coder.position(self.position),
            acceptedAt: try coder.instant(self.acceptedAt)
        )
    }
}

import Timelines
import WidgetModel

extension InstanceTable.Row: PackedRow {
    /// Which groups of fields there are beside the first: those in which anything is not as at first.
    private struct Groups: OptionSet {
        let rawValue: UInt32

        static let reloads = Groups(rawValue: 1 << 0)
        static let waiting = Groups(rawValue: 1 << 1)
        static let views = Groups(rawValue: 1 << 2)
        static let seldom = Groups(rawValue: 1 << 3)
        /// The reload that lies in the row, and then not ``reloads``.
        static let ownReload = Groups(rawValue: 1 << 4)
        static let bits: UInt32 = 5
    }

    @inline(__always)
    private var groups: Groups {
        var groups: Groups = []
        if self.hasOwnReload {
            groups.insert(.ownReload)
        } else if self.firstReload != ReloadTable.none || self.lastReload != ReloadTable.none
            || self.reloadsExpire != .max
        {
            groups.insert(.reloads)
        }
        if self.isWaiting { groups.insert(.waiting) }
        if self.views != 0 || self.rate.scaled != ViewRate.typical.scaled || self.visibleUntil != .min
            || self.heldUntil != .min
        {
            groups.insert(.views)
        }
        if self.rollingDay != Slab<RollingDay>.none || self.granted != 0 { groups.insert(.seldom) }
        return groups
    }

    func packed(by coder: inout some FieldCoder, at slot: UInt32) -> InstanceTable.Row {
        coder.begin()
        let common = coder.common(self.common)
        let said = UInt32(truncatingIfNeeded: common)
        var row = InstanceTable.Row(
            host: coder.number(self.host),
            kind: UInt32(truncatingIfNeeded: common >> 32),
            anchor: 0
        )
        row.flags = InstanceTable.Flags(rawValue: UInt16(truncatingIfNeeded: said >> Groups.bits))
        row.nextOfHost = coder.optional(self.nextOfHost, none: InstanceTable.none, near: slot)
        row.generation = coder.number(self.generation, near: 1)
        row.configuredAt = LogPosition(coder.number(self.configuredAt.rawValue))
        row.lastDecision = coder.number(self.lastDecision, near: DecisionLog.none)
        row.windowMinute = coder.number(self.windowMinute, near: UInt32(usualWindowMinute))
        row.anchor = coder.number(self.anchor, near: row.windowMinute % 1440)
        let window = Int64(row.windowMinute) * 60_000
        row.allowance = coder.number(self.allowance)
        row.firstWindow = coder.date(self.firstWindow, near: window)
        row.firstLimit = coder.number(self.firstLimit)
        row.timelineDue = coder.date(self.timelineDue, near: window)
        row.exemptReloads = coder.number(self.exemptReloads)
        row.budget = self.budget.packed(by: &coder, near: row.windowMinute)
        let reloaded = row.budget.lastReload?.milliseconds ?? window
        row.freeSetupAt = coder.date(self.freeSetupAt, near: reloaded)
        let groups = Groups(rawValue: said & (1 << Groups.bits - 1))
        if groups.contains(.reloads) { self.packReloads(of: &row, at: slot, near: reloaded, by: &coder) }
        if groups.contains(.ownReload) { self.packOwnReload(of: &row, at: slot, near: reloaded, by: &coder) }
        if groups.contains(.waiting) { self.packWaiting(of: &row, near: reloaded, by: &coder) }
        if groups.contains(.views) { self.packViews(of: &row, near: reloaded, by: &coder) }
        if groups.contains(.seldom) {
            coder.begin()
            row.rollingDay = coder.optional(self.rollingDay, none: Slab<RollingDay>.none)
            row.granted = coder.number(self.granted)
        }
        return row
    }

    /// What many instances have in common: the flags, which groups there are, and the kind.
    private var common: UInt64 {
        UInt64(self.groups.rawValue) | UInt64(self.flags.rawValue) << UInt64(Groups.bits) | UInt64(self.kind) << 32
    }

    @inline(__always)
    private func packReloads(
        of row: inout InstanceTable.Row,
        at slot: UInt32,
        near date: Int64,
        by coder: inout some FieldCoder
    ) {
        coder.begin()
        row.firstReload = coder.optional(self.firstReload, none: ReloadTable.none, near: slot)
        row.lastReload = coder.number(self.lastReload, near: row.firstReload)
        row.reloadsExpire = coder.number(self.reloadsExpire, near: date &+ Interval.day.milliseconds, in: 1000)
    }

    @inline(__always)
    private func packOwnReload(
        of row: inout InstanceTable.Row,
        at slot: UInt32,
        near date: Int64,
        by coder: inout some FieldCoder
    ) {
        coder.begin()
        row.setOwnReload(
            self.ownReload.packed(
                by: &coder,
                of: slot,
                near: ReloadTable.Stored.Surroundings(
                    position: row.configuredAt,
                    window: Int64(row.windowMinute) * 60_000,
                    issuedAt: date,
                    generation: row.generation
                )
            )
        )
        row.lastReload = coder.number(self.lastReload, near: row.lastReload)
        row.reloadsExpire = coder.number(self.reloadsExpire, near: row.reloadsExpire)
    }

    @inline(__always)
    private func packWaiting(of row: inout InstanceTable.Row, near date: Int64, by coder: inout some FieldCoder) {
        coder.begin()
        row.pending.head = coder.optional(self.pending.head, none: PendingCauses.none)
        row.pending.tail = coder.number(self.pending.tail, near: row.pending.head)
        row.pending.count = coder.number(self.pending.count)
        row.high = coder.number(self.high)
        row.normal = coder.number(self.normal)
        row.waiting = ReloadCauses(rawValue: coder.number(self.waiting.rawValue))
        row.reason = DecisionReason(rawValue: coder.number(self.reason.rawValue)) ?? self.reason
        row.minExpiry = coder.date(self.minExpiry, near: date)
        row.decidesAt = coder.date(self.decidesAt, near: date)
    }

    @inline(__always)
    private func packViews(of row: inout InstanceTable.Row, near date: Int64, by coder: inout some FieldCoder) {
        coder.begin()
        row.views = coder.number(self.views)
        row.rate = ViewRate(scaled: coder.number(self.rate.scaled, near: ViewRate.typical.scaled))
        row.visibleUntil = coder.date(self.visibleUntil, near: date)
        row.heldUntil = coder.date(self.heldUntil, near: date)
    }
}

extension ReloadBudget {
    /// Six fields of a group.
    ///
    /// - Parameters:
    ///   - coder: The coder.
    ///   - minute: The start of the window that most probably is the one that the counts belong to, in minutes.
    @inline(__always)
    func packed(by coder: inout some FieldCoder, near minute: UInt32) -> ReloadBudget {
        let old = self.parts
        return ReloadBudget(
            Parts(
                reloaded: coder.date(old.reloaded, near: Int64(minute) * 60_000),
                sinceCharge: coder.number(old.sinceCharge, near: .max),
                arrivalAhead: coder.number(old.arrivalAhead),
                windowMinute: coder.optional(old.windowMinute, none: 0, near: minute),
                count: coder.number(old.count),
                pushCount: coder.number(old.pushCount)
            )
        )
    }
}

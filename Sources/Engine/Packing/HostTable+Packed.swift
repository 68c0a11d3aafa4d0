import Timelines
import WidgetModel

extension HostTable.Row: PackedRow {
    /// What is so of a host, and which groups of fields there are beside the first.
    private struct Said: OptionSet {
        let rawValue: UInt8

        // Most hosts are registered: so that one takes a byte only when it is not so.
        static let isRemoved = Said(rawValue: 1 << 0)
        static let tellsVisibility = Said(rawValue: 1 << 1)
        static let isInStandBy = Said(rawValue: 1 << 2)
        static let isInLowPower = Said(rawValue: 1 << 3)
        static let views = Said(rawValue: 1 << 4)
        static let aside = Said(rawValue: 1 << 5)
        static let isRegisteredByItself = Said(rawValue: 1 << 6)
    }

    private var said: Said {
        var said: Said = []
        if !self.isRegistered { said.insert(.isRemoved) }
        if self.tellsVisibility { said.insert(.tellsVisibility) }
        if self.isInStandBy { said.insert(.isInStandBy) }
        if self.isInLowPower { said.insert(.isInLowPower) }
        if !self.windows.views.isEmpty { said.insert(.views) }
        if self.hasAside { said.insert(.aside) }
        if self.isRegisteredByItself { said.insert(.isRegisteredByItself) }
        return said
    }

    func packed(by coder: inout some FieldCoder, at slot: UInt32) -> HostTable.Row {
        coder.begin()
        let common = coder.common(
            UInt64(self.said.rawValue) | UInt64(self.delivery.rawValue) << 8 | UInt64(self.app) << 32
        )
        let said = Said(rawValue: UInt8(truncatingIfNeeded: common))
        let start = coder.number(self.windows.startMinute, near: usualWindowMinute)
        let length = coder.number(self.windows.lengthMinutes, near: 1440)
        let registeredAt = coder.number(self.registeredAt.milliseconds, near: start &* 60_000)
        let firstRegisteredAt = coder.number(self.firstRegisteredAt.milliseconds, near: registeredAt)
        var row = HostTable.Row(
            app: UInt32(truncatingIfNeeded: common >> 32),
            windows: TunedWindows(startMinute: start, lengthMinutes: length, views: []),
            delivery: HostDelivery(rawValue: UInt8(truncatingIfNeeded: common >> 8)) ?? self.delivery,
            registeredAt: Instant(milliseconds: registeredAt),
            firstRegisteredAt: Instant(milliseconds: firstRegisteredAt)
        )
        row.isRegistered = !said.contains(.isRemoved)
        row.tellsVisibility = said.contains(.tellsVisibility)
        row.isInStandBy = said.contains(.isInStandBy)
        row.isInLowPower = said.contains(.isInLowPower)
        row.isRegisteredByItself = said.contains(.isRegisteredByItself)
        row.firstInstance = coder.optional(self.firstInstance, none: InstanceTable.none)
        row.liveInstances = coder.number(self.liveInstances)
        row.firstToken = coder.optional(self.firstToken, none: TokenTable.none, near: slot)
        row.contextNumber = coder.optional(self.contextNumber, none: HostContextTable.blank)
        row.revision = coder.number(self.revision)
        let leaseEnds = coder.past(self.leaseEnds?.milliseconds ?? .min, near: registeredAt)
        row.leaseEnds = leaseEnds == .min ? nil : Instant(milliseconds: leaseEnds)
        row.exemptUntil = coder.past(self.exemptUntil, near: registeredAt)
        row.pushedAt = coder.past(self.pushedAt, near: registeredAt)
        if said.contains(.views) {
            let views = self.packViews(by: &coder)
            row.windows = TunedWindows(startMinute: start, lengthMinutes: length, views: views)
        }
        if said.contains(.aside) {
            row.aside = self.aside.packed(by: &coder, near: row.pushedAt == .min ? registeredAt : row.pushedAt)
        }
        return row
    }

    /// The views of each hour, in two groups: one has room for 21 fields.
    private func packViews(by coder: inout some FieldCoder) -> [UInt16] {
        let old = self.windows.views
        var views: [UInt16] = []
        for hour in 0..<TunedWindows.hours {
            if hour.isMultiple(of: TunedWindows.hours / 2) { coder.begin() }
            views.append(coder.number(old.isEmpty ? 0 : old[hour]))
        }
        return views
    }
}

extension HostTable.Seldom {
    fileprivate func packed(by coder: inout some FieldCoder, near date: Int64) -> HostTable.Seldom {
        coder.begin()
        var aside = HostTable.Seldom()
        aside.foregroundUntil = coder.past(self.foregroundUntil, near: date)
        for session in aside.sessionsUntil.indices {
            aside.sessionsUntil[session] = coder.past(self.sessionsUntil[session], near: date)
        }
        aside.budgetInterval = coder.number(self.budgetInterval)
        aside.budget = self.budget.packed(by: &coder, near: UInt32(clamping: date / 60_000))
        return aside
    }
}

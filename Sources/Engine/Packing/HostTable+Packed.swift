import Timelines
import WidgetModel

extension HostTable.Row: PackedRow {
    /// What is so of a host, beside how its reloads are delivered.
    private struct Said: OptionSet {
        let rawValue: UInt8

        // Most hosts are registered, so that is the one that takes a byte when it is not so.
        static let isRemoved = Said(rawValue: 1 << 0)
        static let tellsVisibility = Said(rawValue: 1 << 1)
        static let isInStandBy = Said(rawValue: 1 << 2)
        static let isInLowPower = Said(rawValue: 1 << 3)
    }

    private var said: Said {
        var said: Said = []
        if !self.isRegistered { said.insert(.isRemoved) }
        if self.tellsVisibility { said.insert(.tellsVisibility) }
        if self.isInStandBy { said.insert(.isInStandBy) }
        if self.isInLowPower { said.insert(.isInLowPower) }
        return said
    }

    /// Hosts whose row has arrays are those that are used: they stay as they are.
    var isPackable: Bool { self.isWhole && !self.windows.hasViews }

    func packed(by coder: inout some FieldCoder, at slot: UInt32) -> HostTable.Row {
        coder.begin(15)
        let start = coder.number(self.windows.startMinute, near: usualWindowMinute)
        let length = coder.number(self.windows.lengthMinutes, near: 1440)
        let registeredAt = coder.number(self.registeredAt.milliseconds, near: start &* 60_000)
        let firstRegisteredAt = coder.number(self.firstRegisteredAt.milliseconds, near: registeredAt)
        let said = Said(rawValue: coder.number(self.said.rawValue))
        var row = HostTable.Row(
            app: coder.number(self.app),
            windows: TunedWindows(startMinute: start, lengthMinutes: length),
            delivery: HostDelivery(rawValue: coder.number(self.delivery.rawValue)) ?? self.delivery,
            registeredAt: Instant(milliseconds: registeredAt),
            firstRegisteredAt: Instant(milliseconds: firstRegisteredAt)
        )
        row.isRegistered = !said.contains(.isRemoved)
        row.tellsVisibility = said.contains(.tellsVisibility)
        row.isInStandBy = said.contains(.isInStandBy)
        row.isInLowPower = said.contains(.isInLowPower)
        row.firstInstance = coder.optional(self.firstInstance, none: InstanceTable.none)
        row.liveInstances = coder.number(self.liveInstances)
        row.firstToken = coder.optional(self.firstToken, none: TokenTable.none, near: slot)
        row.contextNumber = coder.optional(self.contextNumber, none: HostContextTable.blank)
        row.revision = coder.number(self.revision)
        let leaseEnds = coder.past(self.leaseEnds?.milliseconds ?? .min, near: registeredAt)
        row.leaseEnds = leaseEnds == .min ? nil : Instant(milliseconds: leaseEnds)
        row.exemptUntil = coder.past(self.exemptUntil, near: registeredAt)
        row.pushedAt = coder.past(self.pushedAt, near: registeredAt)
        return row
    }
}

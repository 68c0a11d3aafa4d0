import Timelines
import WidgetModel

extension ReloadTable.Stored: PackedRow {
    /// What is so of a reload.
    private struct Said: OptionSet {
        let rawValue: UInt8

        static let isCounted = Said(rawValue: 1 << 0)
        static let isPush = Said(rawValue: 1 << 1)
        static let sharesToken = Said(rawValue: 1 << 2)
        static let isTrigger = Said(rawValue: 1 << 3)
    }

    private var said: Said {
        var said: Said = []
        if self.isCounted { said.insert(.isCounted) }
        if self.isPush { said.insert(.isPush) }
        if self.sharesToken { said.insert(.sharesToken) }
        if self.isTrigger { said.insert(.isTrigger) }
        return said
    }

    /// What many reloads have in common. One more than the raw value of what there may be none of, and 0 for none.
    private var common: UInt64 {
        UInt64(self.said.rawValue) | UInt64(self.exemption.map { $0.rawValue + 1 } ?? 0) << 8
            | UInt64(self.collateral.map { $0.rawValue + 1 } ?? 0) << 16 | UInt64(self.causes.rawValue) << 32
    }

    func packed(by coder: inout some FieldCoder, at slot: UInt32) -> ReloadTable.Stored {
        coder.begin()
        return self.packed(by: &coder, of: coder.number(self.instance, near: slot), near: Surroundings())
    }

    /// What dates and numbers of a reload are near.
    struct Surroundings {
        var position = LogPosition.start
        /// The start of the window, in milliseconds.
        var window = usualWindowMinute * 60_000
        /// Milliseconds; nil if nothing is nearer than the window's start.
        var issuedAt: Int64?
        var generation: UInt32 = 1
    }

    /// All of it but whose it is: ten fields of a group that was begun.
    @inline(__always)
    func packed(
        by coder: inout some FieldCoder,
        of instance: UInt32,
        near surroundings: Surroundings
    ) -> ReloadTable.Stored {
        let common = coder.common(self.common)
        let said = Said(rawValue: UInt8(truncatingIfNeeded: common))
        let start = coder.number(self.window.start.milliseconds, near: surroundings.window, in: 60_000)
        let issuedAt = coder.number(self.issuedAt.milliseconds, near: surroundings.issuedAt ?? start)
        let day = Interval.day.milliseconds
        let expiresAt = coder.number(self.expiresAt.milliseconds, near: issuedAt &+ day, in: 1000)
        let length = coder.number(self.window.length.milliseconds, near: day)
        return ReloadTable.Stored(
            instance: instance,
            next: coder.optional(self.next, none: ReloadTable.none),
            position: LogPosition(coder.number(self.position.rawValue, near: surroundings.position.rawValue)),
            issuedAt: Instant(milliseconds: issuedAt),
            expiresAt: Instant(milliseconds: expiresAt),
            window: BudgetWindow(start: Instant(milliseconds: start), length: Interval(milliseconds: length)),
            generation: coder.number(self.generation, near: surroundings.generation),
            served: coder.optional(self.served, none: ReloadTable.none),
            causes: ReloadCauses(rawValue: .init(truncatingIfNeeded: common >> 32)),
            exemption: Exemption(rawValue: UInt8(truncatingIfNeeded: common >> 8) &- 1),
            collateral: Collateral(rawValue: UInt8(truncatingIfNeeded: common >> 16) &- 1),
            isCounted: said.contains(.isCounted),
            isPush: said.contains(.isPush),
            sharesToken: said.contains(.sharesToken),
            isTrigger: said.contains(.isTrigger)
        )
    }
}

import Timelines
import WidgetModel

extension HostTable {
    /// A host as snapshots hold it, but for its tokens, which stand behind; see ``TokenTable/BoundToken/each(_:by:_:)``.
    struct Record {
        var key: HostKey
        var row: Row
        var context: HostContext
    }
}

extension HostTable.Record: Coded {
    static let blank = HostTable.Record(
        key: HostKey(app: BundleID(""), id: HostID("")),
        row: .blank,
        context: HostContext()
    )

    func coded(by coder: inout some StateCoder) throws(ByteError) -> HostTable.Record {
        let old = self.row
        let text = try coder.text(self.key.text)
        guard text.utf8.count <= HostRegistration.keyBytesMax, let key = HostKey(text: text) else {
            throw coder.fault()
        }
        let said = Said(rawValue: try coder.number(Said(self).rawValue))
        guard said.isSubset(of: .known) else { throw coder.fault() }
        var row = HostTable.Row(
            app: try coder.number(old.app),
            windows: try coder.value(old.windows),
            delivery: try coder.choice(old.delivery),
            registeredAt: try coder.instant(old.registeredAt),
            firstRegisteredAt: try coder.instant(old.firstRegisteredAt)
        )
        row.firstInstance = try coder.slot(old.firstInstance)
        row.liveInstances = try coder.number(old.liveInstances)
        row.revision = try coder.number(old.revision)
        row.isRegistered = said.contains(.isRegistered)
        row.tellsVisibility = said.contains(.tellsVisibility)
        row.isInStandBy = said.contains(.isInStandBy)
        row.isInLowPower = said.contains(.isInLowPower)
        row.isRegisteredByItself = said.contains(.isRegisteredByItself)
        if said.contains(.lease) { row.leaseEnds = try coder.instant(old.leaseEnds ?? .epoch) }
        if said.contains(.times) {
            row.exemptUntil = try coder.date(old.exemptUntil)
            row.pushedAt = try coder.date(old.pushedAt)
        }
        if said.contains(.coldFields) { row.coldFields = try old.coldFields.coded(by: &coder) }
        guard said.contains(.context) else { return HostTable.Record(key: key, row: row, context: HostContext()) }
        return HostTable.Record(key: key, row: row, context: try coder.value(self.context))
    }

    /// The yes-or-no properties of a host, and which of its fields follow: those that do not have their first value.
    private struct Said: OptionSet {
        let rawValue: UInt16

        static let isRegistered = Said(rawValue: 1 << 0)
        static let tellsVisibility = Said(rawValue: 1 << 1)
        static let isInStandBy = Said(rawValue: 1 << 2)
        static let isInLowPower = Said(rawValue: 1 << 3)
        static let lease = Said(rawValue: 1 << 4)
        static let times = Said(rawValue: 1 << 5)
        static let coldFields = Said(rawValue: 1 << 6)
        static let context = Said(rawValue: 1 << 7)
        static let isRegisteredByItself = Said(rawValue: 1 << 8)
        static let known = Said(rawValue: (1 << 9) - 1)

        init(rawValue: UInt16) { self.rawValue = rawValue }

        init(_ record: HostTable.Record) {
            var said: Said = []
            if record.row.isRegistered { said.insert(.isRegistered) }
            if record.row.tellsVisibility { said.insert(.tellsVisibility) }
            if record.row.isInStandBy { said.insert(.isInStandBy) }
            if record.row.isInLowPower { said.insert(.isInLowPower) }
            if record.row.leaseEnds != nil { said.insert(.lease) }
            if record.row.exemptUntil != .distantPast || record.row.pushedAt != .distantPast { said.insert(.times) }
            if record.row.hasColdFields { said.insert(.coldFields) }
            if !record.context.isBlank { said.insert(.context) }
            if record.row.isRegisteredByItself { said.insert(.isRegisteredByItself) }
            self = said
        }
    }
}

extension HostTable.ColdFields: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> HostTable.ColdFields {
        var coldFields = self
        coldFields.foregroundUntil = try coder.date(self.foregroundUntil)
        for session in coldFields.sessionsUntil.indices {
            coldFields.sessionsUntil[session] = try coder.date(self.sessionsUntil[session])
        }
        coldFields.budget = try coder.value(self.budget)
        coldFields.budgetInterval = try coder.number(self.budgetInterval)
        return coldFields
    }
}

extension HostTable.Row {
    /// The row of a free number: no registered host.
    static let blank: HostTable.Row = {
        var row = HostTable.Row(
            app: .none,
            windows: TunedWindows(host: HostKey(app: BundleID(""), id: HostID("")), at: .epoch),
            delivery: .stream,
            registeredAt: .epoch,
            firstRegisteredAt: .epoch
        )
        row.isRegistered = false
        return row
    }()
}

extension TokenTable.BoundToken: Coded {
    /// Codes a host's tokens, and gives each to `body`.
    static func each<Coder: StateCoder>(
        _ tokens: [TokenTable.BoundToken],
        by coder: inout Coder,
        _ body: (TokenTable.BoundToken) -> Void
    ) throws(ByteError) {
        let count: Int = try coder.number(tokens.count)
        for index in 0..<count { body(try (index < tokens.count ? tokens[index] : .blank).coded(by: &coder)) }
    }

    static let blank = TokenTable.BoundToken(
        token: DeviceToken(bytes: []),
        boundAt: .epoch,
        environment: .production
    )

    func coded(by coder: inout some StateCoder) throws(ByteError) -> TokenTable.BoundToken {
        TokenTable.BoundToken(
            token: try coder.value(self.token),
            boundAt: try coder.instant(self.boundAt),
            environment: try coder.choice(self.environment)
        )
    }
}

import Timelines
import WidgetModel

extension HostTable {
    /// A host as snapshots hold it, but for its tokens, which stand behind; see ``TokenTable/BoundToken/each(_:by:_:)``.
    struct Record {
        var row: Row
        var context: HostContext
    }
}

extension HostTable.Record: Coded {
    static let blank = HostTable.Record(row: .blank, context: HostContext())

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> HostTable.Record {
        let old = self.row
        var row = HostTable.Row(
            id: HostID(try coder.text(old.id.rawValue)),
            app: try coder.number(old.app),
            windows: try coder.value(
                old.windows,
                { $0.encode(into: &$1) },
                { (reader) throws(ByteFault) in try TunedWindows(from: &reader) }
            ),
            delivery: try coder.choice(old.delivery),
            registeredAt: try coder.instant(old.registeredAt),
            firstRegisteredAt: try coder.instant(old.firstRegisteredAt)
        )
        let context = try coder.value(
            self.context,
            { $0.encode(into: &$1) },
            { (reader) throws(ByteFault) in try HostContext(from: &reader) }
        )
        row.firstInstance = try coder.slot(old.firstInstance)
        row.liveInstances = try coder.number(old.liveInstances)
        row.isRegistered = try coder.flag(old.isRegistered)
        row.exemptUntil = try coder.date(old.exemptUntil)
        var aside = old.aside
        aside.foregroundUntil = try coder.date(aside.foregroundUntil)
        for session in aside.sessionsUntil.indices {
            aside.sessionsUntil[session] = try coder.date(aside.sessionsUntil[session])
        }
        aside.budget = try aside.budget.coded(by: &coder)
        aside.budgetMinute = try coder.number(aside.budgetMinute)
        row.aside = aside
        row.tellsVisibility = try coder.flag(old.tellsVisibility)
        row.isInStandBy = try coder.flag(old.isInStandBy)
        row.isInLowPower = try coder.flag(old.isInLowPower)
        row.pushedAt = try coder.date(old.pushedAt)
        row.revision = try coder.number(old.revision)
        row.leaseEnds = try coder.optional(old.leaseEnds, .epoch) { (coder, value) throws(ByteFault) in
            try coder.instant(value)
        }
        return HostTable.Record(row: row, context: context)
    }
}

extension HostTable.Row {
    /// What a number has that is free: no registered host.
    static let blank: HostTable.Row = {
        var row = HostTable.Row(
            id: HostID(""),
            app: 0,
            windows: TunedWindows(host: HostID(""), at: .epoch),
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
    ) throws(ByteFault) {
        let count: Int = try coder.number(tokens.count)
        for index in 0..<count { body(try (index < tokens.count ? tokens[index] : .blank).coded(by: &coder)) }
    }

    static let blank = TokenTable.BoundToken(
        token: DeviceToken(bytes: []),
        boundAt: .epoch,
        environment: .production
    )

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> TokenTable.BoundToken {
        TokenTable.BoundToken(
            token: try coder.token(self.token),
            boundAt: try coder.instant(self.boundAt),
            environment: try coder.choice(self.environment)
        )
    }
}

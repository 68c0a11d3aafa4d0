import Timelines
import WidgetModel

extension HostTable {
    /// A host as snapshots hold it: its row, and what other tables keep of it.
    struct Record {
        var row: Row
        var context: HostContext
        /// The push tokens, the oldest first.
        var tokens: [TokenTable.BoundToken]
    }
}

extension HostTable.Record: Coded {
    static let blank = HostTable.Record(row: .blank, context: HostContext(), tokens: [])

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
        row.foregroundUntil = try coder.date(old.foregroundUntil)
        var sessions = old.sessionsUntil
        for session in sessions.indices { sessions[session] = try coder.date(sessions[session]) }
        row.sessionsUntil = sessions
        row.budget = try old.budget.coded(by: &coder)
        row.budgetMinute = try coder.number(old.budgetMinute)
        row.tellsVisibility = try coder.flag(old.tellsVisibility)
        row.isInStandBy = try coder.flag(old.isInStandBy)
        row.isInLowPower = try coder.flag(old.isInLowPower)
        row.pushedAt = try coder.date(old.pushedAt)
        row.revision = try coder.number(old.revision)
        row.leaseEnds = try coder.optional(old.leaseEnds, .epoch) { (coder, value) throws(ByteFault) in
            try coder.instant(value)
        }
        let tokens = try coder.list(self.tokens, .blank) { (coder, value) throws(ByteFault) in
            try value.coded(by: &coder)
        }
        return HostTable.Record(row: row, context: context, tokens: tokens)
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

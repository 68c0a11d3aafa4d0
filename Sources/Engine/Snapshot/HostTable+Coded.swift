import Timelines
import WidgetModel

extension HostTable.Row: Coded {
    /// What a number has that is free: no registered host.
    static let blank: HostTable.Row = {
        var row = HostTable.Row(
            id: HostID(""),
            app: 0,
            windows: TunedWindows(host: HostID(""), at: .epoch),
            delivery: .stream,
            registeredAt: .epoch,
            firstRegisteredAt: .epoch,
            context: HostContext()
        )
        row.isRegistered = false
        return row
    }()

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> HostTable.Row {
        var row = HostTable.Row(
            id: HostID(try coder.text(self.id.rawValue)),
            app: try coder.number(self.app),
            windows: try coder.value(
                self.windows,
                { $0.encode(into: &$1) },
                { (reader) throws(ByteFault) in try TunedWindows(from: &reader) }
            ),
            delivery: try coder.choice(self.delivery),
            registeredAt: try coder.instant(self.registeredAt),
            firstRegisteredAt: try coder.instant(self.firstRegisteredAt),
            context: try coder.value(
                self.context,
                { $0.encode(into: &$1) },
                { (reader) throws(ByteFault) in try HostContext(from: &reader) }
            )
        )
        row.firstInstance = try coder.slot(self.firstInstance)
        row.liveInstances = try coder.number(self.liveInstances)
        row.isRegistered = try coder.flag(self.isRegistered)
        row.exemptUntil = try coder.date(self.exemptUntil)
        row.foregroundUntil = try coder.date(self.foregroundUntil)
        for session in self.sessionsUntil.indices {
            row.sessionsUntil[session] = try coder.date(self.sessionsUntil[session])
        }
        row.budget = try self.budget.coded(by: &coder)
        row.budgetMinute = try coder.number(self.budgetMinute)
        row.tellsVisibility = try coder.flag(self.tellsVisibility)
        row.isInStandBy = try coder.flag(self.isInStandBy)
        row.isInLowPower = try coder.flag(self.isInLowPower)
        row.pushedAt = try coder.date(self.pushedAt)
        row.revision = try coder.number(self.revision)
        row.leaseEnds = try coder.optional(self.leaseEnds, .epoch) { (coder, value) throws(ByteFault) in
            try coder.instant(value)
        }
        row.tokens = try coder.list(self.tokens, .blank) { (coder, value) throws(ByteFault) in
            try value.coded(by: &coder)
        }
        return row
    }
}

extension HostTable.Row.Token: Coded {
    static let blank = HostTable.Row.Token(
        token: DeviceToken(bytes: []),
        boundAt: .epoch,
        environment: .production
    )

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> HostTable.Row.Token {
        HostTable.Row.Token(
            token: try coder.token(self.token),
            boundAt: try coder.instant(self.boundAt),
            environment: try coder.choice(self.environment)
        )
    }
}

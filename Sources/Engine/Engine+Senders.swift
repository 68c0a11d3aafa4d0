package import Timelines
package import WidgetModel

extension Engine {
    /// The accounts of all senders that have sent something here, in the order of their teams.
    package func senders() -> [SenderView] {
        (0..<self.ledger.accountCount).compactMap { team -> SenderView? in
            let account = self.ledger.account(of: TeamNumber(team))
            // A push to an app is counted by the first partition, and may have cost something here.
            guard account != Ledger.Account() else { return nil }
            return SenderView(
                team: TeamID(self.catalogue.teams[team]),
                pushes: account.pushes,
                repeats: account.repeats,
                matched: account.matched,
                unchanged: account.unchanged,
                refused: account.refused,
                charged: account.charged,
                exempt: account.exempt,
                collateral: account.collateral,
                collateralOver: account.collateralOver
            )
        }
        .sorted { $0.team.rawValue < $1.team.rawValue }
    }

    /// Books an issued reload on the account of the sender whose push caused it. Reloads for the system's own causes
    /// are on no account.
    mutating func book(_ row: Reloads.Reload) {
        guard !row.primary.isNone else { return }
        self.ledger.chargeSender(of: self.reloads[row.primary].push, isExempt: row.exemption != nil)
    }

    /// The widgets of a host in the order of a Smart Stack, or nil if it is not registered here.
    package func stack(of host: HostKey, at now: Instant) -> SmartStack? {
        guard let slot = self.registry.findHost(host), self.registry[slot].isRegistered else { return nil }
        return SmartStack(
            self.registry.instances(of: slot)
                .filter { self.registry[$0].isLive && !self.registry[$0].isControl }
                .map { instance in
                    let shown = self.registry[content: instance].timeline
                    return SmartStack.Widget(self.registry.id(of: instance), showing: shown?.timeline, at: now)
                }
        )
    }
}

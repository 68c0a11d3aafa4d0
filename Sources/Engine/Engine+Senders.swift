package import Timelines
package import WidgetModel

extension Engine {
    /// The accounts of all senders that have sent something here, in the order of their teams.
    package func senders() -> [SenderView] {
        self.accounts.accounts.indices.compactMap { team -> SenderView? in
            let account = self.accounts[TeamNumber(team)]
            // A push to an app is counted by the first partition, and may have cost something here.
            guard account != SenderAccounts.Account() else { return nil }
            return SenderView(
                team: TeamID(self.teams.names[team]),
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

    /// Books an issued reload on the account of the sender whose push made it happen; the system's own causes cost
    /// nobody anything.
    mutating func book(_ row: ReloadTable.Row) {
        guard !row.primary.isNone else { return }
        let team = self.ledger[self.causes[row.primary].push].team
        if row.exemption == nil { self.accounts[team].charged += 1 } else { self.accounts[team].exempt += 1 }
    }

    /// The widgets of a host in the order of a Smart Stack, or nil if it is not registered here.
    package func stack(of host: HostKey, at now: Instant) -> SmartStack? {
        guard let slot = self.hosts.find(host), self.hosts[slot].isRegistered else { return nil }
        return SmartStack(
            self.instances(of: slot)
                .filter { self.instances[$0].isLive && !self.instances[$0].isControl }
                .map { instance in
                    let shown = self.instances[content: instance].timeline
                    return SmartStack.Widget(self.instances.id(of: instance), showing: shown?.timeline, at: now)
                }
        )
    }
}

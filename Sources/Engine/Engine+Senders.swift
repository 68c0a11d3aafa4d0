package import Timelines
package import WidgetModel

extension Engine {
    /// The accounts of all senders that have sent something here, in the order of their teams.
    package func senders() -> [SenderView] {
        (0..<self.ledger.accounts.accounts.count).compactMap { team -> SenderView? in
            let counts = self.ledger.accounts[TeamNumber(team)]
            return counts == SenderCounts() ? nil : SenderView(team: TeamID(self.catalogue.teams[team]), counts: counts)
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

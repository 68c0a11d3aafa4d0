import WidgetModel

/// The costs and outcomes of each sender's pushes, by team.
struct SenderAccounts: Sendable {
    private(set) var accounts: [SenderCounts] = []

    /// No accounts.
    init() {}

    /// Accounts that were read back.
    init(accounts: [SenderCounts]) {
        self.accounts = accounts
    }

    subscript(team: TeamNumber) -> SenderCounts {
        get { team.index < self.accounts.count ? self.accounts[team.index] : SenderCounts() }
        set {
            while team.index >= self.accounts.count { self.accounts.append(SenderCounts()) }
            self.accounts[team.index] = newValue
        }
    }

    /// Adds a push whose matching is over, with the outcomes that it has now. Outcomes of waiting pushes that come later are not added.
    /// Another partition may count the push itself.
    @inline(__always)
    mutating func countPush(_ row: PushTable.Row, isCounted: Bool) {
        var account = self[row.team]
        account.pushes += isCounted ? 1 : 0
        account.matched += Int(row.matched)
        account.unchanged += Int(row.counts[Int(PushOutcome.unchanged.rawValue)])
        account.refused += Int(row.counts[Int(PushOutcome.expired.rawValue)])
        account.refused += Int(row.counts[Int(PushOutcome.failed.rawValue)])
        self[row.team] = account
    }
}

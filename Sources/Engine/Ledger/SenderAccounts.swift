import WidgetModel

/// The costs and outcomes of each sender's pushes, by team.
struct SenderAccounts: Sendable {
    struct Account: Hashable, Sendable {
        var pushes = 0
        var repeats = 0
        var matched = 0
        var unchanged = 0
        /// Matched instances whose push ended `expired`, having been now or never, or `failed` as too many waited.
        var refused = 0
        /// Charged reloads that the sender's pushes caused, and those that were exempt.
        var charged = 0
        var exempt = 0
        /// Reloads of other instances that share a token with one of those, within their budgets and beyond.
        var collateral = 0
        var collateralOver = 0
    }

    private(set) var accounts: [Account] = []

    /// No accounts.
    init() {}

    /// Accounts that were read back.
    init(accounts: [Account]) {
        self.accounts = accounts
    }

    subscript(team: TeamNumber) -> Account {
        get { team.index < self.accounts.count ? self.accounts[team.index] : Account() }
        set {
            while team.index >= self.accounts.count { self.accounts.append(Account()) }
            self.accounts[team.index] = newValue
        }
    }

    /// A push was decided for every instance that it matched here; another partition may count the push itself.
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

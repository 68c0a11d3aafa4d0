import IntentMatching
import Timelines
import WidgetModel

/// The apps and kinds that were ever configured, by number; numbers are never used again.
struct AppTable: Sendable {
    struct App: Sendable {
        let id: BundleID
        var team: UInt32
        var defaultExpiration: Interval
        var defaultPriority: Priority
        var developerMode: Bool
        /// Whether the settings in force name it.
        var isConfigured = true
        /// Numbers of its kinds, sorted by kind.
        var kinds: [UInt32] = []
    }

    struct Kind: Sendable {
        let app: UInt32
        var schema: KindSchema
        var budget: BudgetPolicy {
            didSet { self.bare = self.budget.withoutTexts }
        }
        /// The budget's numbers, for decisions.
        private(set) var bare: BudgetPolicy
        /// Policies that were replaced less than a window ago, oldest first: they still bind the windows they opened.
        var replaced: [Replaced] = []
        var isConfigured = true

        init(app: UInt32, schema: KindSchema, budget: BudgetPolicy) {
            self.app = app
            self.schema = schema
            self.budget = budget
            self.bare = budget.withoutTexts
        }

        var name: WidgetKind { self.schema.kind }
    }

    struct Replaced: Sendable {
        let budget: BudgetPolicy
        let at: Instant
    }

    private(set) var names: NameTable
    var apps: [App] = []
    var kinds: [Kind] = []

    init(seed: UInt64) {
        self.names = NameTable(seed: seed)
    }

    /// The number of a configured app.
    func find(_ app: BundleID) -> UInt32? {
        guard let slot = self.names.find(app.rawValue), self.apps[Int(slot)].isConfigured else { return nil }
        return slot
    }

    /// The number of a configured kind of an app.
    func find(_ kind: WidgetKind, of app: UInt32) -> UInt32? {
        self.apps[Int(app)].kinds.first { slot in
            self.kinds[Int(slot)].isConfigured && self.kinds[Int(slot)].name == kind
        }
    }

    /// Takes an app's settings in, keeping its number.
    mutating func configure(_ settings: AppSettings, team: UInt32) -> UInt32 {
        let slot = self.names.intern(settings.app.rawValue)
        if Int(slot) == self.apps.count {
            self.apps.append(
                App(
                    id: settings.app,
                    team: team,
                    defaultExpiration: settings.defaultExpiration,
                    defaultPriority: settings.defaultPriority,
                    developerMode: settings.developerMode
                )
            )
            return slot
        }
        self.apps[Int(slot)].team = team
        self.apps[Int(slot)].defaultExpiration = settings.defaultExpiration
        self.apps[Int(slot)].defaultPriority = settings.defaultPriority
        self.apps[Int(slot)].developerMode = settings.developerMode
        self.apps[Int(slot)].isConfigured = true
        return slot
    }

    /// The number of a kind that is configured or was, or nil.
    func findAny(_ kind: WidgetKind, of app: UInt32) -> UInt32? {
        self.apps[Int(app)].kinds.first { self.kinds[Int($0)].name == kind }
    }

    mutating func addKind(_ settings: KindSettings, of app: UInt32) -> UInt32 {
        self.kinds.append(Kind(app: app, schema: settings.schema, budget: settings.budget))
        let slot = UInt32(self.kinds.count - 1)
        self.apps[Int(app)].kinds.append(slot)
        self.apps[Int(app)].kinds.sort { self.kinds[Int($0)].name < self.kinds[Int($1)].name }
        return slot
    }

    /// The terms of a kind's budget in the window of its present policy.
    @inline(__always)
    func terms(kind: UInt32, anchor: UInt32, at now: Instant) -> BudgetTerms {
        let window = self.kinds[Int(kind)].bare.window(containing: now, anchoredAt: Int(anchor))
        return BudgetTerms(policy: self.kinds[Int(kind)].bare, window: window)
    }

    /// The terms of a kind's budget for a host at an instant.
    ///
    /// A policy that was replaced still opened the window that it was replaced in: until that window ends, each number
    /// is the stricter one of the policies in force in it.
    func terms(kind: UInt32, anchor: UInt32, host: HostID, at now: Instant) -> BudgetTerms {
        var terms = self.terms(kind: kind, anchor: anchor, at: now)
        for old in self.kinds[Int(kind)].replaced.reversed() {
            let opened = old.budget.window(containing: old.at, anchoredAt: old.budget.anchor(of: host))
            if opened.contains(now) { terms = BudgetTerms(policy: old.budget, window: opened).smaller(with: terms) }
        }
        return terms
    }
}

extension BudgetPolicy {
    /// The same numbers without the texts, which would be counted references whenever the policy is passed on.
    var withoutTexts: BudgetPolicy {
        var policy = self
        policy.name = ""
        policy.source = ""
        policy.date = ""
        return policy
    }
}

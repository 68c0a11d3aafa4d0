import IntentMatching
import Storage
import Timelines
import WidgetModel

/// The apps and kinds that were ever configured, by number; numbers are never used again.
struct AppTable: ~Copyable, Sendable {
    struct App: Sendable {
        let id: BundleID
        var team: TeamNumber
        var defaultExpiration: Interval
        var defaultPriority: Priority
        var developerMode: Bool
        var environment: PushEnvironment
        /// Until when nothing of it reloads, in milliseconds.
        var pausedUntil = Int64.min
        /// Whether the settings in force name it.
        var isConfigured = true
        /// Numbers of its kinds, sorted by kind.
        var kinds: [KindNumber] = []
    }

    struct Kind: Sendable {
        let app: AppNumber
        var schema: KindSchema
        var budget: BudgetPolicy {
            didSet {
                self.bare = self.budget.withoutTexts
                (self.usual, self.early) = Self.terms(of: self.bare)
                self.isTuned = self.budget.window == .tuned
                self.isShared = self.budget.scope == .host
            }
        }
        /// The budget's numbers, for decisions.
        private(set) var bare: BudgetPolicy
        /// The terms of the allowances that most instances have, in some window of the policy's length: the typical one,
        /// and that of a host's first days.
        private(set) var usual: BudgetTerms
        private(set) var early: BudgetTerms
        private(set) var isTuned: Bool
        /// Whether all instances of a host share one budget.
        private(set) var isShared: Bool
        /// Whether a significant change of location reloads its instances.
        var usesLocation: Bool
        /// Policies that were replaced less than a window ago, oldest first: they still bind the windows they opened.
        var replaced: [Replaced] = []
        var isConfigured = true
        /// Until when nothing of it reloads by an order of its own, and by that or its app's, in milliseconds.
        var ownPausedUntil = Int64.min
        fileprivate(set) var pausedUntil = Int64.min

        /// A kind that was read back; ``AppTable/refreshPause(of:)`` when its app is there.
        init(app: AppNumber, schema: KindSchema, budget: BudgetPolicy, usesLocation: Bool) {
            self.init(app: app, KindSettings(schema: schema, budget: budget, usesLocation: usesLocation))
        }

        init(app: AppNumber, _ settings: KindSettings) {
            self.app = app
            self.schema = settings.schema
            self.budget = settings.budget
            self.bare = settings.budget.withoutTexts
            (self.usual, self.early) = Self.terms(of: self.bare)
            self.isTuned = settings.budget.window == .tuned
            self.isShared = settings.budget.scope == .host
            self.usesLocation = settings.usesLocation
        }

        private static func terms(of policy: BudgetPolicy) -> (usual: BudgetTerms, early: BudgetTerms) {
            let window = BudgetWindow(start: .epoch, length: policy.windowLength)
            let allowances = [false, true].map { isLearning in
                policy.allowance(for: .typical, in: window.length, isLearning: isLearning)
            }
            return (
                BudgetTerms(policy: policy, window: window, allowance: allowances[0]),
                BudgetTerms(policy: policy, window: window, allowance: allowances[1])
            )
        }

        var name: WidgetKind { self.schema.kind }
    }

    struct Replaced: Sendable {
        let budget: BudgetPolicy
        let at: Instant
    }

    private(set) var names: NameTable<NumberTag.App>
    var apps: [App] = []
    var kinds: [Kind] = []

    init(seed: UInt64) {
        self.names = NameTable(seed: seed)
    }

    /// The apps and kinds that were read back.
    init(seed: UInt64, apps: [App], kinds: [Kind]) {
        self.init(seed: seed)
        for app in apps { _ = self.names.intern(app.id.rawValue) }
        self.apps = apps
        self.kinds = kinds
        for kind in kinds.indices { self.refreshPause(of: KindNumber(kind)) }
    }

    /// The same apps and kinds under the same numbers.
    func duplicate() -> AppTable {
        var copy = AppTable(names: self.names.duplicate())
        copy.apps = self.apps
        copy.kinds = self.kinds
        return copy
    }

    private init(names: consuming NameTable<NumberTag.App>) { self.names = names }

    /// An app that is or was configured.
    @inline(__always)
    subscript(app: AppNumber) -> App {
        _read { yield self.apps[app.index] }
        _modify { yield &self.apps[app.index] }
    }

    /// A kind that is or was configured.
    @inline(__always)
    subscript(kind: KindNumber) -> Kind {
        _read { yield self.kinds[kind.index] }
        _modify { yield &self.kinds[kind.index] }
    }

    /// The number of a configured app.
    func find(_ app: BundleID) -> AppNumber? {
        guard let slot = self.names.find(app.rawValue), self[slot].isConfigured else { return nil }
        return slot
    }

    /// The number of an app that is configured or was, or nil.
    func findAny(_ app: BundleID) -> AppNumber? { self.names.find(app.rawValue) }

    /// The number of a configured kind of an app.
    func find(_ kind: WidgetKind, of app: AppNumber) -> KindNumber? {
        self[app].kinds.first { slot in
            self[slot].isConfigured && self[slot].name == kind
        }
    }

    /// Takes an app's settings in, keeping its number.
    mutating func configure(_ settings: AppSettings, team: TeamNumber) -> AppNumber {
        let slot = self.names.intern(settings.app.rawValue)
        if slot.index == self.apps.count {
            self.apps.append(
                App(
                    id: settings.app,
                    team: team,
                    defaultExpiration: settings.defaultExpiration,
                    defaultPriority: settings.defaultPriority,
                    developerMode: settings.developerMode,
                    environment: settings.environment
                )
            )
            return slot
        }
        self[slot].team = team
        self[slot].defaultExpiration = settings.defaultExpiration
        self[slot].defaultPriority = settings.defaultPriority
        self[slot].developerMode = settings.developerMode
        self[slot].environment = settings.environment
        self[slot].isConfigured = true
        return slot
    }

    /// The number of a kind that is configured or was, or nil.
    func findAny(_ kind: WidgetKind, of app: AppNumber) -> KindNumber? {
        self[app].kinds.first { self[$0].name == kind }
    }

    /// Finds out again until when a kind is paused.
    mutating func refreshPause(of kind: KindNumber) {
        let app = self[kind].app
        self[kind].pausedUntil = max(self[kind].ownPausedUntil, self[app].pausedUntil)
    }

    mutating func addKind(_ settings: KindSettings, of app: AppNumber) -> KindNumber {
        self.kinds.append(Kind(app: app, settings))
        let slot = KindNumber(self.kinds.count - 1)
        self.refreshPause(of: slot)
        self[app].kinds = (self[app].kinds + [slot]).sorted { self[$0].name < self[$1].name }
        return slot
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

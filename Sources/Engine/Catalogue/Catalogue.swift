import IntentMatching
import Storage
import Timelines
import WidgetModel

/// The operators' settings: those in force, and the teams, apps and kinds that were ever named, by number; numbers are never used again.
struct Catalogue: ~Copyable, Sendable {
    struct App: Sendable {
        let id: BundleID
        var team: TeamNumber
        var defaultExpiration: Interval
        var defaultPriority: Priority
        var developerMode: Bool
        var environment: PushEnvironment
        /// Until when nothing of it reloads.
        var pausedUntil = Instant.distantPast
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
        /// When a pause of the kind alone ends.
        var ownPausedUntil = Instant.distantPast
        /// When the last pause ends, the kind's own or its app's.
        fileprivate(set) var pausedUntil = Instant.distantPast

        /// A kind by its settings: one that is new, or was read back.
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

    /// The settings in force, nil before the first.
    private(set) var settings: EngineSettings?
    private(set) var limits = EngineLimits()
    private var teamNames: NameTable<NumberTag.Team>
    private var appNames: NameTable<NumberTag.App>
    private(set) var apps: [App] = []
    private(set) var kinds: [Kind] = []
    /// The team whose push came last: looked at first, and no part of the state.
    private var latestTeam: TeamNumber?

    init(seed: UInt64) {
        self.teamNames = NameTable(seed: seed)
        self.appNames = NameTable(seed: seed)
    }

    /// The catalogue of a snapshot, without the pauses of apps and kinds.
    init(seed: UInt64, settings: EngineSettings?, teams: [String], apps: [App], kinds: [Kind]) {
        self.init(seed: seed)
        self.settings = settings
        self.limits = settings?.limits ?? EngineLimits()
        for team in teams { _ = self.teamNames.intern(team) }
        for app in apps { _ = self.appNames.intern(app.id.rawValue) }
        self.apps = apps
        self.kinds = kinds
    }
}

// MARK: - Teams

extension Catalogue {
    /// The names of all teams, by their numbers.
    var teams: [String] { self.teamNames.names }

    func teamName(_ team: TeamNumber) -> String { self.teamNames[team] }

    func findTeam(_ name: String) -> TeamNumber? { self.teamNames.find(name) }

    mutating func internTeam(_ name: String) -> TeamNumber { self.teamNames.intern(name) }

    /// The number of the team whose name stands in these bytes; a new one if it has none.
    mutating func internTeam(_ bytes: [UInt8], in range: Range<Int>) throws(ByteError) -> TeamNumber {
        // Most pushes are of the sender that pushed last.
        if let latest = self.latestTeam, self.teamNames[latest].equals(bytes, in: range) { return latest }
        let team: TeamNumber
        if let known = self.teamNames.find(bytes, in: range) {
            team = known
        } else {
            guard let name = String(utf8: bytes.span.extracting(range)) else {
                throw .invalid(offset: range.lowerBound)
            }
            team = self.teamNames.intern(name)
        }
        self.latestTeam = team
        return team
    }
}

// MARK: - Apps and kinds

extension Catalogue {
    /// An app that is or was configured.
    @inline(__always)
    subscript(app: AppNumber) -> App {
        _read { yield self.apps[app.index] }
    }

    /// A kind that is or was configured.
    @inline(__always)
    subscript(kind: KindNumber) -> Kind {
        _read { yield self.kinds[kind.index] }
    }

    /// The number of a configured app.
    func findApp(_ app: BundleID) -> AppNumber? {
        guard let slot = self.appNames.find(app.rawValue), self[slot].isConfigured else { return nil }
        return slot
    }

    /// The number of the configured app whose id stands in these bytes.
    func findApp(_ bytes: [UInt8], in range: Range<Int>) -> AppNumber? {
        guard let slot = self.appNames.find(bytes, in: range), self[slot].isConfigured else { return nil }
        return slot
    }

    /// The number of an app that is configured or was.
    func findAnyApp(_ app: BundleID) -> AppNumber? { self.appNames.find(app.rawValue) }

    /// The number of a configured kind of an app.
    func findKind(_ kind: WidgetKind, of app: AppNumber) -> KindNumber? {
        self[app].kinds.first { slot in
            self[slot].isConfigured && self[slot].name == kind
        }
    }

    /// The number of a kind that is configured or was.
    func findAnyKind(_ kind: WidgetKind, of app: AppNumber) -> KindNumber? {
        self[app].kinds.first { self[$0].name == kind }
    }
}

// MARK: - Orders

extension Catalogue {
    /// Nothing of an app reloads until then.
    mutating func pauseApp(_ app: AppNumber, until: Instant) {
        self.apps[app.index].pausedUntil = until
        for kind in self[app].kinds { self.refreshPause(of: kind) }
    }

    /// Nothing of a kind reloads until then.
    mutating func pauseKind(_ kind: KindNumber, until: Instant) {
        self.kinds[kind.index].ownPausedUntil = until
        self.refreshPause(of: kind)
    }

    /// Finds out again until when a kind is paused.
    private mutating func refreshPause(of kind: KindNumber) {
        let app = self[kind].app
        self.kinds[kind.index].pausedUntil = max(self[kind].ownPausedUntil, self[app].pausedUntil)
    }
}

// MARK: - Settings

extension Catalogue {
    /// Puts settings in force. Apps and kinds that they do not name keep their numbers and are configured no longer.
    ///
    /// - Returns: The apps whose tokens are of another environment from now on.
    mutating func applySettings(_ settings: EngineSettings, at now: Instant) -> [AppNumber] {
        self.settings = settings
        self.limits = settings.limits
        let before = self.apps
        for app in self.apps.indices { self.apps[app].isConfigured = false }
        for kind in self.kinds.indices { self.kinds[kind].isConfigured = false }
        var moved: [AppNumber] = []
        for app in settings.apps {
            let slot = self.applyApp(app, team: self.internTeam(app.team.rawValue))
            if slot.index < before.count, before[slot.index].environment != app.environment { moved.append(slot) }
            for kind in app.kinds { self.applyKind(kind, of: slot, at: now) }
        }
        return moved
    }

    /// Swaps the kinds with other ones. A caller can then calculate by the earlier kinds, and swap back.
    ///
    /// - Parameter kinds: Kinds, by number.
    mutating func swapKinds(with kinds: inout [Kind]) { swap(&self.kinds, &kinds) }

    private mutating func applyKind(_ settings: KindSettings, of app: AppNumber, at now: Instant) {
        guard let kind = self.findAnyKind(settings.schema.kind, of: app) else {
            return self.addKind(settings, of: app)
        }
        let old = self[kind].budget
        self.kinds[kind.index].isConfigured = true
        self.kinds[kind.index].schema = settings.schema
        self.kinds[kind.index].budget = settings.budget
        self.kinds[kind.index].usesLocation = settings.usesLocation
        // A replaced policy binds the window that it opened, so it is needed for as long as that lasts.
        self.kinds[kind.index].replaced.removeAll { $0.at + $0.budget.windowLengthMax <= now }
        if old != settings.budget { self.kinds[kind.index].replaced.append(Replaced(budget: old, at: now)) }
    }

    /// Takes an app's settings in, keeping its number.
    private mutating func applyApp(_ settings: AppSettings, team: TeamNumber) -> AppNumber {
        let slot = self.appNames.intern(settings.app.rawValue)
        var app = App(
            id: settings.app,
            team: team,
            defaultExpiration: settings.defaultExpiration,
            defaultPriority: settings.defaultPriority,
            developerMode: settings.developerMode,
            environment: settings.environment
        )
        guard slot.index < self.apps.count else {
            self.apps.append(app)
            return slot
        }
        (app.pausedUntil, app.kinds) = (self[slot].pausedUntil, self[slot].kinds)
        self.apps[slot.index] = app
        return slot
    }

    private mutating func addKind(_ settings: KindSettings, of app: AppNumber) {
        self.kinds.append(Kind(app: app, settings))
        let slot = KindNumber(self.kinds.count - 1)
        self.refreshPause(of: slot)
        let kinds = (self[app].kinds + [slot]).sorted { self[$0].name < self[$1].name }
        self.apps[app.index].kinds = kinds
    }
}

// MARK: - Invariants

extension Catalogue {
    /// The violated invariants; empty unless there is a bug. O(kinds).
    func checkInvariants() -> [String] {
        var faults: [String] = []
        for app in self.apps.indices.map({ AppNumber($0) }) {
            let names = self[app].kinds.map { self[$0].name }
            if !zip(names, names.dropFirst()).allSatisfy({ $0 < $1 }) {
                faults.append("app \(app): its kinds are not sorted")
            }
            if !self[app].kinds.allSatisfy({ self[$0].app == app }) {
                faults.append("app \(app): lists another's kind")
            }
        }
        if self.apps.reduce(0, { $0 + $1.kinds.count }) != self.kinds.count {
            faults.append("a kind is in no app's list")
        }
        for kind in self.kinds where kind.pausedUntil != max(kind.ownPausedUntil, self[kind.app].pausedUntil) {
            faults.append("kind \(kind.name): paused until another instant than it and its app")
        }
        return faults
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

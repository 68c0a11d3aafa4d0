import IntentMatching
import Timelines
import WidgetModel

extension Engine {
    /// Puts settings in force. Kinds and apps that are no longer named keep their instances, which count as orphaned.
    ///
    /// - Returns: Nil if the instances are still to adopt them, see ``SettingsWork``.
    mutating func configure(_ settings: EngineSettings) -> RecordAnswer.Result? {
        guard settings.engineVersion <= Self.version else {
            return .settingsTooNew(engineVersion: settings.engineVersion)
        }
        let before = (apps: self.apps.apps, kinds: self.apps.kinds)
        self.settings = settings
        self.limits = settings.limits
        self.log.resize(to: settings.limits.decisionsRetainedMax)
        self.repeats.resize(to: settings.limits.repeatEntriesMax)
        for app in self.apps.apps.indices { self.apps.apps[app].isConfigured = false }
        for kind in self.apps.kinds.indices { self.apps.kinds[kind].isConfigured = false }
        for app in settings.apps {
            let slot = self.apps.configure(app, team: self.teams.intern(app.team.rawValue))
            if slot.index < before.apps.count, before.apps[slot.index].environment != app.environment {
                self.changeEnvironment(of: slot)
            }
            for kind in app.kinds { self.configure(kind, of: slot) }
        }
        self.usages.markChanged()
        self.work.push(.settings(SettingsWork(before: before.kinds, self.instances.usedNumbers())))
        return nil
    }

    private mutating func configure(_ settings: KindSettings, of app: AppNumber) {
        self.index.declare(settings.schema, app: self.apps[app].id)
        guard let kind = self.apps.findAny(settings.schema.kind, of: app) else {
            _ = self.apps.addKind(settings, of: app)
            return
        }
        let old = self.apps[kind].budget
        self.apps[kind].isConfigured = true
        self.apps[kind].schema = settings.schema
        self.apps[kind].budget = settings.budget
        self.apps[kind].usesLocation = settings.usesLocation
        // A replaced policy binds the window that it opened, so it is needed for as long as that lasts.
        self.apps[kind].replaced.removeAll { $0.at + $0.budget.windowLengthMax <= self.time }
        if old != settings.budget {
            self.apps[kind].replaced.append(AppTable.Replaced(budget: old, at: self.time))
        }
    }

    /// Fits an instance into changed settings: its budget, and whether its configuration is still what the kind has.
    ///
    /// - Parameter before: The kinds as they were, by number.
    mutating func adopt(_ instance: InstanceNumber, _ before: inout [AppTable.Kind]) {
        let row = self.instances[instance]
        let new = self.apps[row.kind]
        if row.kind.index < before.count, before[row.kind.index].budget != new.budget {
            swap(&self.apps.kinds, &before)
            self.openHostWindows(of: row.host)
            self.openWindow(of: instance)
            let terms = self.terms(of: instance)
            swap(&self.apps.kinds, &before)
            self.adoptWindow(of: instance)
            self.carryBudget(of: instance, from: terms, wasShared: before[row.kind.index].isShared)
        }
        guard row.isLive else { return }
        let configuration = self.instances.configuration(of: instance)
        let isOrphaned =
            !new.isConfigured || !self.apps[new.app].isConfigured || !new.schema.accepts(configuration)
        if isOrphaned != row.isOrphaned { self.counters.orphanedInstances += isOrphaned ? 1 : -1 }
        self.instances[instance].isOrphaned = isOrphaned
    }
}

import IntentMatching
import Timelines
import WidgetModel

extension Engine {
    /// Takes the settings with which a partition starts: its own, which are no version of those of all.
    mutating func start(_ settings: EngineSettings) -> RecordAnswer.Result? {
        self.settingsVersion == 0 ? self.adopt(settings) : .settingsOvertaken
    }

    /// Takes changed settings, and the amendment that they come from.
    mutating func configure(_ change: SettingsChange) -> RecordAnswer.Result? {
        guard change.base == self.settingsVersion else { return .settingsOvertaken }
        // Before a look at the rules, so that all partitions have the same versions and amendments.
        self.settingsVersion &+= 1
        if let amendment = change.amendment { self.amendments.takeAmendment(amendment, at: self.time) }
        return change.settings.map { self.adopt($0) } ?? .settings(orphaned: 0)
    }

    /// Puts settings in force. Kinds and apps that are no longer named keep their instances, which count as orphaned.
    ///
    /// What is bounded by the settings themselves is done at once.
    ///
    /// - Returns: Nil if the tables are still to adopt them, see ``SettingsWork``.
    private mutating func adopt(_ settings: EngineSettings) -> RecordAnswer.Result? {
        guard settings.engineVersion <= Self.version else {
            return .settingsTooNew(engineVersion: settings.engineVersion)
        }
        let before = self.catalogue.kinds
        let moved = self.catalogue.applySettings(settings, at: self.time)
        for app in settings.apps {
            for kind in app.kinds { self.registry.declare(kind.schema, app: app.app) }
        }
        self.registry.markUsagesChanged()
        let work = SettingsWork(
            movedApps: moved,
            hostsBelow: self.registry.hostEnd,
            before: before,
            instancesBelow: self.registry.instanceEnd
        )
        self.work.push(.settings(work))
        return nil
    }

    /// Fits an instance into changed settings: its budget, and whether its configuration still fits the kind.
    ///
    /// - Parameter before: The kinds as they were, by number.
    mutating func adopt(_ instance: InstanceNumber, _ before: inout [Catalogue.Kind]) {
        let row = self.registry[instance]
        let new = self.catalogue[row.kind]
        if row.kind.index < before.count, before[row.kind.index].budget != new.budget {
            self.catalogue.swapKinds(with: &before)
            self.openHostWindows(of: row.host)
            self.openWindow(of: instance)
            let terms = self.terms(of: instance)
            self.catalogue.swapKinds(with: &before)
            self.adoptWindow(of: instance)
            self.carryBudget(of: instance, from: terms, wasShared: before[row.kind.index].isShared)
        }
        guard row.isLive else { return }
        let configuration = self.registry.configuration(of: instance)
        let isOrphaned =
            !new.isConfigured || !self.catalogue[new.app].isConfigured || !new.schema.accepts(configuration)
        if isOrphaned != row.isOrphaned { self.counters.orphanedInstances += isOrphaned ? 1 : -1 }
        self.registry[instance].isOrphaned = isOrphaned
    }
}

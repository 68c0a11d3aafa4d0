import WidgetModel

/// Changed settings on their way through the tables.
struct SettingsWork: Sendable {
    fileprivate enum Phase {
        /// The ledger's rings get other capacities.
        case rings
        /// The directory is told which tokens stand for something in their apps' new environments, and which do not.
        case environments
        /// Instances, live and removed, adopt the settings.
        case adopting
        /// Decided only when all have adopted them: a decision can depend on the other instances of the host.
        case deciding
        case done
    }

    fileprivate var phase = Phase.rings
    /// The apps whose tokens are of another environment from now on.
    fileprivate let movedApps: [AppNumber]
    /// None, if there are no such apps.
    fileprivate var hosts: TableScan<NumberTag.Host>
    /// The kinds as they were, by number.
    fileprivate var before: [Catalogue.Kind]
    /// Begins again with each phase that goes through instances.
    fileprivate var instances: TableScan<NumberTag.Instance>
    fileprivate var orphaned = 0

    init(
        movedApps: [AppNumber],
        hostsBelow hostEnd: Int,
        before: [Catalogue.Kind],
        instancesBelow instanceEnd: Int
    ) {
        self.movedApps = movedApps
        self.hosts = TableScan(below: movedApps.isEmpty ? 0 : hostEnd)
        self.before = before
        self.instances = TableScan(below: instanceEnd)
    }

    var isDone: Bool { self.phase == .done }
    var result: RecordAnswer.Result { .settings(orphaned: self.orphaned) }
}

extension Engine {
    /// Does some of the work of changed settings. A unit is an instance, a token that is announced, or some rows or entries besides.
    mutating func advance(_ work: inout SettingsWork, _ units: inout Int) {
        while units > 0, !work.isDone {
            switch work.phase {
            case .rings: if self.ledger.resize(to: self.catalogue.limits, &units) { work.phase = .environments }
            case .environments: self.announceTokens(&work, &units)
            case .adopting: self.adopt(&work, &units)
            case .deciding: self.decide(&work, &units)
            case .done: return
            }
        }
    }

    private mutating func announceTokens(_ work: inout SettingsWork, _ units: inout Int) {
        while units > 0, !work.hosts.isDone {
            let before = self.output.directory.count
            for host in work.hosts.takeNext() where self.registry[host].isRegistered {
                if work.movedApps.contains(self.registry[host].app) { self.announceTokens(of: host) }
            }
            units -= 1 + self.output.directory.count - before
        }
        if work.hosts.isDone { work.phase = .adopting }
    }

    private mutating func adopt(_ work: inout SettingsWork, _ units: inout Int) {
        while units > 0, !work.instances.isDone {
            units -= 1
            for instance in work.instances.takeNext() where self.registry[instance].isUsed {
                self.adopt(instance, &work.before)
                if self.registry[instance].isOrphaned { work.orphaned += 1 }
                units -= 1
            }
        }
        guard work.instances.isDone else { return }
        work.instances.startAgain()
        work.phase = .deciding
    }

    private mutating func decide(_ work: inout SettingsWork, _ units: inout Int) {
        while units > 0, !work.instances.isDone {
            let before = self.output.effects.count
            units -= 1
            for instance in work.instances.takeNext() where self.registry[instance].isLive {
                self.decide(instance)
                units -= 1
            }
            units -= self.output.effects.count - before
        }
        if work.instances.isDone { work.phase = .done }
    }
}

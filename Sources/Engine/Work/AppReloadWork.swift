import IntentMatching
import WidgetModel

/// An app's request for reloads on its way through the instances that match.
///
/// All of them want a reload before the first is decided, since one push to a token may serve several. So each phase goes
/// through all of them before the next begins.
struct AppReloadWork: Sendable {
    fileprivate enum Phase {
        /// Instances that are not push-enabled are found: the index does not have them.
        case silent
        /// Those that show the content already are left out.
        case asked
        /// The request is added to the waiting causes.
        case wanting
        case decided
        /// Instances that have not reloaded are noted as deferred.
        case noted
        case done
    }

    let request: AppReloadRequest
    let app: AppNumber
    let kind: KindNumber?
    let digest: ContentDigest?
    fileprivate var phase = Phase.silent
    /// What is looked at for instances that are not push-enabled: nothing, if it is asked of one host.
    var scan = TableScan<NumberTag.Instance>(below: 0)
    /// What matches, then what is asked for, then what waits for it.
    fileprivate var instances: [InstanceNumber] = []
    /// Where the phase is among ``instances``.
    fileprivate var place = 0
    /// Those that the next phase goes through.
    fileprivate var kept: [InstanceNumber] = []
    /// The last reload that each had before it was decided.
    fileprivate var lastReloads: [ReloadNumber] = []
    /// How many were asked.
    fileprivate var asked = 0

    init(_ request: AppReloadRequest, app: AppNumber, kind: KindNumber?, _ digest: ContentDigest?) {
        self.request = request
        self.app = app
        self.kind = kind
        self.digest = digest
    }

    /// Adds instances that match, by number.
    mutating func add(_ matches: [InstanceNumber]) { self.instances += matches }

    var isDone: Bool { self.phase == .done }
    var result: RecordAnswer.Result { .appReload(matched: self.asked) }

    /// Goes on with what the phase kept.
    fileprivate mutating func enter(_ phase: Phase) {
        self.phase = phase
        self.instances = self.kept
        self.kept = []
        self.place = 0
    }

    /// Goes on with the same instances.
    fileprivate mutating func enterAgain(_ phase: Phase) {
        self.phase = phase
        self.place = 0
    }

    /// The next instance of the phase; nil at its end.
    fileprivate mutating func popNext() -> InstanceNumber? {
        guard self.place < self.instances.count else { return nil }
        defer { self.place += 1 }
        return self.instances[self.place]
    }
}

extension Engine {
    /// Does some of an app's request. A unit is an instance in one phase.
    mutating func advance(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, !work.isDone {
            switch work.phase {
            case .silent: self.findSilent(&work, &units)
            case .asked: self.ask(&work, &units)
            case .wanting: self.want(&work, &units)
            case .decided:
                while units > 0, let instance = work.popNext() {
                    let before = self.output.effects.count
                    self.decide(instance)
                    units -= 1 + self.output.effects.count - before
                }
                if units > 0 { work.enterAgain(.noted) }
            case .noted: self.noteDeferred(&work, &units)
            case .done: return
            }
        }
    }

    private mutating func findSilent(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, !work.scan.isDone {
            for instance in work.scan.takeNext() {
                let row = self.registry[instance]
                guard row.isLive, !row.pushEnabled, self.catalogue[row.kind].app == work.app,
                    work.kind == nil || row.kind == work.kind
                else { continue }
                if let pattern = work.request.pattern, !self.matches(instance, pattern) { continue }
                work.instances.append(instance)
            }
            units -= 1
        }
        if units > 0 { work.enterAgain(.asked) }
    }

    private mutating func ask(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, let instance = work.popNext() {
            units -= 1
            guard self.isMeant(instance, by: work.request) else { continue }
            if let digest = work.digest, self.shows(instance, digest) {
                self.note(instance, .unchanged, .sameDigest, cause: .appRequest)
            } else {
                work.kept.append(instance)
            }
        }
        guard units > 0 else { return }
        work.asked = work.kept.count
        work.enter(.wanting)
    }

    private mutating func want(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, let instance = work.popNext() {
            units -= 1
            guard self.addRequest(instance, work.digest) else { continue }
            work.kept.append(instance)
            work.lastReloads.append(self.schedule[active: instance].outstanding.last)
        }
        if units > 0 { work.enter(.decided) }
    }

    private mutating func noteDeferred(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, let instance = work.popNext() {
            units -= 1
            let active = self.schedule[active: instance]
            guard active.outstanding.last == work.lastReloads[work.place - 1] else { continue }
            self.note(instance, .deferred, active.reason, cause: .appRequest, until: active.decidesAt)
        }
        if units > 0 { work.phase = .done }
    }
}

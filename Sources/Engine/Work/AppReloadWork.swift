import IntentMatching
import WidgetModel

/// A request for reloads, an app's or an operator's, on its way through the instances that it is about.
///
/// All of them want a reload before the first is decided, since one push to a token may serve several. So each phase goes
/// through all of them before the next begins.
struct AppReloadWork: Sendable {
    /// The asker of the reloads.
    enum Asker: Sendable {
        /// The app's, for those of its instances, or of a kind, that match.
        case app(AppReloadRequest, AppNumber, KindNumber?)
        case anOperator(OrderWork.Audience)
    }

    fileprivate enum Phase {
        /// Instances are found that no index has: those that are not push-enabled, and all that an order is about.
        case unindexed
        /// Those that show the content already are left out.
        case asked
        /// The request is added to the waiting causes.
        case wanting
        case decided
        /// Instances that have not reloaded are noted as deferred.
        case noted
        case done
    }

    let asker: Asker
    let digest: ContentDigest?
    fileprivate var phase = Phase.unindexed
    /// The rows that are scanned for instances that no index has: none, if the request is about one host.
    var scan = TableScan<NumberTag.Instance>(below: 0)
    /// First the matching instances, then those that are asked, then those that wait for a decision.
    fileprivate var instances: [InstanceNumber] = []
    /// Where the phase is among ``instances``.
    fileprivate var place = 0
    /// Those that the next phase goes through.
    fileprivate var kept: [InstanceNumber] = []
    /// The last reload that each had before it was decided.
    fileprivate var lastReloads: [ReloadNumber] = []
    /// How many were asked.
    fileprivate var asked = 0

    init(by asker: Asker, _ digest: ContentDigest? = nil) {
        self.asker = asker
        self.digest = digest
    }

    /// Adds instances that match, by number.
    mutating func add(_ matches: [InstanceNumber]) { self.instances += matches }

    var isDone: Bool { self.phase == .done }
    var result: RecordAnswer.Result {
        switch self.asker {
        case .app: .appReload(matched: self.asked)
        case .anOperator: .order(matched: self.asked)
        }
    }

    /// Goes on from the state that the phase kept.
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
    /// Does some of a request. A unit is an instance in one phase.
    mutating func advance(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, !work.isDone {
            switch work.phase {
            case .unindexed: self.findUnindexed(&work, &units)
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

    private mutating func findUnindexed(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, !work.scan.isDone {
            for instance in work.scan.takeNext() where self.isUnindexed(instance, work.asker) {
                work.instances.append(instance)
            }
            units -= 1
        }
        if units > 0 { work.enterAgain(.asked) }
    }

    private func isUnindexed(_ instance: InstanceNumber, _ asker: AppReloadWork.Asker) -> Bool {
        switch asker {
        case .app(let request, let app, let kind):
            let row = self.registry[instance]
            return row.isLive && !row.pushEnabled && self.catalogue[row.kind].app == app
                && (kind == nil || row.kind == kind)
                && (request.pattern.map { self.matches(instance, $0) } ?? true)
        case .anOperator(let audience): return self.isIn(audience, instance)
        }
    }

    private mutating func ask(_ work: inout AppReloadWork, _ units: inout Int) {
        while units > 0, let instance = work.popNext() {
            units -= 1
            guard self.isMeant(instance, by: work.asker) else { continue }
            if let digest = work.digest, self.shows(instance, digest) {
                self.noteDecision(instance, .unchanged, .sameDigest, cause: .appRequest)
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
            self.noteDecision(instance, .deferred, active.reason, cause: .appRequest, until: active.decidesAt)
        }
        if units > 0 { work.phase = .done }
    }
}

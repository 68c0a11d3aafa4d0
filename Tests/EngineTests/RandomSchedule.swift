import Engine
import TestSupport
import Timelines
import WidgetModel

/// Days of mixed traffic from a seed: pushes, registrations, signals, reports, in any order and number.
struct RandomSchedule {
    var scene: Scene
    var random: SplitMix64
    var revision: UInt64 = 1
    private(set) var sent: [PushRecord] = []
    private var sentIDs: Set<PushID> = []
    /// Reloads that a host refused, and so gave back.
    private(set) var refused: Set<ReloadID> = []
    /// How many pushes were answered as repeats although they were new, or the other way round.
    private(set) var wrongRepeats = 0
    /// Pushes that matched more than they may, and answers that a push matched too many.
    private(set) var brokenLimits = 0
    private(set) var failedTooMany = 0

    static let hosts = ["phone", "tablet", "watch", "desk"]
    static let teams = ["seahawks", "mariners", "kraken"]

    private let hasGrants: Bool
    /// The deliveries that registrations ask for; with more than one, controls are among the instances.
    let deliveries: [HostDelivery]
    /// The policies that the sports app changes to now and then.
    private let policies: [BudgetPolicy]
    /// The same for the sports app's second kind, of which the third widgets are; none leaves it with one kind.
    private let standings: [BudgetPolicy]
    /// Every how many steps something changes.
    private let stepsPerChange: UInt64
    /// Which policies were in force when.
    private(set) var history = PolicyHistory()
    private let hasClockSteps: Bool
    /// Whether hosts also reload by themselves.
    private let hasObserved: Bool
    /// Whether half of the records are plain pushes to an app.
    private let hasBursts: Bool
    /// Whether some pushes may match so many instances only.
    private let limitsMatches: Bool
    /// The next records, the last first.
    var following: [Record] = []
    /// Whether rare records come, too, see ``rare()``, and whether settings are among them.
    private let hasRare: Bool
    let keepsSettings: Bool
    /// How often the policy changed, and the clock jumped.
    private(set) var changes = 0
    private(set) var clockSteps = 0

    init(
        seed: UInt64,
        settings: EngineSettings = Scene.settings(),
        hasGrants: Bool = true,
        deliveries: [HostDelivery] = [.stream],
        policies: [BudgetPolicy] = [],
        standings: [BudgetPolicy] = [],
        stepsPerChange: UInt64 = 40,
        hasClockSteps: Bool = false,
        hasObserved: Bool = true,
        hasBursts: Bool = false,
        limitsMatches: Bool = true,
        hasRare: Bool = false,
        keepsSettings: Bool = false
    ) {
        self.hasRare = hasRare
        self.keepsSettings = keepsSettings
        self.limitsMatches = limitsMatches
        self.hasBursts = hasBursts
        self.policies = policies
        self.standings = standings
        self.stepsPerChange = stepsPerChange
        self.hasClockSteps = hasClockSteps
        self.hasObserved = hasObserved
        self.hasGrants = hasGrants
        self.deliveries = deliveries
        self.scene = Scene(settings: settings)
        self.history.note(self.scene)
        self.random = SplitMix64(seed: seed)
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            self.scene.pass(self.pause())
            self.interfere()
            let records = self.random.chance(1, in: 5) ? 3 : 1
            self.act(records)
        }
    }

    /// Changes under a schedule's feet: none unless they were asked for.
    private mutating func interfere() {
        if self.hasRare, self.random.chance(1, in: 100) { self.scene.pass(.days(Int64(self.below(9)))) }
        if !self.policies.isEmpty, self.random.chance(1, in: self.stepsPerChange) { self.changePolicies() }
        if self.hasClockSteps, self.random.chance(1, in: 40) {
            self.clockSteps += 1
            let hours = Int64(self.below(40))
            self.scene.jump(by: self.random.chance(1, in: 2) ? .zero - .minutes(hours * 5) : .hours(hours))
        }
    }

    private mutating func changePolicies() {
        self.changes += 1
        let scores = self.pick(self.policies)
        var standings: BudgetPolicy?
        if !self.standings.isEmpty {
            standings = self.pick(self.standings)
            // Kinds that share one budget have the same one.
            if scores.scope == .host, standings?.scope == .host { standings = scores }
        }
        self.scene.apply(self.change(to: Scene.settings(budget: scores, standings: standings)))
        self.history.note(self.scene)
    }

    mutating func below(_ bound: UInt64) -> UInt64 { self.random.next() % bound }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(self.below(UInt64(elements.count)))]
    }

    private mutating func pause() -> Interval {
        switch self.below(10) {
        case 0...2: .zero
        case 3...5: .milliseconds(Int64(self.below(20_000)))
        case 6...7: .seconds(Int64(self.below(400)))
        default: .minutes(Int64(self.below(50)))
        }
    }

    private mutating func act(_ count: Int) {
        var records: [Record] = []
        var repeats: [Bool] = []
        for _ in 0..<count {
            let record = self.record()
            records.append(record)
            guard case .push(let push) = record else {
                repeats.append(false)
                continue
            }
            // A new push has a new id.
            repeats.append(!self.sentIDs.insert(push.id).inserted)
            self.sent.append(push)
        }
        let isRefusing = records.contains(where: Self.isRefusal)
        let out = isRefusing ? self.outstanding() : []
        let answers = self.scene.apply(records)
        let ended = isRefusing ? out.subtracting(self.outstanding()) : []
        for (index, answer) in answers.enumerated() {
            if case .push(_, let isRepeat) = answer, isRepeat != repeats[index] { self.wrongRepeats += 1 }
            if case .push(let matched, _) = answer, case .push(let push) = records[index] {
                self.checkLimit(of: push, matched)
            }
            if case .delivery(known: true) = answer, case .delivery(let report) = records[index],
                case .refused = report.result
            {
                // A refusal is about everything that the push brought, as far as it was not answered before, if the
                // host is still reached through a token.
                let group = self.scene.pushed(with: report.reload)
                self.refused.formUnion([report.reload] + group.filter { ended.contains($0) })
            }
        }
    }

    /// A push matches no more than it may, and is decided for none if it would.
    private mutating func checkLimit(of push: PushRecord, _ matched: Int) {
        guard let matchedMax = push.matchedMax else { return }
        // A repeat in the same entry may have been answered before it was forgotten.
        let view = self.scene.engine.push(push.id, team: push.team).first { $0.contentHash == push.contentHash }
        if matched > matchedMax || (view?.failure != nil && matched != 0) { self.brokenLimits += 1 }
        if view?.failure == .tooMany { self.failedTooMany += 1 }
    }

    private static func isRefusal(_ record: Record) -> Bool {
        if case .delivery(let report) = record, case .refused = report.result { true } else { false }
    }

    /// The reloads that hosts have been told and have not answered.
    private func outstanding() -> Set<ReloadID> {
        Set(Self.hosts.flatMap { self.scene.engine.outstandingReloads(host: HostKey($0)) }.map(\.id))
    }

    private mutating func record() -> Record {
        if let record = self.following.popLast() { return record }
        if self.hasRare, self.random.chance(1, in: 4) { return self.rare() }
        if self.hasBursts, self.random.chance(1, in: 2) { return .push(self.burst()) }
        let host = HostKey(self.pick(Self.hosts))
        switch self.below(20) {
        case 0...8: return .push(self.push())
        case 9...10: return self.registration(of: host)
        case 11:
            return self.random.chance(1, in: 4)
                ? .unregister(HostRemoval(host: host)) : .appReload(AppReloadRequest(app: Scene.sports, host: host.id))
        case 12...13: return .signal(HostSignal(host: host, event: self.event()))
        case 14...17: return self.report(of: host) ?? .tick
        case 18:
            // Only where it is new, so that the seeds of old make what they always made.
            if self.deliveries.count > 1, self.random.chance(1, in: 4) {
                return .invalidate(InvalidationRequest(.relevance, app: Scene.sports))
            }
            return .appReload(AppReloadRequest(app: Scene.sports, pattern: Scene.pattern(team: self.pick(Self.teams))))
        case 19: return self.random.chance(1, in: 2) ? .tick : .order(self.order())
        default: return .tick
        }
    }

    private mutating func order() -> OperatorOrder {
        let address = InstanceAddress(
            host: HostKey(self.pick(Self.hosts)),
            instance: InstanceID(self.pick(["w1", "w2"]))
        )
        let until: Instant? = self.random.chance(3, in: 4) ? self.scene.now + .seconds(Int64(self.below(9000))) : nil
        return switch self.below(12) {
        case 0: OperatorOrder(.pause(until: until), .app(Scene.sports))
        case 1: OperatorOrder(.pause(until: until), .kind(Scene.sports, WidgetKind("scores")))
        case 2: OperatorOrder(.pause(until: until), .sender(Scene.team))
        case 3: OperatorOrder(.resume, .app(Scene.sports))
        case 4: OperatorOrder(.resume, .kind(Scene.sports, WidgetKind("scores")))
        case 5...6: OperatorOrder(.resume, .sender(Scene.team))
        case 7: OperatorOrder(.cancel, .instance(address))
        case 8: OperatorOrder(.cancel, .push(self.sent.last?.id ?? PushID(high: 0, low: 0), Scene.team))
        case 9: OperatorOrder(.cancel, .host(address.host))
        default:
            self.hasGrants
                ? OperatorOrder(.grant(Int(self.below(4)) + 1), .instance(address))
                : OperatorOrder(.resume, .sender(Scene.team))
        }
    }

    private mutating func burst() -> PushRecord {
        var push = self.scene.makePush(
            self.pick([.high, .normal, .normal, .low, nil]),
            match: self.random.chance(1, in: 3) ? self.pick(Self.teams) : nil
        )
        if self.random.chance(1, in: 3) { push.expiration = self.scene.now.seconds + Int64(self.below(1500)) }
        return push
    }

    mutating func push() -> PushRecord {
        if !self.sent.isEmpty, self.random.chance(1, in: 12) { return self.pick(self.sent) }
        var push = self.scene.makePush(
            to: self.random.chance(1, in: 2) ? self.pick(Self.hosts) : nil,
            self.pick([.high, .high, .normal, .normal, .normal, .low, nil]),
            match: self.random.chance(1, in: 3) ? self.pick(Self.teams) : nil
        )
        switch self.below(6) {
        case 0: push.expiration = 0
        case 1: push.expiration = self.scene.now.seconds + Int64(self.below(7200))
        case 2: push.expiration = self.scene.now.seconds + Int64(self.below(100 * 86_400))
        default: break
        }
        if self.random.chance(1, in: 4) { push.collapseID = CollapseID(bytes: [UInt8(self.below(3))]) }
        if self.random.chance(1, in: 4) { push.digest = [UInt8(self.below(3))] }
        if self.random.chance(1, in: 8) { push.notBefore = self.scene.now + .seconds(Int64(self.below(40_000))) }
        // Drawn from its id, so that the seeds of old make what they always made otherwise.
        if self.limitsMatches, push.id.low.isMultiple(of: 9) { push.matchedMax = Int(StableHash.mix(push.id.low) % 8) }
        return push
    }

    mutating func registration(of host: HostKey) -> Record {
        var instances: [InstanceRegistration] = []
        for id in ["w1", "w2", "w3"] where self.random.chance(3, in: 4) {
            let kind = id == "w3" && !self.standings.isEmpty ? "standings" : "scores"
            instances.append(
                Scene.scores(
                    id,
                    kind: kind,
                    team: self.pick(Self.teams),
                    pushEnabled: !self.random.chance(1, in: 8)
                )
            )
        }
        var delivery = self.deliveries[0]
        if self.deliveries.count > 1 {
            delivery = self.pick(self.deliveries)
            if self.random.chance(1, in: 2) {
                var control = Scene.scores("c1", team: self.pick(Self.teams))
                control.controlToken = Scene.token("control of \(host)")
                instances.append(control)
            }
        }
        self.revision += 1
        return .register(
            HostRegistration(
                host: host,
                token: Scene.token(host.id.rawValue + String(self.below(3))),
                registrant: Registrant.allCases[Int(self.below(4))],
                revision: self.random.chance(1, in: 10) ? 1 : self.revision,
                delivery: delivery,
                lease: self.random.chance(1, in: 4) ? .hours(Int64(self.below(30))) : nil,
                instances: instances
            )
        )
    }

    private mutating func event() -> HostSignal.Event {
        let instance = InstanceID(self.pick(["w1", "w2", "w3"]))
        return switch self.below(20) {
        case 0: .appForeground
        case 1...3: .appBackground
        case 4: .sessionStarted(self.pick(HostSession.allCases))
        case 5...6: .sessionEnded(self.pick(HostSession.allCases))
        case 7...11: .widgetVisible(instance)
        case 12...13: .widgetHidden(instance)
        case 14: .appIntent(instance)
        case 15: .systemChange(self.pick(SystemChange.allCases))
        case 16: .significantLocationChange
        case 17: self.hasObserved ? .reloaded(instance) : .animation(instance)
        case 18:
            self.random.chance(1, in: 2)
                ? .standBy(self.random.chance(1, in: 2)) : .lowPower(self.random.chance(2, in: 3))
        default: .animation(instance)
        }
    }

    private mutating func report(of host: HostKey) -> Record? {
        let out = self.scene.engine.outstandingReloads(host: host)
        guard !out.isEmpty else { return nil }
        let reload = self.pick(out)
        switch self.below(8) {
        case 0: return .delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .refused(reason: "busy")))
        case 1...4: return .delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged))
        default:
            let dates = (0..<self.below(4)).map { _ in
                TimelineEntry(date: self.scene.now + .seconds(Int64(self.below(20_000))))
            }
            let policy: ReloadPolicy =
                switch self.below(3) {
                case 0: .never
                case 1: .after(self.scene.now + .seconds(Int64(self.below(30_000))))
                default: .atEnd
                }
            return .timeline(
                TimelineReport(
                    host: host,
                    instance: reload.instance,
                    reload: self.random.chance(3, in: 4) || !self.hasObserved ? reload.id : nil,
                    timeline: Timeline(
                        entries: dates,
                        policy: policy,
                        digest: self.random.chance(1, in: 2) ? [UInt8(self.below(3))] : nil
                    )
                )
            )
        }
    }
}

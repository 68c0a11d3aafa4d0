import Engine
import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

/// An engine with its log: the sports and the game app of Apple's articles, a clock that moves when told, and the
/// invariants checked after every record.
struct Scene {
    static let sports = BundleID("com.example.scores")
    static let game = BundleID("com.example.emoji-rangers")
    static let team = TeamID("ABCDE12345")
    /// 2026-11-02T17:00:00Z.
    static let start = Instant(seconds: 1_793_638_800)

    private var held: HeldEngine
    private(set) var position = LogPosition.start
    private(set) var now = Scene.start
    private(set) var log: [(record: Record, at: LogPosition, time: Instant)] = []
    private(set) var output = EngineOutput()
    /// Everything issued so far, in order.
    private(set) var reloads: [ReloadEffect] = []
    /// Everything given out so far, in order.
    private(set) var effects: [Effect] = []
    /// For each charged reload, whether pushes' share pays for it, and the budget after the entry that issued it; nil if
    /// the same entry has removed the instance.
    private(set) var charges: [(reload: ReloadEffect, isPush: Bool, budget: BudgetView?)] = []
    private var pushes: UInt64 = 0
    /// The apps of hosts that are not of the sports app.
    private var apps: [String: BundleID] = [:]
    /// Whether every record is followed by a check of the invariants.
    var checks = true
    /// How many units each slice of a record has.
    var sliceUnits = Int.max

    init(settings: EngineSettings = Scene.settings(), partition: UInt16 = 0) {
        self.held = HeldEngine(Engine(partition: PartitionID(partition), partitions: 1))
        self.apply(.settings(settings))
    }

    /// An engine that scenes share until one of them changes it.
    private final class HeldEngine {
        var engine: Engine

        init(_ engine: consuming Engine) { self.engine = engine }
    }

    private(set) var engine: Engine {
        _read { yield self.held.engine }
        _modify {
            if !isKnownUniquelyReferenced(&self.held) { self.held = HeldEngine(self.held.engine.duplicate()) }
            yield &self.held.engine
        }
    }

    /// WidgetKit's budget without its first, more generous days.
    static let steady: BudgetPolicy = {
        var policy = BudgetPolicy.widgetkit
        policy.learning.days = 0
        return policy
    }()

    /// - Parameter standings: The budget of the sports app's second kind; none leaves it with one kind.
    static func settings(
        budget: BudgetPolicy = Scene.steady,
        standings: BudgetPolicy? = nil,
        developerMode: Bool = false,
        limits: EngineLimits = EngineLimits()
    ) -> EngineSettings {
        let scores = KindSettings(schema: Scene.schema("scores", ["team", "league"]), budget: budget)
        let second = standings.map { KindSettings(schema: Scene.schema("standings", ["team"]), budget: $0) }
        return EngineSettings(
            apps: [
                AppSettings(
                    app: Scene.sports,
                    team: Scene.team,
                    developerMode: developerMode,
                    kinds: [scores] + [second].compactMap(\.self)
                ),
                AppSettings(
                    app: Scene.game,
                    team: Scene.team,
                    developerMode: developerMode,
                    kinds: [KindSettings(schema: Scene.schema("character", ["character"]), budget: budget)]
                ),
            ],
            limits: limits
        )
    }

    static func schema(_ kind: String, _ parameters: [String]) -> KindSchema {
        do {
            return try KindSchema(
                kind: WidgetKind(kind),
                parameters: parameters.map { ParameterSchema($0, .string) }
            )
        } catch {
            preconditionFailure("\(error)")
        }
    }

    // MARK: Time

    /// Lets time pass second by second where timers are due, as an owner with a clock would.
    mutating func pass(_ interval: Interval) {
        let end = self.now + interval
        while let due = self.engine.nextTimer, due <= end {
            self.now = max(self.now, due)
            self.apply(.tick)
        }
        self.now = end
    }

    /// The clock jumps: timers that were due in between come late, and a log's time never goes back.
    mutating func jump(by interval: Interval) { self.now = self.now + interval }

    // MARK: Records

    @discardableResult
    mutating func apply(_ record: Record) -> RecordAnswer.Result {
        self.apply([record])[0]
    }

    /// Applies the records of one entry.
    @discardableResult
    mutating func apply(_ records: [Record]) -> [RecordAnswer.Result] {
        self.position = self.position.next
        var output = self.output
        output.removeAll()
        for (index, record) in records.enumerated() {
            let bytes = record.bytes
            self.log.append((record, self.position, self.now))
            do throws(EngineError) {
                try self.engine.begin(
                    bytes,
                    in: 0..<bytes.count,
                    recordIndex: index,
                    at: self.position,
                    logTime: self.now,
                    into: &output
                )
                while !self.engine.isRecordDone {
                    var units = self.sliceUnits
                    self.engine.advance(&units, into: &output)
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        self.output = output
        self.effects += self.output.effects
        for (reload, collateral) in self.output.effects.flatMap(Self.members) {
            self.reloads.append(reload)
            if reload.isCharged, collateral != .over {
                let isPush = collateral == .conforming || reload.causes == ReloadCauses(.push)
                let budget = self.engine.instance(reload.address, decisions: 0)?.budget
                self.charges.append((reload, isPush, budget))
            }
        }
        // An expectation that holds costs more than a record, and schedules have hundreds of thousands of records.
        if self.checks {
            let faults = self.engine.checkInvariants()
            if !faults.isEmpty { #expect(faults == [], "at position \(self.position)") }
        }
        let answered = self.output.answers.map(\.recordIndex)
        if answered != Array(records.indices) { #expect(answered == Array(records.indices)) }
        return self.output.answers.map(\.result)
    }

    /// The reloads that the last entry issued.
    var issued: [ReloadEffect] { self.output.effects.flatMap(Self.members).map(\.reload) }

    /// Everything that the last entry gave out.
    var given: [Effect] { self.output.effects }

    /// The last entry's changes of tokens.
    var directory: [DirectoryChange] { self.output.directory }

    /// The pushes to tokens that the last entry issued.
    var tokenPushes: [TokenPush] {
        self.output.effects.compactMap { effect in
            if case .push(let push) = effect { push } else { nil }
        }
    }

    /// The reloads that one push to a token brought, of which this is one; none if it came by itself.
    func pushed(with reload: ReloadID) -> [ReloadID] {
        for case .push(let push) in self.effects where push.members.contains(where: { $0.reload.id == reload }) {
            return push.members.map(\.reload.id)
        }
        return []
    }

    /// The reloads of an effect, each with what it is to the push that brings it.
    static func members(of effect: Effect) -> [(reload: ReloadEffect, collateral: Collateral?)] {
        switch effect {
        case .reload(let reload): [(reload, nil)]
        case .push(let push): push.members.map { ($0.reload, $0.collateral) }
        case .invalidation: []
        }
    }

    // MARK: Hosts

    static func token(_ name: String) -> DeviceToken { DeviceToken(bytes: Array("token of \(name)".utf8)) }

    static func scores(
        _ id: String,
        kind: String = "scores",
        team: String,
        pushEnabled: Bool = true
    ) -> InstanceRegistration {
        InstanceRegistration(
            id: InstanceID(id),
            kind: WidgetKind(kind),
            family: .systemSmall,
            configuration: Configuration([Configuration.Parameter(name: "team", value: .string(team))]),
            pushEnabled: pushEnabled
        )
    }

    static func character(_ id: String, _ name: String) -> InstanceRegistration {
        InstanceRegistration(
            id: InstanceID(id),
            kind: WidgetKind("character"),
            family: .accessoryCircular,
            configuration: Configuration([Configuration.Parameter(name: "character", value: .string(name))])
        )
    }

    @discardableResult
    mutating func register(
        _ host: String,
        app: BundleID = Scene.sports,
        revision: UInt64 = 1,
        delivery: HostDelivery = .stream,
        lease: Interval? = nil,
        _ instances: [InstanceRegistration]
    ) -> RecordAnswer.Result {
        self.apps[host] = app == Scene.sports ? nil : app
        return self.apply(
            .register(
                HostRegistration(
                    host: self.key(host),
                    token: Scene.token(host),
                    revision: revision,
                    delivery: delivery,
                    lease: lease,
                    instances: instances
                )
            )
        )
    }

    /// Registers a host with its first reloads done, and waits until nothing of that matters any more.
    mutating func settle(
        _ host: String,
        app: BundleID = Scene.sports,
        delivery: HostDelivery = .stream,
        _ instances: [InstanceRegistration]
    ) {
        self.register(host, app: app, delivery: delivery, instances)
        self.acknowledgeAll(host)
        self.pass(.hours(1))
    }

    /// Acknowledges everything that is out for a host.
    mutating func acknowledgeAll(_ host: String) {
        for reload in self.engine.outstandingReloads(host: self.key(host)) { self.acknowledge(reload) }
    }

    @discardableResult
    mutating func acknowledge(_ reload: ReloadEffect) -> RecordAnswer.Result {
        self.apply(.delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)))
    }

    /// The key of a host, which is of the app that it was registered for last.
    func key(_ host: String) -> HostKey { HostKey(host, of: self.apps[host] ?? Scene.sports) }

    // MARK: Pushes

    /// The id that ``makeID()`` gave last.
    var lastID: PushID { PushID(high: 7, low: self.pushes) }

    mutating func makeID() -> PushID {
        self.pushes += 1
        return PushID(high: 7, low: self.pushes)
    }

    /// A push of this scene's team to a host or, without one, to the sports app.
    mutating func makePush(
        to host: String? = nil,
        _ priority: Priority? = .high,
        match: String? = nil,
        expiration: Int64? = nil,
        collapseID: String? = nil,
        notBefore: Instant? = nil,
        digest: String? = nil
    ) -> PushRecord {
        PushRecord(
            id: self.makeID(),
            team: Scene.team,
            contentHash: self.pushes,
            priority: priority,
            expiration: expiration,
            collapseID: collapseID.flatMap { CollapseID(bytes: Array($0.utf8)) },
            notBefore: notBefore,
            digest: digest.map { Array($0.utf8) },
            target: host.map { .host(self.key($0), nil) } ?? .app(Scene.sports),
            pattern: match.map { Scene.pattern(team: $0) }
        )
    }

    static func pattern(team: String) -> MatchPattern {
        do {
            return try MatchPattern.parse(
                .object([JSONValue.Member(name: "team", value: .array([.string(team)]))])
            )
        } catch {
            preconditionFailure("\(error)")
        }
    }

    @discardableResult
    mutating func push(
        to host: String? = nil,
        _ priority: Priority? = .high,
        match: String? = nil,
        expiration: Int64? = nil,
        collapseID: String? = nil,
        notBefore: Instant? = nil,
        digest: String? = nil
    ) -> PushID {
        let push = self.makePush(
            to: host,
            priority,
            match: match,
            expiration: expiration,
            collapseID: collapseID,
            notBefore: notBefore,
            digest: digest
        )
        self.apply(.push(push))
        return push.id
    }

    // MARK: Questions

    /// The outcomes of a push that are not zero.
    func outcomes(_ id: PushID) -> [PushOutcome: Int] {
        guard let view = self.engine.push(id, team: Scene.team).first else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: PushOutcome.allCases.map { ($0, view.counts[$0]) }.filter { $0.1 > 0 }
        )
    }

    func instance(_ host: String, _ id: String) -> InstanceView? {
        self.engine.instance(InstanceAddress(host: self.key(host), instance: InstanceID(id)))
    }

    /// The last decision about an instance.
    func lastDecision(_ host: String, _ id: String) -> DecisionView? {
        self.instance(host, id)?.decisions.first
    }
}

extension EngineQuestion {
    /// The answer of a scene's engine; expectations take no engine.
    func answer(in scene: Scene) -> Answer { self.answer(from: scene.engine) }
}

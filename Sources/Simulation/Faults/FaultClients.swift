import Engine
import IntentMatching
import Scenarios
import Timelines
import WidgetModel

/// Something that a sender or a host wants the gateway to know, sent again until it is answered.
struct ClientRequest: Sendable {
    enum Origin: Hashable, Sendable {
        case sender
        case host(Int)
    }

    let origin: Origin
    let record: Record
    /// The partitions whose logs it goes to.
    let partitions: [PartitionID]
    var isAnswered = false
}

/// A host of a run with faults: what it knows survives the gateway.
struct FaultHost: Sendable {
    let id: HostID
    var revision: UInt64 = 0
    /// The number of its connection, nil while it has none.
    var session: Int?
    /// The reloads that it has done, by which it knows those that it is told of again.
    var done: Set<ReloadID> = []
}

/// The small world of a run with faults: a few hosts, an app, and a policy with small numbers, so that limits bite.
enum FaultWorld {
    static let app = BundleID("faults.example")
    static let team = TeamID("FAULTS0001")
    static let kind = WidgetKind("scores")
    static let values = ["a", "b", "c"]
    static let partitions = 2
    static let hosts = 4
    /// 2026-11-02T17:00:00Z.
    static let start = Instant(seconds: 1_793_638_800)

    /// What the checks hold the engines to.
    static let policy: BudgetPolicy = {
        var policy = BudgetPolicy.widgetkit
        (policy.rare, policy.typical, policy.frequent) = (6, 8, 12)
        return policy
    }()

    /// - Parameter budget: The policy that the engines get.
    static func settings(_ budget: BudgetPolicy) -> EngineSettings {
        guard let schema = try? KindSchema(kind: Self.kind, parameters: [ParameterSchema("topic", .string)]) else {
            preconditionFailure("the schema is a good one")
        }
        let kinds = [KindSettings(schema: schema, budget: budget)]
        return EngineSettings(apps: [AppSettings(app: Self.app, team: Self.team, kinds: kinds)])
    }

    static let patterns: [MatchPattern] = Self.values.map { value in
        let json = JSONValue.object([JSONValue.Member(name: "topic", value: .string(value))])
        guard let pattern = try? MatchPattern.parse(json) else { preconditionFailure("the pattern is a good one") }
        return pattern
    }

    static func registration(of host: inout FaultHost, _ dice: inout Dice) -> Record {
        host.revision += 1
        var instances: [InstanceRegistration] = []
        for id in ["w0", "w1"] where instances.isEmpty || dice.chance(0.8) {
            let value = ParameterValue.string(dice.pick(Self.values))
            instances.append(
                InstanceRegistration(
                    id: InstanceID(id),
                    kind: Self.kind,
                    family: .systemSmall,
                    configuration: Configuration([Configuration.Parameter(name: "topic", value: value)])
                )
            )
        }
        return .register(
            HostRegistration(
                host: host.id,
                token: DeviceToken(bytes: Array("token of \(host.id)".utf8)),
                app: Self.app,
                revision: host.revision,
                instances: instances
            )
        )
    }

    static func push(_ number: Int, at now: Instant, _ dice: inout Dice) -> PushRecord {
        let value = dice.below(Self.values.count)
        var push = PushRecord(
            id: PushID(high: 0xFA, low: UInt64(number)),
            team: Self.team,
            contentHash: UInt64(number),
            priority: dice.pick([.high, .high, .normal, .normal, .low, nil]),
            target: dice.chance(0.6) ? .app(Self.app) : .host(HostID("h\(dice.below(Self.hosts))"), nil)
        )
        if dice.chance(0.6) { push.pattern = Self.patterns[value] }
        switch dice.below(5) {
        case 0: push.expiration = 0
        case 1: push.expiration = now.seconds + Int64(dice.below(7200))
        default: break
        }
        if dice.chance(0.3) { push.collapseID = CollapseID(bytes: [UInt8(value)]) }
        if dice.chance(0.3) { push.digest = [UInt8(dice.below(3))] }
        if dice.chance(0.1) { push.notBefore = now + .seconds(Int64(dice.below(3600))) }
        return push
    }

    static func signal(_ host: FaultHost, _ dice: inout Dice) -> Record {
        let instance = InstanceID(dice.pick(["w0", "w1"]))
        let event: HostSignal.Event =
            switch dice.below(8) {
            case 0: .appForeground
            case 1: .appBackground
            case 2, 3: .widgetVisible(instance)
            case 4: .widgetHidden(instance)
            case 5: .appIntent(instance)
            case 6: .systemChange(.appearance)
            default: .reloaded(instance)
            }
        return .signal(HostSignal(host: host.id, event: event))
    }

    /// What a host reports of a reload that it did.
    static func report(_ reload: ReloadEffect, at now: Instant, _ dice: inout Dice) -> Record {
        guard dice.chance(0.6) else {
            return .delivery(DeliveryReport(reload: reload.id, result: .acknowledged))
        }
        let policy: ReloadPolicy = dice.chance(0.2) ? .after(now + .seconds(Int64(600 + dice.below(7200)))) : .never
        let timeline = Timeline(
            entries: [TimelineEntry(date: now)],
            policy: policy,
            digest: dice.chance(0.5) ? [UInt8(dice.below(3))] : nil
        )
        return .timeline(
            TimelineReport(host: reload.host, instance: reload.instance, reload: reload.id, timeline: timeline)
        )
    }
}

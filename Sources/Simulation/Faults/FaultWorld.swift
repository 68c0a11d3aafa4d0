import Engine
import IntentMatching
import Scenarios
import Timelines
import WidgetModel

/// The small world of a run with faults: a few hosts, an app, and a policy with small numbers, so that limits bite.
enum FaultWorld {
    static let app = BundleID("faults.example")
    static let team = TeamID("FAULTS0001")
    /// The kind of the widgets, the kind of the controls, and the kind of widgets whose timelines a provider makes.
    static let kind = WidgetKind("scores")
    static let controlKind = WidgetKind("alarms")
    static let fetchedKind = WidgetKind("boards")
    static let widgets = [InstanceID("w0"), InstanceID("w1")]
    static let control = InstanceID("c0")
    static let boards = [InstanceID("b0"), InstanceID("b1")]
    static let instances =
        Self.widgets.map { ($0, Self.kind) } + [(Self.control, Self.controlKind)]
        + Self.boards.map { ($0, Self.fetchedKind) }
    static let values = ["a", "b", "c"]
    static let partitions = 2
    static let hosts = 4
    /// 2026-11-03T02:00:00Z: hours before the windows of some hosts end, so that their first ones are short.
    static let start = Instant(seconds: 1_793_671_200)

    /// The policies between which operators change, and to which the checks hold the engines. The first is there from the start.
    static let policies = [
        Self.policy("usual", (6, 8, 12), minutes: 5), Self.policy("strict", (4, 5, 6), minutes: 15),
        Self.policy("generous", (9, 12, 20), minutes: 2),
    ]

    private static func policy(_ name: String, _ allowance: (Int, Int, Int), minutes: Int64) -> BudgetPolicy {
        var policy = BudgetPolicy.widgetkit
        policy.name = name
        (policy.rare, policy.typical, policy.frequent) = allowance
        policy.minimumInterval = .minutes(minutes)
        return policy
    }

    /// - Parameter budget: The policy that the engines get.
    static func settings(_ budget: BudgetPolicy) -> EngineSettings {
        let kinds = [Self.kind, Self.controlKind, Self.fetchedKind].map { kind in
            guard let schema = try? KindSchema(kind: kind, parameters: [ParameterSchema("topic", .string)]) else {
                preconditionFailure("the schema is a good one")
            }
            return KindSettings(schema: schema, budget: budget)
        }
        return EngineSettings(apps: [AppSettings(app: Self.app, team: Self.team, kinds: kinds)])
    }

    static let patterns: [MatchPattern] = Self.values.map { value in
        let json = JSONValue.object([JSONValue.Member(name: "topic", value: .string(value))])
        guard let pattern = try? MatchPattern.parse(json) else { preconditionFailure("the pattern is a good one") }
        return pattern
    }

    static func partition(of host: HostKey) -> PartitionID { PartitionID(of: host, among: Self.partitions) }

    /// Whether the gateway fetches the timeline that a reload is for: its host is not told of the reload.
    static func isFetched(_ reload: ReloadEffect) -> Bool {
        reload.kind == Self.fetchedKind && reload.delivery == .stream
    }

    static func host(_ number: Int) -> HostKey { HostKey(app: Self.app, id: HostID("h\(number)")) }

    /// The partitions whose logs a record goes to.
    static func partitions(of record: Record) -> [PartitionID] {
        let host: HostKey? =
            switch record {
            case .push(let push):
                if case .host(let id, _) = push.target { id } else { nil }
            case .register(let registration): registration.host
            case .unregister(let removal): removal.host
            case .signal(let signal): signal.host
            case .timeline(let report): report.host
            case .delivery(let report): report.host
            case .order(let order):
                switch order.scope {
                case .host(let id): id
                case .instance(let address): address.host
                case .app, .kind, .sender, .push: nil
                }
            default: nil
            }
        if let host { return [PartitionID(of: host, among: Self.partitions)] }
        return (0..<Self.partitions).map { PartitionID(UInt16($0)) }
    }

    // MARK: Hosts

    static func registration(of host: inout FaultHost, _ plan: FaultPlan, _ dice: inout Dice) -> Record {
        if host.revision == 0 || dice.chance(0.1) { host.delivery = dice.chance(plan.phones) ? .apns : .stream }
        let old = host.token
        if host.revision > 0, dice.chance(0.15) { host.tokens += 1 }
        host.revision += 1
        var instances: [InstanceRegistration] = []
        for id in Self.widgets where instances.isEmpty || dice.chance(0.8) {
            var instance = Self.instance(id, Self.kind, &dice)
            instance.pushEnabled = !dice.chance(0.08)
            instances.append(instance)
        }
        for id in Self.boards where dice.chance(plan.boards) {
            instances.append(Self.instance(id, Self.fetchedKind, &dice))
        }
        if dice.chance(plan.controls) {
            var control = Self.instance(Self.control, Self.controlKind, &dice)
            control.controlToken = host.controlToken
            instances.append(control)
        }
        return .register(
            HostRegistration(
                host: host.id,
                token: host.token,
                replacedToken: host.token != old && dice.chance(0.5) ? old : nil,
                revision: host.revision,
                delivery: host.delivery,
                lease: dice.chance(plan.leases) ? .seconds(Int64(300 + dice.below(5400))) : nil,
                instances: instances
            )
        )
    }

    private static func instance(_ id: InstanceID, _ kind: WidgetKind, _ dice: inout Dice) -> InstanceRegistration {
        let value = ParameterValue.string(dice.pick(Self.values))
        return InstanceRegistration(
            id: id,
            kind: kind,
            family: .systemSmall,
            configuration: Configuration([Configuration.Parameter(name: "topic", value: value)])
        )
    }

    static func signal(_ host: FaultHost, _ dice: inout Dice) -> Record {
        let instance = dice.pick(Self.widgets)
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

    /// The report of a host on a stream about a reload that it did.
    static func report(_ reload: ReloadEffect, at now: Instant, _ dice: inout Dice) -> Record {
        guard dice.chance(0.6) else {
            return .delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged))
        }
        return Self.timeline(of: reload.address, reload.id, at: now, &dice)
    }

    /// - Parameter reload: The reload that it came from; nil from a host that cannot know.
    static func timeline(
        of instance: InstanceAddress,
        _ reload: ReloadID?,
        at now: Instant,
        _ dice: inout Dice
    ) -> Record {
        let policy: ReloadPolicy = dice.chance(0.2) ? .after(now + .seconds(Int64(600 + dice.below(7200)))) : .never
        let timeline = Timeline(
            entries: [TimelineEntry(date: now)],
            policy: policy,
            digest: dice.chance(0.5) ? [UInt8(dice.below(3))] : nil
        )
        return .timeline(
            TimelineReport(host: instance.host, instance: instance.instance, reload: reload, timeline: timeline)
        )
    }

    // MARK: Senders

    /// - Parameter target: The destination that its sender means.
    static func push(
        _ number: Int,
        to target: PushDestination,
        at now: Instant,
        _ dice: inout Dice
    ) -> PushRecord {
        let value = dice.below(Self.values.count)
        var push = PushRecord(
            id: PushID(high: 0xFA, low: UInt64(number)),
            team: Self.team,
            contentHash: UInt64(number),
            priority: dice.pick([.high, .high, .normal, .normal, .low, nil]),
            target: target
        )
        if dice.chance(0.5) { push.pattern = Self.patterns[value] }
        if dice.chance(0.1) { push.kind = dice.pick([Self.kind, Self.controlKind]) }
        switch dice.below(5) {
        case 0: push.expiration = 0
        case 1: push.expiration = now.seconds + Int64(dice.below(7200))
        default: break
        }
        if dice.chance(0.3) { push.collapseID = CollapseID(bytes: [UInt8(value)]) }
        if dice.chance(0.3) { push.digest = [UInt8(dice.below(3))] }
        if dice.chance(0.15) { push.notBefore = now + .seconds(Int64(dice.below(3600))) }
        return push
    }

    static func reload(_ dice: inout Dice) -> Record {
        .appReload(AppReloadRequest(app: Self.app, isForControls: dice.chance(0.3)))
    }

    // MARK: Operators

    /// - Parameter latest: The number of the last push.
    static func order(latest: Int, at now: Instant, _ dice: inout Dice) -> Record {
        let kind = OrderScope.kind(Self.app, dice.pick([Self.kind, Self.kind, Self.controlKind]))
        let host = Self.host(dice.below(Self.hosts))
        let instance = OrderScope.instance(InstanceAddress(host: host, instance: dice.pick(Self.widgets)))
        let pausable = dice.pick([.app(Self.app), kind, kind, .sender(Self.team)])
        switch dice.below(10) {
        case 0, 1, 2:
            let until = dice.chance(0.1) ? nil : now + .seconds(Int64(60 + dice.below(3600)))
            return .order(OperatorOrder(.pause(until: until), pausable))
        case 3: return .order(OperatorOrder(.resume, pausable))
        case 4, 5, 6:
            let push = PushID(high: 0xFA, low: UInt64(max(1, latest - dice.below(4))))
            return .order(OperatorOrder(.cancel, .push(push, dice.chance(0.5) ? Self.team : nil)))
        case 7: return .order(OperatorOrder(.cancel, dice.pick([.app(Self.app), kind, .host(host), instance])))
        default:
            let scope = dice.pick([.app(Self.app), kind, .host(host), instance])
            return .order(OperatorOrder(.grant(1 + dice.below(4)), scope))
        }
    }
}

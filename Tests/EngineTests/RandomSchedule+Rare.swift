import TestSupport
import Timelines
import WidgetModel

@testable import Engine

/// The rare records of a schedule, for those that are to meet everything: channels, traces, notes on operators, settings of every kind,
/// pushes of another team and to controls, orders about much at once, leases that end as something else is due.
extension RandomSchedule {
    /// Of another team than the app's, whose pushes may have the same collapse ids.
    static let otherTeam = TeamID("FGHIJ67890")
    /// So few that schedules come to the ends of them.
    static let narrow = EngineLimits(pendingPerInstanceMax: 3, repeatEntriesMax: 40)

    /// Settings that differ in what decides: budgets, the environment of tokens, developer mode.
    static let settings: [EngineSettings] = {
        var (thrifty, rolling, shared, scarce) = (Scene.steady, Scene.steady, Scene.steady, Scene.steady)
        var slow = BudgetPolicy.widgetkit
        (thrifty.rare, thrifty.typical, thrifty.frequent, thrifty.thinning) = (2, 3, 4, 4)
        (rolling.rare, rolling.typical, rolling.frequent, rolling.isRolling) = (9, 9, 9, true)
        rolling.window = .fixed(length: .day, anchor: .hostHash)
        (shared.rare, shared.typical, shared.frequent, shared.scope) = (20, 20, 20, .host)
        slow.lowPower = BudgetPolicy.Share(3, of: 1)
        (scarce.rare, scarce.typical, scarce.frequent, scarce.scope) = (3, 3, 3, .host)
        var all = [slow, slow, thrifty, rolling, shared, .unlimited, scarce].map { budget in
            Scene.settings(budget: budget, limits: Self.narrow)
        }
        all.append(Scene.settings(budget: slow, developerMode: true, limits: Self.narrow))
        var sandbox = all[0]
        sandbox.apps[0].environment = .development
        all.append(sandbox)
        return all
    }()

    static var thrifty: EngineSettings { Self.settings[2] }
    static var rolling: EngineSettings { Self.settings[3] }
    static var unlimited: EngineSettings { Self.settings[5] }
    static var scarce: EngineSettings { Self.settings[6] }

    mutating func rare() -> Record {
        let host = HostKey(self.pick(Self.hosts))
        switch self.below(24) {
        case 0: return .channel(self.channelCommand())
        case 1: return .trace(self.trace())
        case 2: return self.note(self.below(100))
        case 3: return self.keepsSettings ? .tick : self.change(to: self.pick(Self.settings))
        case 4...5: return .push(self.foreignPush())
        case 6: return .push(self.controlPush(host))
        case 7: return .order(self.wideOrder(host))
        case 8: return self.leased(host)
        case 9: return .unregister(self.removal(host))
        case 10...11: return self.refusal(host)
        case 12:
            let shown = HostSignal.Event.entryShown(self.pickReload(host), date: self.scene.now)
            return .signal(HostSignal(host: host, event: shown))
        case 13...14: return self.soon(host)
        case 15...16, 20: return self.known(host)
        case 17: return self.covered(host)
        case 18: return .signal(HostSignal(host: host, event: .lowPower(true)))
        case 19: return self.released(host)
        default: return self.acknowledgements(host)
        }
    }

    /// Everything that is out for a host is acknowledged, and so it comes to rest.
    private mutating func acknowledgements(_ host: HostKey) -> Record {
        self.following = self.scene.engine.outstandingReloads(host: host).map { reload in
            .delivery(DeliveryReport(host: host, reload: reload.id, result: .acknowledged))
        }
        return self.following.popLast() ?? .tick
    }

    /// A timeline whose next request is due within minutes, which a push of priority 5 joins.
    private mutating func soon(_ host: HostKey) -> Record {
        var push = self.push()
        (push.priority, push.pattern, push.notBefore, push.expiration) = (.normal, nil, nil, nil)
        if !self.sent.contains(where: { $0.id == push.id }) { self.following = [.push(push)] }
        let timeline = Timeline(
            entries: [TimelineEntry(date: self.scene.now)],
            policy: .after(self.scene.now + .seconds(self.random.chance(1, in: 8) ? 0 : Int64(self.below(600)))),
            digest: [UInt8(self.below(3))]
        )
        return .timeline(
            TimelineReport(
                host: host,
                instance: InstanceID(self.pick(["w1", "w2", "w3"])),
                reload: nil,
                timeline: timeline
            )
        )
    }

    /// A push or a request for the content that a widget of the host shows.
    private mutating func known(_ host: HostKey) -> Record {
        let shown = (Self.hosts.map { HostKey($0) } + [host]).flatMap { host in
            ["w1", "w2", "w3"].compactMap { id -> (host: HostKey, digest: [UInt8])? in
                let address = InstanceAddress(host: host, instance: InstanceID(id))
                guard let view = self.scene.engine.instance(address, decisions: 0), view.pendingCount == 0,
                    view.outstanding.isEmpty
                else { return nil }
                return view.timeline?.digest.map { (host, $0) }
            }
        }
        guard !shown.isEmpty else { return .tick }
        let (host, digest) = self.pick(shown)
        if self.random.chance(1, in: 2) {
            return .appReload(AppReloadRequest(app: Scene.sports, host: host.id, digest: digest))
        }
        var push = self.scene.makePush(to: host.id.rawValue, .normal)
        push.digest = digest
        return .push(push)
    }

    /// A push that waits for a pause or for another policy, and reloads as that ends, with all that share its token.
    private mutating func released(_ host: HostKey) -> Record {
        var push = self.scene.makePush(to: host.id.rawValue, .high, match: self.pick(Self.teams))
        push.expiration = (self.scene.now + .hours(2)).seconds
        guard self.keepsSettings || self.random.chance(1, in: 4) else {
            self.following = [self.change(to: Self.unlimited, behind: 1), .push(push)]
            return self.change(to: Self.thrifty)
        }
        self.following = [.order(OperatorOrder(.resume, .app(Scene.sports))), .push(push)]
        return .order(OperatorOrder(.pause(until: nil), .app(Scene.sports)))
    }

    /// A request of the app just after the system has reloaded the host's widgets by itself.
    private mutating func covered(_ host: HostKey) -> Record {
        self.following = [.appReload(AppReloadRequest(app: Scene.sports, host: host.id))]
        return .signal(HostSignal(host: host, event: .systemChange(self.pick(SystemChange.allCases))))
    }

    private mutating func channelCommand() -> ChannelCommand {
        let id = ChannelID("channel \(self.below(4))")
        guard self.random.chance(2, in: 3) else { return .delete(id, app: Scene.sports) }
        let channel = Channel(
            id: id,
            storagePolicy: self.pick(Channel.StoragePolicy.allCases),
            pushType: self.pick(Channel.PushType.allCases)
        )
        return .create(channel, app: Scene.sports, channelsMax: 3)
    }

    /// A record that decides nothing: a note, or a change by a request of what no engine decides by.
    private func note(_ number: UInt64) -> Record {
        let actions: [Amendment.Action] = [.put("{}"), .end, .revert]
        guard number % 6 < 3 else { return .audit(.answer(number: number, status: 200)) }
        let source = OperatorSource(caller: "night", address: "203.0.113.7", request: "r-\(number)")
        let entry = AmendedEntry.app(BundleID("com.example.\(number / 6 % 3)"))
        // Sometimes as at a gateway that has not seen the last change.
        let base = self.scene.engine.settingsVersion - (number < 80 ? 0 : 1)
        let amendment = Amendment(actions[Int(number % 6)], entry, by: source)
        return .configure(SettingsChange(nil, from: base, with: amendment))
    }

    /// Other settings for all decisions.
    ///
    /// - Parameter changes: So many changes of the settings come before it.
    func change(to settings: EngineSettings, behind changes: Int = 0) -> Record {
        .configure(SettingsChange(settings, from: self.scene.engine.settingsVersion + changes))
    }

    private mutating func trace() -> PushTrace {
        let context = TraceContext(high: 1, low: self.random.next() | 1, spanID: 7, isSampled: true)
        return PushTrace(push: self.sent.last?.id ?? PushID(high: 0, low: 0), context: context!)
    }

    private mutating func foreignPush() -> PushRecord {
        var push = self.push()
        guard !self.sent.contains(where: { $0.id == push.id }) else { return push }
        push.team = Self.otherTeam
        push.collapseID = CollapseID(bytes: [UInt8(self.below(2))])
        return push
    }

    private mutating func controlPush(_ host: HostKey) -> PushRecord {
        var push = self.push()
        guard !self.sent.contains(where: { $0.id == push.id }) else { return push }
        (push.target, push.pattern) = (.host(host, InstanceID("c1")), nil)
        return push
    }

    private mutating func wideOrder(_ host: HostKey) -> OperatorOrder {
        let kind = OrderScope.kind(Scene.sports, WidgetKind("scores"))
        let until = self.scene.now + .seconds(Int64(self.below(4000)))
        return switch self.below(12) {
        case 0: OperatorOrder(.cancel, .app(Scene.sports))
        case 1: OperatorOrder(.cancel, kind)
        case 2: OperatorOrder(.cancel, .sender(self.random.chance(1, in: 2) ? Scene.team : Self.otherTeam))
        case 3: OperatorOrder(.grant(1), .app(Scene.sports))
        case 4: OperatorOrder(.grant(2), .host(host))
        case 5: OperatorOrder(.pause(until: until), .sender(Scene.team))
        case 6: OperatorOrder(.pause(until: until), .app(Scene.sports))
        case 7: OperatorOrder(.reload, .app(Scene.sports))
        case 8: OperatorOrder(.reload, .host(host))
        case 9: OperatorOrder(.reload, kind)
        default: OperatorOrder(.resume, self.pick([.app(Scene.sports), kind, .sender(Scene.team)]))
        }
    }

    /// A registration whose lease ends as a push for one of its widgets expires, or as anything is due.
    private mutating func leased(_ host: HostKey) -> Record {
        guard case .register(var registration) = self.registration(of: host) else { return .tick }
        let ends = registration.instances.flatMap { instance in
            self.scene.engine.instance(InstanceAddress(host: host, instance: instance.id))?.pending ?? []
        }
        let end = ends.compactMap(\.expiresAt).min() ?? self.scene.engine.nextTimer
        if let end, end > self.scene.now { registration.lease = end - self.scene.now }
        if self.random.chance(1, in: 3), self.deliveries.count > 1 { registration.delivery = .webhook }
        return .register(registration)
    }

    private mutating func removal(_ host: HostKey) -> HostRemoval {
        let token = self.scene.engine.host(host)?.tokens.last
        let isOther = self.random.chance(1, in: 2)
        if let token, self.random.chance(1, in: 2) {
            self.following = [.unregister(HostRemoval(host: host, token: token, purpose: .erasure))]
        }
        return self.random.chance(1, in: 2)
            ? HostRemoval(host: host, token: token, purpose: isOther ? .move : .unregistration)
            : HostRemoval(host: host, purpose: isOther ? .erasure : .unregistration)
    }

    private mutating func refusal(_ host: HostKey) -> Record {
        .delivery(DeliveryReport(host: host, reload: self.pickReload(host), result: .refused(reason: "busy")))
    }

    private mutating func pickReload(_ host: HostKey) -> ReloadID {
        let out = self.scene.engine.outstandingReloads(host: host)
        if !out.isEmpty { return self.pick(out).id }
        return self.scene.reloads.last?.id
            ?? ReloadID(partition: PartitionID(0), position: .start, instance: InstanceNumber(0), check: 0)
    }
}

import Engine
import Timelines
import WidgetModel

/// The obligations of one partition's engine by its log: policies, orders of operators, leases, and pushes' own conditions.
///
/// Read from the log, entry by entry, and never from the engine's own books.
struct FaultObligations: Sendable {
    /// More reloads for an instance, in one window.
    private struct Grant: Sendable {
        /// When that window may have begun.
        let windowStart: ClosedRange<Instant>
        let position: LogPosition
        let count: Int
        /// Whether it is sure that the instance was there to get them.
        let isSure: Bool
    }

    /// How many changes of the settings the log has that were worked out from those that stood.
    private var settingsVersion = 0
    /// The policies, with the entries that brought them.
    private var policies: [(policy: BudgetPolicy, at: LogPosition)] = []
    /// Until when nothing of it reloads.
    private var pauses: [OrderScope: Instant] = [:]
    private var leases: [HostKey: Instant] = [:]
    private var deliveries: [HostKey: HostDelivery] = [:]
    /// The last entries with which hosts changed between streams and APNs.
    private(set) var moves: [HostKey: LogPosition] = [:]
    /// Hosts that are not registered any more.
    private var gone: Set<HostKey> = []
    private var lapsed: Set<HostKey> = []
    /// How many instances of a push were taken back, and when.
    private var cancelled: [PushID: (count: Int, at: LogPosition)] = [:]
    private var notBefore: [PushID: Instant] = [:]
    private var grants: [InstanceAddress: [Grant]] = [:]
    private var occurrences: [Occurrence: Int] = [:]
    private var faults: [String] = []

    /// The faults and occurrences since the last call.
    mutating func takeFindings() -> (faults: [String], occurrences: [Occurrence: Int]) {
        defer { (self.faults, self.occurrences) = ([], [:]) }
        return (self.faults, self.occurrences)
    }

    private mutating func noteOccurrence(_ occurrence: Occurrence, _ count: Int = 1) {
        if count > 0 { self.occurrences[occurrence, default: 0] += count }
    }

    // MARK: An entry

    /// Checks a new entry against the obligations of the entries before it, and reads its own.
    ///
    /// - Parameters:
    ///   - records: The entry's, without those that cannot bind to anything.
    ///   - applied: Its effects.
    ///   - owner: Behind it.
    mutating func follow(_ records: [Record], _ applied: LogWitness.Applied, _ owner: LogWitness) {
        let before = self.pauses
        let orders = records.compactMap { record in
            if case .order(let order) = record { order } else { nil }
        }
        for order in orders { self.takeOrder(order, owner, isLast: records.count == 1) }
        // Between several orders of one entry anything may have been paused or not.
        let paused = orders.count > 1 ? [:] : before
        for issue in applied.issued { self.check(issue, paused, records) }
        for record in records {
            switch record {
            case .register(let registration): self.takeRegistration(registration, owner)
            case .unregister(let removal):
                if owner.engine.host(removal.host) == nil { self.gone.insert(removal.host) }
            case .push(let push): self.takePush(push, owner)
            case .settings(let settings): self.takeSettings(settings, at: owner.applied)
            case .configure(let change): self.takeChange(change, at: owner.applied)
            default: break
            }
        }
        self.checkLeases(owner)
        if owner.engine.settingsVersion != self.settingsVersion {
            self.faults.append("\(owner.engine.settingsVersion) changes of the settings for \(self.settingsVersion)")
        }
    }

    private mutating func check(
        _ issue: LogWitness.Issued,
        _ pausesBefore: [OrderScope: Instant],
        _ records: [Record]
    ) {
        let reload = issue.reload
        // The timers that are due at an entry fire before its records, which may end a pause or bring a host back.
        func isPaused(_ scope: OrderScope) -> Bool {
            [pausesBefore, self.pauses].allSatisfy { $0[scope].map { $0 > reload.issuedAt } ?? false }
        }
        if isPaused(.app(FaultWorld.app)) { self.faults.append("\(reload.id) while its app is paused") }
        // A push for another widget reloads all widgets that share its token.
        if issue.isTrigger, isPaused(.kind(FaultWorld.app, reload.kind)) {
            self.faults.append("\(reload.id) while its kind is paused")
        }
        if reload.pushCount > 0, isPaused(.sender(FaultWorld.team)) {
            self.faults.append("\(reload.id) serves pushes of a paused sender")
        }
        if self.gone.contains(reload.host), !records.contains(where: { Self.registers($0, reload.host) }) {
            self.faults.append("\(reload.id), and its host is gone")
        }
        guard let push = reload.push else { return }
        if let taken = self.cancelled[push], taken.at < reload.id.position {
            self.faults.append("\(reload.id) serves push \(push), which was cancelled")
        }
        if let earliest = self.notBefore[push] {
            if reload.issuedAt < earliest {
                self.faults.append("\(reload.id) comes before the earliest instant of push \(push)")
            }
            self.noteOccurrence(.scheduled)
        }
    }

    private static func registers(_ record: Record, _ host: HostKey) -> Bool {
        if case .register(let registration) = record { registration.host == host } else { false }
    }

    // MARK: Policies

    private mutating func takeChange(_ change: SettingsChange, at position: LogPosition) {
        guard change.base == self.settingsVersion else { return self.noteOccurrence(.overtakenSettings) }
        self.settingsVersion += 1
        if let settings = change.settings { self.takeSettings(settings, at: position) }
    }

    private mutating func takeSettings(_ settings: EngineSettings, at position: LogPosition) {
        let name = settings.apps.first?.kinds.first?.budget.name
        // By its name: the log's numbers may be wrong ones.
        guard let policy = FaultWorld.policies.first(where: { $0.name == name }) else { return }
        if let last = self.policies.last, last.policy != policy { self.noteOccurrence(.policyChange) }
        self.policies.append((policy, position))
    }

    /// The policies that may decide about the reloads of an entry: the one before it, and those that it brings.
    func policies(at position: LogPosition) -> [BudgetPolicy] {
        let before = self.policies.last { $0.at < position }
        return (([before].compactMap(\.self)) + self.policies.filter { $0.at == position }).map(\.policy)
    }

    /// Whether an entry of these brought a policy.
    func hasChangedPolicy(in positions: ClosedRange<LogPosition>) -> Bool {
        self.policies.contains { positions.contains($0.at) }
    }

    // MARK: Leases

    private mutating func takeRegistration(_ registration: HostRegistration, _ owner: LogWitness) {
        // A registration that is older than the applied one changes nothing.
        guard let view = owner.engine.host(registration.host), view.revision == registration.revision else { return }
        self.leases[view.host] = registration.lease.map { owner.engine.time + $0 }
        self.gone.remove(view.host)
        if let before = self.deliveries.updateValue(view.delivery, forKey: view.host), before != view.delivery {
            self.moves[view.host] = owner.applied
        }
        guard self.lapsed.remove(view.host) != nil else { return }
        let used = view.instances.count { instance in
            let address = InstanceAddress(host: view.host, instance: instance.id)
            return (owner.engine.instance(address)?.budget.charged ?? 0) > 0
        }
        self.noteOccurrence(.lapseReturn, used)
    }

    /// A lease ends with the second in which it runs out, at the latest.
    private mutating func checkLeases(_ owner: LogWitness) {
        for host in self.leases.keys.sorted() {
            guard let ends = self.leases[host], ends + .seconds(1) <= owner.engine.time else { continue }
            self.leases[host] = nil
            self.gone.insert(host)
            self.lapsed.insert(host)
            self.noteOccurrence(.lapse)
            if owner.engine.host(host) != nil { self.faults.append("\(host) is still there after its lease") }
        }
    }

    // MARK: Pushes

    private mutating func takePush(_ push: PushRecord, _ owner: LogWitness) {
        self.notBefore[push.id] = push.notBefore
        let isPaused = self.pauses.values.contains { $0 > owner.engine.time }
        guard isPaused, let view = owner.engine.push(push.id, team: push.team).first else { return }
        if view.position == owner.applied, push.notBefore == nil {
            self.noteOccurrence(.heldByPause, view.counts[.deferred])
        }
    }

    /// Checks an engine's books against the pushes' own conditions, and against others' orders about them.
    mutating func checkPushes(_ owner: LogWitness) {
        for (id, taken) in self.cancelled.sorted(by: { $0.value.at < $1.value.at }) {
            guard let view = owner.engine.push(id, team: FaultWorld.team).first else { continue }
            if view.counts[.deferred] > 0 || view.counts[.cancelled] != taken.count {
                self.faults.append("push \(id) was cancelled, and goes on: \(view.counts)")
            }
        }
        for id in self.notBefore.keys.sorted(by: { $0.low < $1.low }) {
            guard let earliest = self.notBefore[id], earliest > owner.engine.time,
                let view = owner.engine.push(id, team: FaultWorld.team).first
            else { continue }
            let early: [PushOutcome] = [.issued, .reloaded, .exempt, .coalesced]
            if early.contains(where: { view.counts[$0] > 0 }) {
                self.faults.append("push \(id) is not to reload anything before \(earliest)")
            }
        }
    }

    // MARK: Orders

    /// - Parameter isLast: Whether the engine is right behind it, and has not read on.
    private mutating func takeOrder(_ order: OperatorOrder, _ owner: LogWitness, isLast: Bool) {
        switch order.action {
        case .pause(let until): self.pauses[order.scope] = until ?? .distantFuture
        case .resume: self.pauses[order.scope] = nil
        case .cancel:
            if isLast { self.takeCancel(cancelOf: order.scope, owner) }
        case .reload: break
        case .grant(let count):
            for address in Self.addresses(in: order.scope) {
                guard let windowStart = Self.windowStart(of: address, owner, isLast: isLast) else { continue }
                let grant = Grant(
                    windowStart: windowStart,
                    position: owner.applied,
                    count: count,
                    isSure: isLast
                )
                self.grants[address, default: []].append(grant)
            }
        }
    }

    /// When the window of an instance that an order was about may have begun; nil if it was not there.
    private static func windowStart(
        of address: InstanceAddress,
        _ owner: LogWitness,
        isLast: Bool
    ) -> ClosedRange<Instant>? {
        if let start = owner.engine.instance(address)?.budget.windowStart { return start...start }
        // A later record of the entry may have removed it: it comes back with the same budget.
        guard !isLast, let length = FaultWorld.policies.map(\.windowLengthMax).max() else { return nil }
        return owner.engine.time - length...owner.engine.time
    }

    private mutating func takeCancel(cancelOf scope: OrderScope, _ owner: LogWitness) {
        switch scope {
        case .push(let id, _, _):
            guard let view = owner.engine.push(id, team: FaultWorld.team).first else { return }
            self.cancelled[id] = (view.counts[.cancelled], owner.applied)
            self.noteOccurrence(.cancelled, view.counts[.cancelled])
            if view.counts[.deferred] > 0 { self.faults.append("push \(id) is cancelled and waits") }
        case .app:
            let waiting = owner.engine.stats().outcomes[.deferred]
            if waiting > 0 { self.faults.append("\(waiting) wait, and everything was cancelled") }
        default:
            for address in Self.addresses(in: scope) {
                let pending = owner.engine.instance(address)?.pending ?? []
                if pending.contains(where: { $0.push != nil || $0.cause == .appRequest }) {
                    self.faults.append("\(address) has something waiting that was cancelled")
                }
            }
        }
    }

    /// The instances that an order is about, whether or not they are there.
    private static func addresses(in scope: OrderScope) -> [InstanceAddress] {
        var found: [InstanceAddress] = []
        for host in 0..<FaultWorld.hosts {
            for (id, ofKind) in FaultWorld.instances {
                let address = InstanceAddress(host: FaultWorld.host(host), instance: id)
                let isMeant =
                    switch scope {
                    case .app: true
                    case .kind(_, let kind): kind == ofKind
                    case .host(let host): host == address.host
                    case .instance(let other): other == address
                    case .sender, .push: false
                    }
                if isMeant { found.append(address) }
            }
        }
        return found
    }

    /// How many more reloads an instance's window had been granted at a position, at least and at most.
    func granted(_ address: InstanceAddress, in windowStart: Instant, at position: LogPosition) -> ClosedRange<Int> {
        let grants = (self.grants[address] ?? []).filter { grant in
            grant.windowStart.contains(windowStart) && grant.position <= position
        }
        let sure = grants.filter { $0.isSure && $0.position < position }
        return sure.reduce(0) { $0 + $1.count }...grants.reduce(0) { $0 + $1.count }
    }
}

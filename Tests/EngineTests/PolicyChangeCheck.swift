import Engine
import Testing
import Timelines
import WidgetModel

/// Checks the charges of a schedule without grants against the promises about policies that change: until the window in
/// which one was replaced has ended, each number is the stricter one, and used reloads stay used.
///
/// It reads the policies in force off the schedule's own history and not off the engine. A refused reload is counted in
/// the distances only, as it gives back its count and no pace.
struct PolicyChangeCheck {
    /// The charges to one budget: an instance's own one, or its host's, which has no instance's name.
    private struct Owner {
        /// The last charge, also one of a budget that came to be this one.
        var last: Instant?
        /// The last charge's window, and the charges in it since the budget has been this one.
        var window: BudgetWindow?
        var count = 0
        var pushCount = 0
        /// The charges at which the pace is known, one after the other.
        var paced: [Paced] = []
    }

    private struct Paced {
        let at: Instant
        let position: LogPosition
        let burst: Int
        /// The least interval at it, and since the charge before.
        let interval: Interval
    }

    private struct Charge {
        let reload: ReloadEffect
        let isPush: Bool
        let isRefused: Bool
        let view: BudgetView
    }

    private let history: PolicyHistory
    private var charges: [Charge]
    private var owners: [InstanceAddress: Owner] = [:]
    /// The charges of the strict rule, which is each instance's own.
    private var rolling: [InstanceAddress: [(at: Instant, position: LogPosition)]] = [:]
    private(set) var faults: [String] = []
    /// How many charges were bound by a policy that had been replaced, and how many were made without any budget.
    private(set) var bound = 0
    private(set) var unlimited = 0

    init(_ schedule: RandomSchedule) {
        self.history = schedule.history
        self.charges = schedule.scene.charges.compactMap { reload, isPush, view in
            view.map {
                Charge(reload: reload, isPush: isPush, isRefused: schedule.refused.contains(reload.id), view: $0)
            }
        }
        self.check()
    }

    private mutating func check() {
        var changes = self.history.changes.flatMap { kind, changes in
            zip(changes, changes.dropFirst()).map { (kind, old: $0, new: $1) }
        }
        changes.sort { ($0.new.position, $0.0.rawValue) < ($1.new.position, $1.0.rawValue) }
        var next = 0
        for charge in self.charges {
            while next < changes.count, changes[next].new.position <= charge.reload.id.position {
                self.forget(changes[next].new)
                self.rescope(changes[next].0, changes[next].old, changes[next].new)
                next += 1
            }
            self.check(charge)
        }
    }

    private static func shared(_ host: HostKey) -> InstanceAddress {
        InstanceAddress(host: host, instance: InstanceID(""))
    }

    private static func kind(of instance: InstanceAddress) -> WidgetKind {
        WidgetKind(instance.instance.rawValue == "w3" ? "standings" : "scores")
    }

    /// An instance that is not known any more when a policy changes was forgotten when nothing held it back.
    private mutating func forget(_ change: PolicyHistory.Change) {
        let hosts = Set(change.known.keys.map(\.host))
        for (address, owner) in self.owners {
            let isKnown: Bool
            if address == Self.shared(address.host) {
                isKnown = hosts.contains(address.host)
            } else if let added = change.known[address] {
                isKnown = owner.last.map { $0 >= added } ?? true
            } else {
                isKnown = false
            }
            if !isKnown { self.owners[address] = nil }
        }
    }

    /// Where a policy changes from one scope to the other, the later charge goes over.
    private mutating func rescope(_ kind: WidgetKind, _ old: PolicyHistory.Change, _ new: PolicyHistory.Change) {
        guard old.policy.scope != new.policy.scope else { return }
        for instance in new.known.keys where Self.kind(of: instance) == kind {
            let shared = Self.shared(instance.host)
            let (from, to) = new.policy.scope == .host ? (instance, shared) : (shared, instance)
            guard let last = self.owners[from]?.last else { continue }
            self.owners[to, default: Owner()].last = max(self.owners[to]?.last ?? last, last)
            // How much goes over, the counts themselves say; here each begins anew.
            self.owners[to]?.count = 0
            self.owners[to]?.pushCount = 0
            self.owners[to]?.paced = []
        }
    }

    private mutating func check(_ charge: Charge) {
        let (id, now, charged) = (charge.reload.id, charge.reload.issuedAt, charge.reload.address)
        let kind = charge.reload.kind
        let policies = self.history.inForce(kind, on: charged.host, at: now, id.position)
        if policies.count > 1 { self.bound += 1 }
        let limited = policies.filter { !$0.isUnlimited }
        let address = policies.first?.scope == .host ? Self.shared(charged.host) : charged
        var owner = self.owners[address] ?? Owner()
        defer { self.owners[address] = owner }
        defer { owner.last = now }
        let name = "\(charged) at \(now), position \(id.position)"
        guard !limited.isEmpty else {
            self.unlimited += 1
            (owner.paced, owner.window) = ([], nil)
            return
        }
        let distance = limited.map(\.minimumInterval).max() ?? .zero
        if let last = owner.last, now - last < distance { self.faults.append("\(name): \(now - last) after another") }
        self.checkNumbers(charge.view, limited, name)
        self.checkWindow(charge, &owner, name)
        self.checkPace(charge, policies, &owner, name)
        if limited.contains(where: \.isRolling), !charge.isRefused {
            self.rolling[charged, default: []].append((now, id.position))
            let since = self.history.rolling(kind, at: id.position)
            let count = self.rolling[charged, default: []].count { now - $0.at < .day && $0.position >= since }
            if count > charge.view.limit { self.faults.append("\(name): \(count) in a day") }
        }
    }

    /// The engine's numbers are no laxer than those of any policy that binds.
    private mutating func checkNumbers(_ view: BudgetView, _ policies: [BudgetPolicy], _ name: String) {
        for policy in policies {
            let terms = Self.laxest(policy)
            if view.limit > terms.limit { self.faults.append("\(name): allowance \(view.limit)") }
            if view.pushLimit > terms.pushLimit { self.faults.append("\(name): for pushes \(view.pushLimit)") }
            if view.burst > terms.burst { self.faults.append("\(name): burst \(view.burst)") }
            if view.interval < terms.interval { self.faults.append("\(name): interval \(view.interval)") }
        }
    }

    /// The most that a policy ever allows: to an instance that is looked at all day long, in a host's first days.
    private static func laxest(_ policy: BudgetPolicy) -> BudgetTerms {
        var allowance = policy.frequent
        if policy.window == .tuned { allowance = allowance * 25 / 24 }
        if policy.learning.days > 0 { allowance = policy.learningAllowance(of: allowance) }
        // The most that the longest tuned window allows, at the pace of the shortest.
        let window = BudgetWindow(start: .epoch, length: policy.window == .tuned ? .hours(23) : policy.windowLength)
        return BudgetTerms(policy: policy, window: window, allowance: allowance)
    }

    private mutating func checkWindow(_ charge: Charge, _ owner: inout Owner, _ name: String) {
        let (view, now) = (charge.view, charge.reload.issuedAt)
        let window = BudgetWindow(start: view.windowStart, length: view.windowEnd - view.windowStart)
        if !window.contains(now) { self.faults.append("\(name): outside of its window") }
        if owner.window != window {
            (owner.window, owner.count, owner.pushCount) = (window, 0, 0)
        }
        guard !charge.isRefused else { return }
        owner.count += 1
        if charge.isPush { owner.pushCount += 1 }
        if owner.count > view.limit { self.faults.append("\(name): \(owner.count) of \(view.limit)") }
        if charge.isPush, owner.pushCount > view.pushLimit {
            self.faults.append("\(name): \(owner.pushCount) of \(view.pushLimit) for pushes")
        }
    }

    /// Any span t holds at most max(B) + t / min(T) + 1, with the largest B and the smallest T of what it touches.
    private mutating func checkPace(_ charge: Charge, _ policies: [BudgetPolicy], _ owner: inout Owner, _ name: String)
    {
        let (now, position) = (charge.reload.issuedAt, charge.reload.id.position)
        var touched = policies
        if let last = owner.paced.last {
            let isShared = policies.first?.scope == .host
            for kind in isShared ? Array(self.history.changes.keys) : [charge.reload.kind] {
                touched += self.history.between(kind, last.position, position)
            }
        }
        // While there was no budget, nothing was paced.
        if touched.contains(where: \.isUnlimited) { owner.paced = [] }
        let least = touched.filter { !$0.isUnlimited }.map { Self.laxest($0).interval }.min() ?? charge.view.interval
        owner.paced.append(
            Paced(at: now, position: position, burst: charge.view.burst, interval: min(least, charge.view.interval))
        )
        var (burst, interval) = (0, Interval.day)
        for (index, other) in owner.paced.reversed().enumerated() {
            burst = max(burst, other.burst)
            interval = min(interval, other.interval)
            let most = Int64(burst) + (now - other.at).milliseconds / interval.milliseconds + 1
            if Int64(index + 1) > most { self.faults.append("\(name): \(index + 1) of \(most) from \(other.at)") }
        }
    }
}

extension BudgetView {
    /// The most charges of the window, and those of pushes; where there is no limit, more than any policy allows.
    fileprivate var limit: Int { self.allowance ?? .max }
    fileprivate var pushLimit: Int { self.pushAllowance ?? .max }
}

import IntentMatching
import WidgetModel

/// A push that is asked about, in the engine's numbers.
struct AskedPush: Sendable {
    let head: PushHead
    let bytes: [UInt8]
    /// Nil if nothing was ever seen of it.
    let team: TeamNumber?
    let audience: PushAudience
    /// Whether it was accepted before.
    let isRepeat: Bool
}

extension Engine {
    /// The number of instances that a push would match if it were accepted at the log's time, the same as in
    /// ``dryRun(_:)``. Changes nothing and decides nothing.
    ///
    /// For an app: the cost of the index search, without a cost for each match. For a host: O(its instances).
    package func matchCount(_ push: PushRecord) -> DryRunView {
        var search = MatchSearch(push, in: self)
        search.finish(in: self)
        return search.count(in: self)
    }

    /// The instances that a push would reach, and the decision for each, if it were accepted at the log's time. Changes
    /// nothing.
    ///
    /// It ignores a collapse id: a push that would replace another counts as deferred.
    ///
    /// - Parameter search: A finished search that samples as many matches as are to be decided at most, some microseconds each. If more
    ///   match, those are a sample by a hash of their numbers; all of them are counted in any case.
    package func dryRun(_ search: borrowing MatchSearch) -> DryRunView {
        guard let asked = search.asked else { return DryRunView(asOf: self.time) }
        var decisions = DryRunDecisions(asked, in: self, max: search.decidedMax)
        var decided: [InstanceNumber] = []
        for instance in search.sample.numbers {
            guard decisions.decide(instance, in: self) else { break }
            decided.append(instance)
        }
        return DryRunView(
            matched: search.sample.count,
            isRepeat: asked.isRepeat,
            rows: decisions.rows.sorted { ($0.kind, $0.decision.rawValue) < ($1.kind, $1.decision.rawValue) },
            sample: decided.sorted().prefix(DryRunView.sampleMax).map { self.address(of: $0) },
            plans: search.plans(in: self),
            asOf: self.time
        )
    }

    func ask(about push: PushRecord) -> AskedPush? {
        let bytes = push.encoded
        var reader = ByteReader(bytes)
        guard let head = try? PushHead(from: &reader) else { return nil }
        // A team that was never seen has sent nothing that this could repeat.
        let team = self.catalogue.findTeam(push.team.rawValue)
        return AskedPush(
            head: head,
            bytes: bytes,
            team: team,
            audience: self.audience(head, push.pattern, push.attributes, bytes),
            isRepeat: team.map { self.ledger.isRepeat(head.id, key: self.repeatKey(head, team: $0, bytes)) }
                ?? false
        )
    }

    /// The decision on a push for an instance, if it were the only one of its host.
    fileprivate func decision(of push: IncomingPush, _ instance: InstanceNumber) -> DryRunView.Decision {
        if let digest = push.digest, self.shows(instance, digest) { return .unchanged }
        if !push.isOnce,
            Int(self.schedule[active: instance].pending.count) >= self.catalogue.limits.pendingPerInstanceMax
        {
            if self.isServed(push, instance) { return .deferred }
            guard self.hastens(push, instance) else { return .failed }
        }
        guard push.heldUntil <= self.time else { return push.isOnce ? .expired : .deferred }
        switch self.plan(instance, with: push, funds: self.funds(of: instance)) {
        case .issue(let exemption, _): return exemption == nil ? .reload : .exempt
        case .wait: return push.isOnce ? .expired : .deferred
        }
    }

    /// The widgets of an instance's host that a push matches and that have one token with it.
    fileprivate func matchedBesides(_ instance: InstanceNumber, _ asked: AskedPush) -> [InstanceNumber] {
        self.matching(host: self.registry[instance].host, asked.head, asked.audience, asked.bytes)
            .filter { $0 != instance && !self.registry[$0].isControl }
    }
}

/// The decisions on a push that is asked about, for as many instances as may be decided.
private struct DryRunDecisions {
    private(set) var rows: [DryRunView.Row] = []
    private let asked: AskedPush
    private let push: IncomingPush
    private let max: Int
    /// The decision for each decided instance by itself.
    private var alone: [InstanceNumber: DryRunView.Decision] = [:]
    /// Whether the push would go to a host's token at once, since it conforms for one of the widgets that it matches there.
    private var goes: [HostNumber: Bool] = [:]

    init(_ asked: AskedPush, in engine: borrowing Engine, max: Int) {
        self.asked = asked
        self.push = engine.resolve(asked.head, team: asked.team ?? .none, app: asked.audience.app, asked.bytes)
        self.max = max
    }

    /// Counts the decision on the push for an instance that it matches.
    ///
    /// - Returns: false if that would take more decisions than may be made; then it is not counted.
    mutating func decide(_ instance: InstanceNumber, in engine: borrowing Engine) -> Bool {
        guard var decision = self.decision(of: instance, in: engine) else { return false }
        let row = engine.registry[instance]
        if decision == .deferred || decision == .expired, row.isHostDriven, !row.isControl {
            guard let goes = self.goes(to: row.host, besides: instance, in: engine) else { return false }
            if goes { decision = engine.exemption(of: instance, waiting: []) == nil ? .reload : .exempt }
        }
        let kind = engine.catalogue[row.kind].name
        if let index = self.rows.firstIndex(where: { $0.kind == kind && $0.decision == decision }) {
            self.rows[index].count += 1
        } else {
            self.rows.append(DryRunView.Row(kind: kind, decision: decision, count: 1))
        }
        return true
    }

    private mutating func decision(of instance: InstanceNumber, in engine: borrowing Engine) -> DryRunView.Decision? {
        if let decision = self.alone[instance] { return decision }
        guard self.alone.count < self.max else { return nil }
        let decision = engine.decision(of: self.push, instance)
        self.alone[instance] = decision
        return decision
    }

    private mutating func goes(to host: HostNumber, besides instance: InstanceNumber, in engine: borrowing Engine)
        -> Bool?
    {
        if let goes = self.goes[host] { return goes }
        var goes = false
        for other in engine.matchedBesides(instance, self.asked) where !goes {
            guard let decision = self.decision(of: other, in: engine) else { return nil }
            goes = decision == .reload || decision == .exempt
        }
        self.goes[host] = goes
        return goes
    }
}

import IntentMatching
import WidgetModel

extension Engine {
    /// How many instances a push would match, had it been accepted at the log's time, which is what ``dryRun(_:)`` says.
    /// Changes nothing and decides nothing.
    ///
    /// To an app: what the index takes to find them, and nothing for each that it finds.
    package func matchCount(_ push: PushRecord) -> MatchCount {
        var engine = self
        return engine.count(push)
    }

    private mutating func count(_ push: PushRecord) -> MatchCount {
        guard let asked = self.ask(about: push) else { return MatchCount() }
        var matched = 0
        switch asked.audience.reach {
        case .nobody: break
        case .host(let host): matched = self.matching(host: host, asked.head, asked.audience, asked.bytes).count
        case .app(let app):
            self.index.matches(
                app: self.apps.apps[Int(app)].id,
                kind: asked.audience.kind.map { self.apps.kinds[Int($0)].name },
                pattern: asked.audience.pattern,
                hosts: HostNames(self.hosts, of: self.apps.apps[Int(app)].id),
                attributes: asked.audience.attributes,
                // No order is asked for, so that none is made.
                order: .asFound,
                batchLimit: 4096
            ) { batch in
                matched += batch.count
            }
        }
        return MatchCount(matched: matched, isRepeat: asked.isRepeat)
    }

    /// Who a push would reach and what each decision would be, had it been accepted at the log's time. Changes nothing.
    ///
    /// A collapse id is not looked at: a push that would take another's place counts as deferred.
    package func dryRun(_ push: PushRecord) -> DryRunView {
        // The tables are shared, not copied: nothing of what is asked writes to them, but for windows that are due.
        var engine = self
        return engine.tryOut(push)
    }

    /// A push that is asked about, in the engine's numbers.
    private struct AskedPush {
        let head: PushHead
        let bytes: [UInt8]
        /// Nil if nothing was ever seen of it.
        let team: UInt32?
        let audience: PushAudience
        /// Whether it was accepted before.
        let isRepeat: Bool
    }

    private mutating func ask(about push: PushRecord) -> AskedPush? {
        var writer = ByteWriter()
        push.encode(into: &writer)
        let bytes = writer.bytes
        var reader = ByteReader(bytes)
        guard let head = try? PushHead(from: &reader) else { return nil }
        // A team that was never seen has sent nothing that this could repeat.
        let team = self.teams.find(push.team.rawValue)
        return AskedPush(
            head: head,
            bytes: bytes,
            team: team,
            audience: self.audience(head, push.pattern, push.attributes, bytes),
            isRepeat: team.map { self.repeats.find(head.id, key: self.repeatKey(head, team: $0, bytes)) != nil }
                ?? false
        )
    }

    private mutating func tryOut(_ push: PushRecord) -> DryRunView {
        guard let asked = self.ask(about: push) else { return DryRunView() }
        let audience = asked.audience
        let incoming = self.resolve(asked.head, team: asked.team ?? .max, app: audience.app, asked.bytes)
        var hit: [UInt32] = []
        // How the index found them, in this very run; a push to a host looks at each of its instances.
        var plans: [QueryPlan] = []
        switch audience.reach {
        case .nobody: break
        case .host(let host): hit = self.matching(host: host, asked.head, audience, asked.bytes)
        case .app(let app):
            plans = self.index.explain(
                app: self.apps.apps[Int(app)].id,
                kind: audience.kind.map { self.apps.kinds[Int($0)].name },
                pattern: audience.pattern,
                hosts: HostNames(self.hosts, of: self.apps.apps[Int(app)].id),
                attributes: audience.attributes
            ) { batch in
                for place in batch.indices { hit.append(batch[place].raw) }
            }
        }
        var rows: [DryRunView.Row] = []
        let pushed = self.hostsPushed(incoming, hit)
        for instance in hit {
            let kind = self.apps.kinds[Int(self.instances[instance].kind)].name
            var decision = self.decision(of: incoming, instance)
            let row = self.instances[instance]
            if decision == .deferred || decision == .expired, !row.isControl, pushed.contains(row.host) {
                decision = self.exemption(of: instance, waiting: []) == nil ? .reload : .exempt
            }
            if let index = rows.firstIndex(where: { $0.kind == kind && $0.decision == decision }) {
                rows[index].count += 1
            } else {
                rows.append(DryRunView.Row(kind: kind, decision: decision, count: 1))
            }
        }
        rows.sort { ($0.kind, $0.decision.rawValue) < ($1.kind, $1.decision.rawValue) }
        return DryRunView(
            matched: hit.count,
            isRepeat: asked.isRepeat,
            rows: rows,
            sample: hit.prefix(DryRunView.sampleMax).map { self.address(of: $0) },
            plans: plans
        )
    }

    /// The hosts to whose token the push would go at once, since it conforms for one of their widgets: it would reload all
    /// of them.
    private mutating func hostsPushed(_ push: IncomingPush, _ hit: [UInt32]) -> Set<UInt32> {
        var hosts: Set<UInt32> = []
        for instance in hit where self.instances[instance].isHostDriven && !self.instances[instance].isControl {
            let decision = self.decision(of: push, instance)
            if decision == .reload || decision == .exempt { hosts.insert(self.instances[instance].host) }
        }
        return hosts
    }

    private mutating func matching(
        host: UInt32,
        _ head: PushHead,
        _ audience: PushAudience,
        _ bytes: [UInt8]
    ) -> [UInt32] {
        var found: [UInt32] = []
        for instance in self.instances(of: host) where self.isMatched(instance, head, audience, bytes) {
            found.append(instance)
        }
        return found
    }

    private mutating func decision(of push: IncomingPush, _ instance: UInt32) -> DryRunView.Decision {
        if let digest = push.digest, self.shows(instance, digest) { return .unchanged }
        if !push.isOnce, Int(self.instances[instance].pending.count) >= self.limits.pendingPerInstanceMax {
            return .failed
        }
        self.openWindow(of: instance)
        guard push.heldUntil <= self.now else { return push.isOnce ? .expired : .deferred }
        switch self.plan(instance, with: push) {
        case .issue(let exemption, _): return exemption == nil ? .reload : .exempt
        case .wait: return push.isOnce ? .expired : .deferred
        }
    }
}

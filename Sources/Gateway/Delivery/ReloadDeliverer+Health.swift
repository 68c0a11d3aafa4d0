import HTTPTransport
import IntentMatching
import Logging
package import WidgetModel

/// How upstreams and webhooks do.
extension ReloadDeliverer {
    /// An app's upstream or webhook.
    package struct Target: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable, CaseIterable {
            case upstream, webhook
        }

        package let kind: Kind
        package let app: BundleID

        package init(kind: Kind, app: BundleID) {
            self.kind = kind
            self.app = app
        }
    }

    /// How each upstream and each webhook of the plans does. Apps of one team with the same upstream share its health.
    package func targets() -> [Target: TargetView] {
        let now = self.clock()
        let lanes = self.schedule.lanes()
        func view(_ lane: Int) -> TargetView {
            TargetView(
                health: self.healths[lane] ?? TargetHealth(),
                heldUntil: self.schedule.pausedUntil(lane, now: now),
                waiting: lanes[lane]?.count ?? 0,
                oldest: lanes[lane]?.oldest
            )
        }
        var views: [Target: TargetView] = [:]
        for (app, plan) in self.plans.upstreams { views[Target(kind: .upstream, app: app)] = view(plan.lane) }
        for (app, plan) in self.plans.webhooks { views[Target(kind: .webhook, app: app)] = view(plan.lane) }
        return views
    }

    /// Tries at once what waits for some targets, and leaves none of them alone any longer.
    package func tryNow(_ targets: Set<Target>) {
        let now = self.clock()
        let lanes = targets.compactMap { target in
            switch target.kind {
            case .upstream: self.plans.upstreams[target.app]?.lane
            case .webhook: self.plans.webhooks[target.app]?.lane
            }
        }
        for lane in Set(lanes) { self.schedule.tryNow(lane, now: now) }
        self.pump()
    }

    /// Tries at once what waits for those that have failed last.
    package func tryFailing() {
        self.tryNow(Set(self.targets().filter { $0.value.health.isFailing }.keys))
    }

    /// The plans have become others: what waits goes by them, at once where it goes to another place or with other credentials.
    ///
    /// - Parameter lanes: Of the targets of which that is so.
    package func usePlans(changed lanes: Set<Int>) {
        let now = self.clock()
        for (number, delivery) in self.deliveries { self.schedule.move(number, to: self.lane(of: delivery.reloads[0])) }
        for lane in lanes { self.schedule.tryNow(lane, now: now) }
        let known = Set(self.plans.upstreams.values.map(\.lane) + self.plans.webhooks.values.map(\.lane))
        self.healths = self.healths.filter { known.contains($0.key) }
        self.failing.formIntersection(known)
        self.pump()
    }

    /// Takes what a try says of the other side, and tells of it if it is news.
    func note(_ answer: TargetHealth.Answer, of lane: Int) {
        let heldUntil = self.schedule.pausedUntil(lane, now: answer.at)
        let change = self.healths[lane, default: TargetHealth()].take(answer, heldUntil: heldUntil)
        if self.healths[lane]?.looksAt != nil { self.failing.insert(lane) } else { self.failing.remove(lane) }
        if let change { self.tell(change, of: lane) }
    }

    /// Tells of those that have failed for too long by now.
    func lookAtHealth(_ now: Instant) {
        for lane in self.failing.sorted() {
            guard let change = self.healths[lane]?.look(at: now) else { continue }
            self.failing.remove(lane)
            self.tell(change, of: lane)
        }
    }

    private func tell(_ change: TargetHealth.Change, of lane: Int) {
        // Lanes of webhooks are below zero.
        let (name, targets) =
            lane < 0
            ? ("a webhook", self.plans.webhooks.filter { $0.value.lane == lane }.mapValues(\.target))
            : ("an upstream", self.plans.upstreams.filter { $0.value.lane == lane }.mapValues(\.target))
        var metadata: Logger.Metadata = [
            "apps": "\(targets.keys.map(\.rawValue).sorted().joined(separator: ", "))"
        ]
        metadata["origin"] = targets.values.first.map { "\($0.origin)" }
        change.tell(name, metadata, heldUntil: self.schedule.pausedUntil(lane, now: self.clock()), self.logger)
    }
}

extension TargetHealth.Change {
    /// Writes it to a log.
    ///
    /// - Parameters:
    ///   - name: What it is, with its article.
    ///   - metadata: Which one it is.
    ///   - heldUntil: Nothing is sent before then.
    func tell(_ name: String, _ metadata: Logger.Metadata, heldUntil: Instant?, _ logger: Logger) {
        var metadata = metadata
        switch self {
        case .trouble(let answer):
            metadata["status"] = answer.status.map { "\($0)" }
            metadata["reason"] = "\(answer.reason)"
            metadata["detail"] = answer.detail.map { "\($0)" }
            metadata["heldUntil"] = heldUntil.flatMap { RFC3339.text(of: $0) }.map { "\($0)" }
            logger.error("\(name) is in trouble", metadata: metadata)
        case .well(let time):
            metadata["inTroubleForSeconds"] = "\(time.milliseconds / 1000)"
            logger.notice("\(name) is well again", metadata: metadata)
        }
    }
}

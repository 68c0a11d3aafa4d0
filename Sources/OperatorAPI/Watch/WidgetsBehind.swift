package import Engine
import Ownership
package import Serving
package import Settings
package import WidgetModel

/// Why widgets do not show the newest data yet, with the gateway's own knowledge of the targets of their reloads.
package enum BehindCause: String, Hashable, Sendable, CaseIterable {
    case budget, minimumInterval, paused, anotherReload, unreachable
    /// Out to a host of which no event stream is open.
    case hostAway
    /// Out to a timeline provider, an upstream or a webhook that is in trouble, or has to be left alone.
    case provider, upstream, webhook
    /// Out, and not acknowledged yet, without anything in the way that is known.
    case unacknowledged

    /// As a clause about one widget.
    package var words: String {
        switch self {
        case .budget: "it waits for its budget"
        case .minimumInterval: "it was reloaded a short time ago"
        case .paused: "it is paused"
        case .anotherReload: "it waits to join another reload"
        case .unreachable: "pushes cannot reach it"
        case .hostAway: "its host is away"
        case .provider: "its timeline provider is in trouble"
        case .upstream: "its app's upstream is in trouble"
        case .webhook: "its app's webhook is in trouble"
        case .unacknowledged: "its host has not acknowledged a reload"
        }
    }
}

/// The targets that reloads cannot reach now.
package struct DeliveryTroubles: Sendable {
    /// Apps whose upstream, or whose webhook, is in trouble or has to be left alone.
    private var upstreams: Set<BundleID> = []
    private var webhooks: Set<BundleID> = []
    /// Kinds with a timeline provider, and whether that is in trouble or left alone.
    private var providers: [KindKey: Bool] = [:]

    package init() {}

    /// By all targets that have been called.
    package init(of targets: [CalledTarget]) {
        for target in targets {
            let isOut = target.health.isInTrouble || target.isHeld
            switch target.part {
            case .upstream(let app): if isOut { self.upstreams.insert(app) }
            case .webhook(let app): if isOut { self.webhooks.insert(app) }
            case .provider(let key): self.providers[key] = isOut
            // No reload goes to it.
            case .receipts: break
            }
        }
    }

    /// Why a widget is behind.
    ///
    /// - Parameter isAway: Whether no event stream of its host is open.
    package func cause(of reason: BehindReason, _ kind: KindKey, isAway: Bool) -> BehindCause {
        switch reason {
        case .budget: .budget
        case .minimumInterval: .minimumInterval
        case .paused: .paused
        case .anotherReload: .anotherReload
        case .unreachable: .unreachable
        case .outToUpstream: self.upstreams.contains(kind.app) ? .upstream : .unacknowledged
        case .outToWebhook: self.webhooks.contains(kind.app) ? .webhook : .unacknowledged
        case .outToHost:
            // A provider answers for a host that is away, too.
            self.providers[kind].map { $0 ? .provider : .unacknowledged } ?? (isAway ? .hostAway : .unacknowledged)
        }
    }
}

/// How many widgets are behind, why, and how many of them for longer than the goal. Sums of kinds are those of apps.
package struct WidgetsBehind: Hashable, Sendable {
    package private(set) var instances = 0
    package private(set) var late = 0
    /// Since when the longest of them is, at least; nil if none is.
    package private(set) var oldest: Instant?
    /// By cause, in the order of all cases.
    private var counts = Array(repeating: 0, count: BehindCause.allCases.count)

    /// Of no widgets.
    package init() {}

    /// Of a kind in one partition.
    ///
    /// - Parameters:
    ///   - troubles: The targets that reloads cannot reach.
    ///   - away: Of those that are out to hosts, how many to hosts that are away; less than that are, where it is older.
    package init(_ kind: KindBehind, _ troubles: DeliveryTroubles, away: Int) {
        self.instances = kind.instances
        self.late = kind.late
        self.oldest = kind.oldest
        let key = KindKey(app: kind.app, kind: kind.kind)
        for reason in BehindReason.allCases where kind[reason] > 0 {
            let distant = reason == .outToHost ? min(away, kind[reason]) : 0
            self.add(distant, troubles.cause(of: reason, key, isAway: true))
            self.add(kind[reason] - distant, troubles.cause(of: reason, key, isAway: false))
        }
    }

    private mutating func add(_ count: Int, _ cause: BehindCause) { self.counts[Self.place(of: cause)] += count }

    private static func place(of cause: BehindCause) -> Int { BehindCause.allCases.firstIndex(of: cause) ?? 0 }

    package subscript(cause: BehindCause) -> Int { self.counts[Self.place(of: cause)] }

    /// How many are behind.
    package var count: Int { self.counts.reduce(0, +) }

    /// The share that is not behind, or not for longer than the goal; nil without widgets.
    package var share: Double? { self.instances > 0 ? 1 - Double(self.late) / Double(self.instances) : nil }

    package static func += (sum: inout WidgetsBehind, other: WidgetsBehind) {
        sum.instances += other.instances
        sum.late += other.late
        if let oldest = other.oldest { sum.oldest = min(sum.oldest ?? oldest, oldest) }
        for place in sum.counts.indices { sum.counts[place] += other.counts[place] }
    }
}

/// The widgets of all kinds that are behind, judged by the goal.
package struct BehindBoard: Sendable {
    package let goal: FreshnessGoal
    package let at: Instant
    /// By kind.
    package let kinds: [KindKey: WidgetsBehind]
    /// Of all kinds, those included that are configured no more.
    package let total: WidgetsBehind

    /// - Parameters:
    ///   - partitions: The counts of each partition.
    ///   - away: How many widgets of a kind are out to hosts that are away.
    package init(
        _ partitions: [[KindBehind]],
        goal: FreshnessGoal,
        at instant: Instant,
        _ troubles: DeliveryTroubles,
        away: (KindKey) -> Int
    ) {
        var (kinds, total): ([KindKey: WidgetsBehind], WidgetsBehind) = ([:], WidgetsBehind())
        var left: [KindKey: Int] = [:]
        for kind in partitions.joined() {
            let key = KindKey(app: kind.app, kind: kind.kind)
            let distant = min(left[key] ?? away(key), kind[.outToHost])
            left[key] = (left[key] ?? away(key)) - distant
            let row = WidgetsBehind(kind, troubles, away: distant)
            kinds[key, default: WidgetsBehind()] += row
            total += row
        }
        self.goal = goal
        self.at = instant
        self.kinds = kinds
        self.total = total
    }

    package subscript(kind: KindKey) -> WidgetsBehind { self.kinds[kind] ?? WidgetsBehind() }

    /// Of all kinds of an app.
    package subscript(app: BundleID) -> WidgetsBehind {
        self.kinds.filter { $0.key.app == app }.values.reduce(into: WidgetsBehind()) { $0 += $1 }
    }

    /// Whether so many are late as the goal allows.
    private func isMet(_ row: WidgetsBehind) -> Bool { self.goal.isMet(late: row.late, of: row.instances) }

    /// How many times as many are late as the goal allows.
    package func burnRate(of row: WidgetsBehind) -> Double {
        self.goal.burnRate(late: row.late, of: row.instances)
    }

    /// Those who miss the goal, the worst first: apps, and kinds of apps that meet it. A small app that is late as a whole does not show in
    /// the total.
    package var missed: [(app: BundleID, kind: WidgetKind?, row: WidgetsBehind)] {
        var apps: [BundleID: WidgetsBehind] = [:]
        for (key, row) in self.kinds { apps[key.app, default: WidgetsBehind()] += row }
        let lateApps = apps.filter { !self.isMet($0.value) }
        let lateKinds = self.kinds.filter { lateApps[$0.key.app] == nil && !self.isMet($0.value) }
        let all =
            lateApps.map { (app: $0.key, kind: WidgetKind?.none, row: $0.value) }
            + lateKinds.map { (app: $0.key.app, kind: $0.key.kind, row: $0.value) }
        return all.sorted { left, right in
            let rates = (self.burnRate(of: left.row), self.burnRate(of: right.row))
            if rates.0 != rates.1 { return rates.0 > rates.1 }
            return (left.app, left.kind?.rawValue ?? "") < (right.app, right.kind?.rawValue ?? "")
        }
    }

    /// How long the longest of them has been behind at least, by whole minutes; nil if none is.
    package func oldestAge(of row: WidgetsBehind) -> Interval? { row.oldest.map { max(.zero, self.at - $0) } }
}

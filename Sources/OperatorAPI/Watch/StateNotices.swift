package import Clustering
package import Engine
package import Logging
import Ownership
package import Partitions
package import Serving
import Settings
package import WidgetModel

/// Tells the log of states that no single request can tell of: each when it begins, and when it is over. Charts mark the
/// outages among them.
package struct StateNotices {
    /// From how far behind its log a partition is told of.
    package static let lagMax = Interval.seconds(5)

    /// Conditions that every gateway lacks while it starts or ends.
    private static let ordinary: Set<Readiness.Condition> = [.replay, .listeners, .draining]

    private let logger: Logger
    private let mark: (GatewayMark.Kind, String, Instant?) -> Void
    private var missing: [Readiness.Condition] = []
    private var configurationReadAt: Instant?
    private var targetsInTrouble: Set<CalledTarget.Part> = []
    private var lagging: Set<Int> = []
    private var disagreeing: Set<PartitionID> = []
    /// How often each team had been refused when it was looked at last, and which were since.
    private var refusals: [TeamID: Int] = [:]
    private var flooding: Set<TeamID> = []
    private var late: Set<KindKey> = []
    private var spent: [BundleID: Set<WidgetKind>] = [:]
    private var areCredentialsBad = false

    /// - Parameter mark: Marks an event in the charts, at an instant or now.
    package init(_ logger: Logger, mark: @escaping (GatewayMark.Kind, String, Instant?) -> Void = { _, _, _ in }) {
        self.logger = logger
        self.mark = mark
    }

    /// Tells which conditions are missing for the gateway to be ready.
    package mutating func tell(missing now: [Readiness.Condition]) {
        guard now != self.missing else { return }
        for condition in now where !self.missing.contains(condition) && !Self.ordinary.contains(condition) {
            self.mark(.outage, "Not ready: \(condition)", nil)
        }
        self.missing = now
        if now.isEmpty {
            self.logger.notice("ready again")
        } else {
            let words = now.map(\.description).joined(separator: "; ")
            self.logger.error(
                "not ready: \(words)",
                metadata: ["conditions": "\(now.map(\.name).joined(separator: ", "))"]
            )
        }
    }

    /// The newest reading of the configuration, which is in the log already. The first is that of the start.
    package mutating func tell(configurationReadAt at: Instant, isRefused: Bool) {
        defer { self.configurationReadAt = at }
        guard let last = self.configurationReadAt, at != last else { return }
        self.mark(.configuration, isRefused ? "The configuration was refused" : "The configuration was read again", at)
    }

    /// The targets, of which some have mostly failed for a while; the log has these already.
    package mutating func tell(_ targets: [CalledTarget]) {
        let now = targets.filter(\.health.isInTrouble)
        for target in now where !self.targetsInTrouble.contains(target.part) {
            self.mark(.outage, "\(target.part.name) began to fail", target.health.troubleSince)
        }
        self.targetsInTrouble = Set(now.map(\.part))
    }

    /// How far partitions are behind their logs.
    package mutating func tell(lags: [PartitionWork.Lag]) {
        for (partition, lag) in lags.enumerated() {
            let seconds = lag.time.milliseconds / 1000
            if lag.time > Self.lagMax, self.lagging.insert(partition).inserted {
                self.logger.warning(
                    "a partition is behind its log: pushes wait to be decided",
                    metadata: ["partition": "\(partition)", "seconds": "\(seconds)", "entries": "\(lag.entries)"]
                )
            } else if lag.entries == 0, self.lagging.remove(partition) != nil {
                self.logger.notice("a partition has caught up with its log", metadata: ["partition": "\(partition)"])
            }
        }
    }

    /// The partitions whose entries were stamped by clocks that do not agree.
    package mutating func tell(_ clocks: [ClockTrouble], at now: ContinuousClock.Instant) {
        for trouble in clocks {
            if !trouble.isPresent(at: now) {
                guard self.disagreeing.remove(trouble.partition) != nil else { continue }
                self.logger.notice(
                    "the clocks of brokers and gateways agree again",
                    metadata: ["partition": "\(trouble.partition)"]
                )
            } else if self.disagreeing.insert(trouble.partition).inserted {
                self.logger.error(
                    "the clocks of a broker and a gateway are more than 5 minutes apart: a partition's time stands still",
                    metadata: [
                        "partition": "\(trouble.partition)", "entries": "\(trouble.entries)",
                        "broker": "\(trouble.storedAt)", "gateway": "\(trouble.writtenAt)",
                    ]
                )
            }
        }
    }

    /// How often requests of teams were refused, since these had their share of undecided work.
    package mutating func tell(refusals teams: [(team: TeamID, refused: Int)]) {
        for (team, refused) in teams {
            let isRefused = refused > self.refusals.updateValue(refused, forKey: team) ?? 0
            if isRefused, self.flooding.insert(team).inserted {
                self.logger.warning(
                    "a team has used up its share of undecided work in the log: its further requests are answered 503",
                    metadata: ["team": "\(team)"]
                )
            } else if !isRefused, self.flooding.remove(team) != nil {
                self.logger.notice("a team's requests are accepted again", metadata: ["team": "\(team)"])
            }
        }
    }

    /// Pushes that are refused for their credentials.
    package mutating func tell(_ credentials: BadCredentials) {
        guard credentials.keepComing != self.areCredentialsBad else { return }
        self.areCredentialsBad = credentials.keepComing
        let metadata: Logger.Metadata = ["peer": "\(credentials.peer)", "withinMinute": "\(credentials.withinMinute)"]
        if credentials.keepComing {
            self.logger.warning("pushes with invalid credentials keep coming", metadata: metadata)
        } else {
            self.logger.notice("pushes with invalid credentials have stopped", metadata: metadata)
        }
    }

    /// How many widgets of each kind are late.
    package mutating func tell(_ board: BehindBoard) {
        // A kind whose widgets have all gone is late no more.
        for key in self.late.union(board.kinds.keys).sorted(by: { $0.description < $1.description }) {
            let row = board[key]
            if !board.goal.isMet(late: row.late, of: row.instances) {
                guard self.late.insert(key).inserted else { continue }
                let reasons = BehindCause.allCases.filter { row[$0] > 0 }.map { "\($0.rawValue): \(row[$0])" }
                self.logger.warning(
                    "more widgets are late than the goal allows",
                    metadata: [
                        "app": "\(key.app)", "kind": "\(key.kind)", "late": "\(row.late)",
                        "instances": "\(row.instances)", "goal": "\(board.goal.text)",
                        "reasons": "\(reasons.joined(separator: ", "))",
                    ]
                )
            } else if self.late.remove(key) != nil {
                let metadata: Logger.Metadata = ["app": "\(key.app)", "kind": "\(key.kind)"]
                self.logger.notice("the freshness goal is met again", metadata: metadata)
            }
        }
    }

    /// How many instances of each kind have used up the budget of their window.
    package mutating func tell(budgets kinds: [BudgetSurvey.KindRow]) {
        for row in kinds {
            var metadata: Logger.Metadata {
                [
                    "app": "\(row.app)", "kind": "\(row.kind)", "exhausted": "\(row.exhausted)",
                    "instances": "\(row.instances)",
                ]
            }
            if row.isSpent {
                guard self.spent[row.app, default: []].insert(row.kind).inserted else { continue }
                self.logger.warning(
                    "more than a quarter of a kind's widgets have used up their budgets",
                    metadata: metadata
                )
            } else if self.spent[row.app]?.remove(row.kind) != nil {
                self.logger.notice("a kind's widgets have budget again", metadata: metadata)
            }
        }
    }
}

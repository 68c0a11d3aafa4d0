/// The declaration of one number of ``EngineStats``: everything about it except the place where it is counted.
package struct EngineStat: Sendable {
    /// The part of `GET /v1/stats` that it stands in.
    package enum Group: Hashable, Sendable {
        case registry
        case pushes
        case reloads
        /// None.
        case unlisted
    }

    /// How it is shown among the metrics.
    package struct Metric: Sendable {
        package let name: String
        package let isCounter: Bool
        package let help: String
        /// The label that distinguishes it from others of the same name, which stand next to each other.
        package let label: (name: String, value: String)?

        static func counter(_ name: String, _ help: String, by label: (String, String)? = nil) -> Metric {
            Metric(name: name, isCounter: true, help: help, label: label)
        }

        static func gauge(_ name: String, _ help: String) -> Metric {
            Metric(name: name, isCounter: false, help: help, label: nil)
        }
    }

    package typealias Member = any WritableKeyPath<EngineStats, Int> & Sendable

    package let member: Member
    package let group: Group
    /// Its name in operators' answers.
    package let name: String
    /// Whether it is counted from record to record, so that a snapshot must have it; others follow from the state.
    package let isCounted: Bool
    package let metric: Metric?

    private static func counted(_ group: Group, _ name: String, _ member: Member, _ metric: Metric? = nil) -> EngineStat
    {
        EngineStat(member: member, group: group, name: name, isCounted: true, metric: metric)
    }

    private static func held(_ group: Group, _ name: String, _ member: Member, _ metric: Metric? = nil) -> EngineStat {
        EngineStat(member: member, group: group, name: name, isCounted: false, metric: metric)
    }

    /// All of them. Their order is that of operators' answers and of a snapshot's bytes.
    package static let all: [EngineStat] = [
        .held(.registry, "hosts", \.hosts, .gauge("freshet_hosts", "Hosts registered.")),
        .held(.registry, "instances", \.instances, .gauge("freshet_instances", "Widget instances registered.")),
        .held(.registry, "pushEnabled", \.pushEnabledInstances),
        .held(
            .registry,
            "orphaned",
            \.orphanedInstances,
            .gauge("freshet_instances_orphaned", "Instances that do not fit their kind's schema.")
        ),
        .held(.registry, "tombstones", \.tombstones),
        .held(.registry, "tokens", \.tokens),
        .held(.registry, "removedTokens", \.removedTokens),
        .held(.registry, "channels", \.channels),
        .counted(.pushes, "accepted", \.pushesAccepted),
        .counted(.pushes, "repeated", \.pushesRepeated),
        .counted(
            .pushes,
            "failed",
            \.pushesFailed,
            .counter(
                "freshet_pushes_failed_total",
                "Pushes that failed when a partition applied them, since they matched too many instances."
            )
        ),
        .held(.pushes, "retained", \.pushesRetained),
        .held(.pushes, "incomplete", \.pushesIncomplete),
        .held(.pushes, "matched", \.matched, .counter("freshet_matches_total", "Instances that pushes matched.")),
        .counted(.reloads, "issued", \.reloadsIssued),
        .counted(
            .reloads,
            "charged",
            \.reloadsCharged,
            .counter("freshet_reloads_charged_total", "Reloads that were charged to a budget.")
        ),
        .held(
            .reloads,
            "outstanding",
            \.reloadsOutstanding,
            .gauge("freshet_reloads_outstanding", "Reloads that were issued and are not acknowledged yet.")
        ),
        .counted(.reloads, "acknowledged", \.reloadsAcknowledged, Self.ended("acknowledged")),
        .counted(.reloads, "refused", \.reloadsRefused, Self.ended("refused")),
        .counted(.reloads, "unacknowledged", \.reloadsUnacknowledged, Self.ended("unacknowledged")),
        .counted(
            .reloads,
            "observed",
            \.reloadsObserved,
            .counter("freshet_reloads_observed_total", "Reloads that hosts made by themselves.")
        ),
        .counted(.reloads, "collateral", \.reloadsCollateral, Self.collateral("within")),
        .counted(.reloads, "collateralOver", \.reloadsCollateralOver, Self.collateral("beyond")),
        .counted(.reloads, "tokenPushes", \.tokenPushes),
        .counted(.unlisted, "timelinesAccepted", \.timelinesAccepted),
        .counted(.unlisted, "timelinesDiscarded", \.timelinesDiscarded),
        .counted(.unlisted, "timelineFindings", \.timelineFindings),
        .counted(.unlisted, "signals", \.signals),
        .counted(.unlisted, "invalidations", \.invalidations),
        .held(.unlisted, "timersArmed", \.timersArmed),
        .held(
            .unlisted,
            "decisionsEvicted",
            \.decisionsEvicted,
            .counter(
                "freshet_decisions_evicted_total",
                "Decisions that were removed, since more than limits.maxDecisionsRetained were kept."
            )
        ),
        .held(.unlisted, "pushesRemembered", \.pushesRemembered),
    ]

    private static func ended(_ result: String) -> Metric {
        .counter(
            "freshet_reloads_ended_total",
            "Reloads that ended, by the host's answer.",
            by: ("result", result)
        )
    }

    private static func collateral(_ budget: String) -> Metric {
        .counter(
            "freshet_collateral_total",
            "Reloads of widgets that share a push token with the target of a push.",
            by: ("budget", budget)
        )
    }
}

extension EngineStats {
    /// The sums over partitions; position and time are the greatest of theirs.
    package init(sumOf partitions: [EngineStats]) {
        self.init()
        for stats in partitions { self += stats }
    }

    /// Adds another partition's totals; position and time become the greater ones.
    package static func += (left: inout EngineStats, right: EngineStats) {
        left.position = max(left.position, right.position)
        left.time = max(left.time, right.time)
        left.rememberedSince = [left.rememberedSince, right.rememberedSince].compactMap(\.self).min()
        for stat in EngineStat.all { left[keyPath: stat.member] += right[keyPath: stat.member] }
        left.outcomes += right.outcomes
        for index in left.reloadsExempt.indices { left.reloadsExempt[index] += right.reloadsExempt[index] }
        for index in left.reloadsByCause.indices { left.reloadsByCause[index] += right.reloadsByCause[index] }
        left.freshness += right.freshness
        left.acknowledgement += right.acknowledgement
        left.decisions += right.decisions
    }
}

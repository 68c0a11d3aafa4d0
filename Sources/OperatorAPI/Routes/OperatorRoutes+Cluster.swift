import Clustering
import HTTPTransport
import Journaling
import NIOPosix
import Partitions
import Serving
import WidgetModel

/// The nodes that share the log, and the operators' wishes for them.
extension OperatorRoutes {
    /// The answer where no other gateway has the log.
    private static let alone = Problem(
        .notFound,
        "this gateway does not share its log; set journal.jetstream in the configuration to share one (docs/jetstream.md)"
    )

    /// `GET /v1/cluster`: nodes, partitions and brokers as this node knows them; empty lists where it is alone.
    func cluster(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        guard let cluster = self.store.cluster, let view = cluster.view else {
            return HTTPResponse(ofNow: [
                ("asOf", .instant(self.clock.now())), ("troubles", .array([])), ("nodes", .array([])),
                ("partitions", .array([])),
            ])
        }
        return HTTPResponse(ofNow: self.members(of: view, cluster.brokers, cluster.clockTroubles))
    }

    /// `POST /v1/cluster/orders`: drains a node, lets it have partitions again, moves a partition, or changes decision rules.
    func orderCluster(_ call: OperatorCall) throws(Problem) -> Change {
        guard let cluster = self.store.cluster, let view = cluster.view else { throw Self.alone }
        let change = try ClusterOrderBody.change(try call.json(), in: view)
        return Change { () async throws(Problem) in
            do {
                try await NIOThreadPool.singleton.runIfActive { try cluster.change(change) }
            } catch {
                throw Problem(.unavailable, "the brokers did not take the order (\(error)); send it again")
            }
            return try await self.cluster(call)
        }
    }

    private func members(
        of view: ClusterView,
        _ brokers: BrokersView?,
        _ clocks: [ClockTrouble]
    ) -> [(String, JSONValue?)] {
        let now = self.clock.now()
        let snapshots = self.store.snapshots()?.newest ?? []
        let settings = self.settings.reloading?.digests.inForce
        let apart = clocks.filter { $0.isPresent(at: .now) }
        let troubles = ClusterTroubles(of: view, brokers, apart, settings: settings, at: now).all
        return [
            ("asOf", .instant(now)),
            ("node", .string(view.own.name.rawValue)),
            ("settingsDigest", settings.map { .string(Base16.text(of: $0)) }),
            ("troubles", .array(troubles.map(\.json))),
            ("nodes", .array(view.nodes.map { Self.node($0, in: view, now: now) })),
            (
                "partitions",
                .array(
                    view.partitions.map { seen in
                        let newest = snapshots.first { $0.partition == seen.partition }
                        let isApart = apart.contains { $0.partition == seen.partition }
                        return Self.partition(seen, newest, isApart: isApart, in: view, now: now)
                    }
                )
            ),
            ("wishedRules", view.wishedRules.map { .count(Int($0)) }),
            ("brokers", brokers.map { Self.brokers($0) }),
            (
                "counts",
                JSONValue.object(of: [
                    ("moves", .count(view.counts.moves)), ("takeovers", .count(view.counts.takeovers)),
                    ("beatsMissed", .count(view.counts.beatsMissed)),
                    ("standbysDisagreed", .count(view.counts.standbysDisagreed)),
                ])
            ),
        ]
    }

    private static func node(_ seen: ClusterView.Node, in view: ClusterView, now: Instant) -> JSONValue {
        let state = seen.isMissing ? "missing" : !seen.isAlive ? "ended" : "\(seen.phase)"
        let comparable = view.comparableReport(of: seen)
        return JSONValue.object(of: [
            ("name", .string(seen.node.name.rawValue)),
            ("address", .string(seen.node.address)),
            ("startedAt", .instant(seen.node.incarnation.startedAt)),
            ("rules", .count(Int(seen.node.rules))),
            ("version", seen.report.map { .string($0.program) }),
            ("settingsDigest", comparable.map { .string(Base16.text(of: $0.settings)) }),
            ("credentialsDigest", comparable.map { .string(Base16.text(of: $0.credentials)) }),
            ("state", .string(state)),
            ("drained", .bool(seen.isDrained)),
            ("partitions", .count(view.partitions.count { $0.owner == seen.node })),
            ("lastHeard", .instant(now - seen.silentFor)),
            ("silentSeconds", .int(seen.silentFor.milliseconds / 1000)),
        ])
    }

    private static func partition(
        _ seen: ClusterView.Partition,
        _ snapshot: SnapshotID?,
        isApart: Bool,
        in view: ClusterView,
        now: Instant
    ) -> JSONValue {
        JSONValue.object(of: [
            ("partition", .count(Int(seen.partition.rawValue))),
            ("state", .string(seen.state.rawValue)),
            ("owner", seen.owner.map { .string($0.name.rawValue) }),
            ("epoch", seen.epoch.map { .unsigned($0.rawValue) }),
            ("applied", .unsigned(seen.applied.rawValue)),
            ("successor", seen.successor.map { .string($0.rawValue) }),
            ("next", seen.next.map { .string($0.rawValue) }),
            ("standby", seen.standby.map { .string($0.node.rawValue) }),
            ("standbyLag", seen.standby.map { .unsigned($0.lag) }),
            ("wished", seen.wished.map { .string($0.rawValue) }),
            ("rules", seen.rules.map { .count(Int($0)) }),
            ("snapshotAgeSeconds", snapshot.map { .int(max(.zero, now - $0.logTime).milliseconds / 1000) }),
            (
                "snapshotOverdueSeconds",
                view.overdueSince(seen).map { .int(max(.zero, now - $0).milliseconds / 1000) }
            ),
            ("clockDisagrees", .bool(isApart)),
        ])
    }

    private static func brokers(_ seen: BrokersView) -> JSONValue {
        JSONValue.object(of: [
            ("connected", .string(seen.connected)),
            ("servers", .strings(seen.servers)),
            (
                "brokers",
                .array(
                    seen.brokers.map { broker in
                        JSONValue.object(of: [
                            ("name", .string(broker.name)), ("version", .string(broker.version)),
                            ("leads", .count(seen.streams.count { $0.leader == broker.name })),
                            ("fault", broker.fault.map { .string($0) }),
                        ])
                    }
                )
            ),
            (
                "streams",
                .array(
                    seen.streams.map { stream in
                        JSONValue.object(of: [
                            ("stream", .string(stream.name)), ("leader", stream.leader.map { .string($0) }),
                            ("replicas", .count(stream.replicas)), ("current", .count(stream.current)),
                        ])
                    }
                )
            ),
        ])
    }

    // MARK: Metrics

    func addCluster(_ text: inout PrometheusText) {
        guard let cluster = self.store.cluster, let view = cluster.view else { return }
        text.add(
            "freshet_cluster_nodes",
            .gauge,
            "Nodes that share the log, alive or missing. A missing node is silent and has not said that it ends.",
            by: "state",
            [("alive", view.nodes.count(where: \.isAlive)), ("missing", view.nodes.count(where: \.isMissing))]
        )
        text.add(
            "freshet_cluster_nodes_drained",
            .gauge,
            "Living nodes that operators have drained.",
            view.nodes.count { $0.isAlive && $0.isDrained }
        )
        text.add(
            "freshet_cluster_partitions",
            .gauge,
            "Partitions of the log, by their state.",
            by: "state",
            ClusterView.State.allCases.map { state in
                (state.rawValue, view.partitions.count { $0.state == state })
            }
        )
        text.add(
            "freshet_cluster_partitions_owned",
            .gauge,
            "Partitions that this node owns.",
            view.partitions.count { $0.owner == view.own }
        )
        text.add(
            "freshet_cluster_moves_total",
            .counter,
            "Partitions that this node has handed over.",
            view.counts.moves
        )
        text.add(
            "freshet_cluster_takeovers_total",
            .counter,
            "Partitions that this node has taken from a node that did not hand them over.",
            view.counts.takeovers
        )
        text.add(
            "freshet_cluster_beats_missed_total",
            .counter,
            "Beats of other nodes that did not arrive.",
            view.counts.beatsMissed
        )
        text.add(
            "freshet_cluster_messages_lost_total",
            .counter,
            "How often a message of this node was gone that the brokers had stored.",
            cluster.losses
        )
        Self.addClocks(of: view, cluster.clockTroubles, &text)
        Self.addStandbys(of: view, &text)
        if let brokers = cluster.brokers { Self.addBrokers(brokers, &text) }
    }

    private static func addBrokers(_ brokers: BrokersView, _ text: inout PrometheusText) {
        text.add("freshet_cluster_brokers", .gauge, "Brokers that answer.", brokers.brokers.count)
        text.add(
            "freshet_cluster_brokers_unsafe",
            .gauge,
            "Brokers that answer and with which this gateway would not start: they could lose accepted pushes.",
            brokers.brokers.count { $0.fault != nil }
        )
        text.add(
            "freshet_cluster_streams",
            .gauge,
            "Streams of the log: all, those without a leader, and those that are not whole on every broker.",
            by: "which",
            [
                ("all", brokers.streams.count), ("leaderless", brokers.leaderless.count),
                ("lagging", brokers.lagging.count),
            ]
        )
    }

    private static func addClocks(of view: ClusterView, _ clocks: [ClockTrouble], _ text: inout PrometheusText) {
        text.add(
            "freshet_cluster_clock_disagreements_total",
            .counter,
            "Entries that this node has read whose broker and whose writer had clocks that are more than 5 minutes apart.",
            by: "partition",
            view.partitions.map { seen in
                ("\(seen.partition)", clocks.first { $0.partition == seen.partition }?.entries ?? 0)
            }
        )
    }

    private static func addStandbys(of view: ClusterView, _ text: inout PrometheusText) {
        text.add(
            "freshet_cluster_standbys",
            .gauge,
            "Partitions whose owner is followed by a node that goes on when it dies.",
            view.partitions.count { $0.standby != nil }
        )
        text.add(
            "freshet_partition_standby_lag_entries",
            .gauge,
            "Entries that the owner of a partition has committed, and that this node, which follows it, has not applied.",
            by: "partition",
            view.partitions.compactMap { seen -> (String, Int)? in
                guard let standby = seen.standby, standby.node == view.own.name else { return nil }
                return ("\(seen.partition)", Int(clamping: standby.lag))
            }
        )
        text.add(
            "freshet_cluster_standbys_disagreed_total",
            .counter,
            "Standbys that this node had to end, since they came to another state than the owner.",
            view.counts.standbysDisagreed
        )
    }
}

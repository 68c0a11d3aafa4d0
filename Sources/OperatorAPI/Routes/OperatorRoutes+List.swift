import HTTPTransport
package import Serving
import Settings

extension OperatorRoutes {
    /// Every route of the ops listener, behind the probes.
    ///
    /// A new one stands here, in docs/openapi.yaml and in docs/operators.md; tests say where they differ. It is closed to teams' keys until
    /// it names their access.
    static let table = RouteTable<OperatorEndpoint> {
        Route(.get, "/", .shows { files, _ in files.page })
        Route(.get, "/dashboard/{version}/{file}", .shows { $0.file(at: $1.path) })
        Route(.get, "/metrics", .asks(.read, Self.metrics))
        Route(.get, "/v1/openapi.yaml", .asks(.read, teams: .whole, Self.document))
        Route(.get, "/v1/session", .asks(.read, teams: .whole, Self.session))
        Route(.get, "/v1/audit", .asks(.admin, Self.auditTrail))
        Route(.get, "/v1/config", .asks(.read, Self.configuration))
        Route(.get, "/v1/config/diff", .asks(.read, Self.configurationDifference))
        Route(.post, "/v1/config/reload", .changes(.admin, Self.reloadConfiguration))
        Route(.get, "/v1/config/amendments", .asks(.read, Self.amendmentList))
        Route(
            .delete,
            "/v1/config/amendments/teams/{team}",
            query: ["dryRun"],
            .changes(.admin, Self.revertTeam)
        )
        Route(.delete, "/v1/config/amendments/apps/{app}", query: ["dryRun"], .changes(.admin, Self.revertApp))
        Route(.get, "/v1/teams", .asks(.read, Self.teamList))
        Route(.get, "/v1/teams/{team}", .asks(.read, Self.team))
        Route(.put, "/v1/teams/{team}", query: ["dryRun"], body: .ordinary, .changes(.admin, Self.putTeam))
        Route(.delete, "/v1/teams/{team}", query: ["dryRun"], .changes(.admin, Self.endTeam))
        Route(.get, "/v1/teams/{team}/keys/{key}", .asks(.read, Self.teamKey))
        Route(
            .put,
            "/v1/teams/{team}/keys/{key}",
            query: ["dryRun"],
            body: .ordinary,
            .changes(.admin, Self.putTeamKey)
        )
        Route(.delete, "/v1/teams/{team}/keys/{key}", query: ["dryRun"], .changes(.admin, Self.endTeamKey))
        Route(.get, "/v1/log-levels", .asks(.read, Self.logLevels))
        Route(.put, "/v1/log-levels", body: .ordinary, .changes(.write, Self.setLogLevels))
        Route(.get, "/v1/stats", .asks(.read, Self.stats))
        Route(.get, "/v1/history", query: ["step", "after", "limit"], .asks(.read, Self.samples))
        Route(.get, "/v1/history/marks", query: ["after"], .asks(.read, Self.marks))
        Route(.get, "/v1/history/senders", query: ["after"], .asks(.read, teams: .own, Self.senderHours))
        Route(.get, "/v1/events", query: ["types", "cursor"], isStream: true, .asks(.read, Self.events))
        Route(.get, "/v1/apps", .asks(.read, teams: .own, Self.appList))
        Route(.get, "/v1/apps/{app}", .asks(.read, Self.app))
        Route(.put, "/v1/apps/{app}", query: ["dryRun"], body: .ordinary, .changes(.admin, Self.putApp))
        Route(.delete, "/v1/apps/{app}", query: ["dryRun"], .changes(.admin, Self.endApp))
        Route(.get, "/v1/apps/{app}/kinds/{kind}", .asks(.read, Self.appKind))
        Route(
            .put,
            "/v1/apps/{app}/kinds/{kind}",
            query: ["dryRun"],
            body: .ordinary,
            .changes(.admin, Self.putAppKind)
        )
        Route(.delete, "/v1/apps/{app}/kinds/{kind}", query: ["dryRun"], .changes(.admin, Self.endAppKind))
        Route(.post, "/v1/apps/{app}/dry-runs", body: .ordinary, .asks(.read, Self.dryRun))
        Route(.delete, "/v1/apps/{app}/hosts", query: ["history"], .changes(.admin, Self.eraseHosts))
        Route(.get, "/v1/kinds", .asks(.read, teams: .own, Self.kindList))
        Route(.get, "/v1/kinds/{kind}", .asks(.read, teams: .own, Self.kind))
        Route(.get, "/v1/budget", query: ["app", "kind"], .asks(.read, teams: .own, Self.budget))
        Route(.get, "/v1/forecast", .asks(.read, Self.forecast))
        Route(
            .get,
            "/v1/instances",
            query: ["app", "kind", "host", "state", "olderThan", "limit", "cursor"],
            .asks(.read, teams: .own, Self.instances)
        )
        Route(
            .get,
            "/v1/instances/{app}/{instance}",
            query: ["decisions", "pending", "replay"],
            .asks(.read, teams: .own(except: ["replay"]), Self.instance)
        )
        Route(.get, "/v1/instances/{app}/{instance}/why", query: ["since"], .asks(.read, teams: .own, Self.why))
        Route(
            .get,
            "/v1/hosts",
            query: ["app", "host", "token", "connected", "limit", "cursor"],
            .asks(.read, teams: .own, Self.hosts)
        )
        Route(.get, "/v1/hosts/{app}/{host}", .asks(.read, teams: .own, Self.host))
        Route(.delete, "/v1/hosts/{app}/{host}", query: ["history"], .changes(.admin, Self.eraseHost))
        Route(
            .get,
            "/v1/pushes",
            query: ["sender", "app", "kind", "after", "before", "state", "outcome", "limit", "cursor"],
            .asks(.read, teams: .own, Self.pushes)
        )
        Route(.get, "/v1/pushes/{push}", .asks(.read, teams: .own, Self.push))
        Route(
            .get,
            "/v1/pushes/{push}/decisions",
            query: ["outcome", "limit", "cursor"],
            .asks(.read, teams: .own, Self.decisions)
        )
        Route(.get, "/v1/pushes/{push}/events", isStream: true, .asks(.read, teams: .own, Self.pushEvents))
        Route(.get, "/v1/senders", .asks(.read, teams: .own, Self.senders))
        Route(.get, "/v1/providers", .asks(.read, teams: .own, Self.providerList))
        Route(.get, "/v1/upstreams", .asks(.read, teams: .own, Self.upstreamList))
        Route(.post, "/v1/try-now", body: .ordinary, .changes(.write, Self.tryNow))
        Route(.get, "/v1/partitions", .asks(.read, Self.partitionList))
        Route(.get, "/v1/cluster", .asks(.read, Self.cluster))
        Route(
            .post,
            "/v1/cluster/orders",
            body: .ordinary,
            .changes(.write, audit: .durableNotes, Self.orderCluster)
        )
        Route(.get, "/v1/orders", .asks(.read, teams: .own, Self.orderList))
        Route(.post, "/v1/orders", body: .ordinary, .changes(.write, audit: .ownRecord, Self.order))
        Route(.get, "/v1/clock", .asks(.read, Self.clockNow))
        Route(.post, "/v1/clock", body: .ordinary, .changes(.write, Self.moveClock))
    }

    /// The list, for those who compare it with the documents.
    package static var routes: [RouteSummary] { Self.table.summaries { $0.right } }
}

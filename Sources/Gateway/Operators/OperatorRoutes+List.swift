extension OperatorRoutes {
    /// Every route of the ops listener, behind the probes and the dashboard's files.
    ///
    /// A new one stands here, in docs/openapi.yaml and in docs/operators.md; tests say where they differ.
    static let table = RouteTable<OperatorEndpoint> {
        Route(.get, "/metrics", .asks(.read, OperatorRoutes.metrics))
        Route(.get, "/v1/openapi.yaml", .asks(.read, OperatorRoutes.document))
        Route(.get, "/v1/session", .asks(.read, OperatorRoutes.session))
        Route(.get, "/v1/audit", .asks(.admin, OperatorRoutes.auditTrail))
        Route(.get, "/v1/config", .asks(.read, OperatorRoutes.configuration))
        Route(.get, "/v1/config/diff", .asks(.read, OperatorRoutes.configurationDifference))
        Route(.post, "/v1/config/reload", .changes(.admin, OperatorRoutes.reloadConfiguration))
        Route(.get, "/v1/log-levels", .asks(.read, OperatorRoutes.logLevels))
        Route(.put, "/v1/log-levels", body: .ordinary, .changes(.admin, OperatorRoutes.setLogLevels))
        Route(.get, "/v1/stats", .asks(.read, OperatorRoutes.stats))
        Route(.get, "/v1/history", query: ["step", "after", "limit"], .asks(.read, OperatorRoutes.samples))
        Route(.get, "/v1/events", query: ["types", "cursor"], isStream: true, .asks(.read, OperatorRoutes.events))
        Route(.get, "/v1/apps", .asks(.read, OperatorRoutes.appList))
        Route(.post, "/v1/apps/{app}/dry-runs", body: .ordinary, .asks(.read, OperatorRoutes.dryRun))
        Route(.delete, "/v1/apps/{app}/hosts", query: ["history"], .changes(.admin, OperatorRoutes.eraseHosts))
        Route(.get, "/v1/kinds", .asks(.read, OperatorRoutes.kindList))
        Route(.get, "/v1/kinds/{kind}", .asks(.read, OperatorRoutes.kind))
        Route(.get, "/v1/budget", query: ["app", "kind"], .asks(.read, OperatorRoutes.budget))
        Route(.get, "/v1/forecast", .asks(.read, OperatorRoutes.forecast))
        Route(
            .get,
            "/v1/instances",
            query: ["app", "kind", "host", "state", "olderThan", "limit", "cursor"],
            .asks(.read, OperatorRoutes.instances)
        )
        Route(
            .get,
            "/v1/instances/{app}/{instance}",
            query: ["decisions", "pending"],
            .asks(.read, OperatorRoutes.instance)
        )
        Route(.get, "/v1/instances/{app}/{instance}/why", query: ["since"], .asks(.read, OperatorRoutes.why))
        Route(
            .get,
            "/v1/hosts",
            query: ["app", "connected", "limit", "cursor"],
            .asks(.read, OperatorRoutes.hosts)
        )
        Route(.get, "/v1/hosts/{app}/{host}", .asks(.read, OperatorRoutes.host))
        Route(.delete, "/v1/hosts/{app}/{host}", query: ["history"], .changes(.admin, OperatorRoutes.eraseHost))
        Route(
            .get,
            "/v1/pushes",
            query: ["sender", "app", "kind", "after", "before", "state", "outcome", "limit", "cursor"],
            .asks(.read, OperatorRoutes.pushes)
        )
        Route(.get, "/v1/pushes/{push}", .asks(.read, OperatorRoutes.push))
        Route(
            .get,
            "/v1/pushes/{push}/decisions",
            query: ["outcome", "limit", "cursor"],
            .asks(.read, OperatorRoutes.decisions)
        )
        Route(.get, "/v1/pushes/{push}/events", isStream: true, .asks(.read, OperatorRoutes.pushEvents))
        Route(.get, "/v1/senders", .asks(.read, OperatorRoutes.senders))
        Route(.get, "/v1/providers", .asks(.read, OperatorRoutes.providerList))
        Route(.get, "/v1/upstreams", .asks(.read, OperatorRoutes.upstreamList))
        Route(.post, "/v1/try-now", body: .ordinary, .changes(.write, OperatorRoutes.tryNow))
        Route(.get, "/v1/partitions", .asks(.read, OperatorRoutes.partitionList))
        Route(.get, "/v1/orders", .asks(.read, OperatorRoutes.orderList))
        Route(.post, "/v1/orders", body: .ordinary, .changes(.write, audit: .ownRecord, OperatorRoutes.order))
        Route(.get, "/v1/clock", .asks(.read, OperatorRoutes.clockNow))
        Route(.post, "/v1/clock", body: .ordinary, .changes(.write, OperatorRoutes.moveClock))
    }

    /// The list, for those who compare it with the documents.
    package static var routes: [RouteSummary] { Self.table.summaries { $0.scope.rawValue } }
}

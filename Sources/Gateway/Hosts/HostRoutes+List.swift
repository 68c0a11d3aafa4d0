import Engine

extension HostRoutes {
    /// Every route of the host listener but for pushes, which ``PushHandler`` takes before. The push listener has them, too.
    ///
    /// A new one stands here, in docs/openapi.yaml and in docs/wire.md; tests say where they differ.
    static let table = RouteTable<HostEndpoint> {
        Route(.put, "/v1/hosts/{token}/widgets", body: .ordinary, .host(HostRoutes.register))
        Route(.get, "/v1/hosts/{token}/widgets", .host(HostRoutes.widgets))
        Route(.delete, "/v1/hosts/{token}/widgets", .host(HostRoutes.unregister))
        Route(
            .put,
            "/v1/hosts/{token}/widgets/{instance}/timeline",
            body: .ordinary,
            .host(HostRoutes.timeline)
        )
        Route(.get, "/v1/hosts/{token}/state", .host(HostRoutes.state))
        Route(.get, "/v1/hosts/{token}/stack", query: ["at"], .host(HostRoutes.stack))
        Route(.get, "/v1/hosts/{token}/suggestions", query: ["at", "limit"], .host(HostRoutes.suggestions))
        Route(.post, "/v1/hosts/{token}/signals", body: .ordinary, .host(HostRoutes.signals))
        Route(.get, "/v1/hosts/{token}/events", isStream: true, .host(HostRoutes.hostEvents))
        Route(.get, "/v1/apps/{app}/hosts", query: ["limit", "from"], .app(HostRoutes.exportHosts))
        Route(.post, "/v1/apps/{app}/hosts", body: .large, .app(HostRoutes.importHosts))
        Route(
            .get,
            "/v1/apps/{app}/widgets",
            query: ["kind", "match", "limit", "from"],
            .app(HostRoutes.currentConfigurations)
        )
        Route(.post, "/v1/apps/{app}/reload", body: .ordinary, .app(HostRoutes.reload))
        Route(
            .post,
            "/v1/apps/{app}/invalidate-relevance",
            body: .ordinary,
            .app(HostRoutes.invalidateRelevance)
        )
        Route(
            .post,
            "/v1/apps/{app}/invalidate-recommendations",
            body: .ordinary,
            .app(HostRoutes.invalidateRecommendations)
        )
        Route(.post, "/v1/apps/{app}/acknowledgements", body: .ordinary, .app(HostRoutes.acknowledge))
        Route(.get, "/v1/apps/{app}/events", isStream: true, .app(HostRoutes.appEvents))
        Route(.post, "/v1/apps/{app}/kinds/{kind}/timelines", body: .large, .provider(HostRoutes.callBack))
        Route(.get, "/v1/pushes/{push}", .sender(HostRoutes.push))
        Route(.delete, "/v1/pushes/{push}", .sender(HostRoutes.cancel))
        Route(.get, "/v1/pushes/{push}/events", isStream: true, .sender(HostRoutes.followPush))
        for question in ProviderRequest.allCases where question != .timeline {
            Route(
                .get,
                "/v1/apps/{app}/kinds/{kind}/\(question.rawValue)",
                query: ["family", "preview", "configuration"],
                .kind(HostRoutes.gallery)
            )
        }
    }

    /// The list, for those who compare it with the documents.
    package static var routes: [RouteSummary] { Self.table.summaries { $0.right } }
}

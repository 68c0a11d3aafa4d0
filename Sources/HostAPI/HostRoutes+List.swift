import Engine
package import Serving

extension HostRoutes {
    /// Every route of the host listener but for those of senders in `PushPath.all`. The push listener has them, too.
    ///
    /// A new one stands here, in docs/openapi.yaml and in docs/wire.md; tests say where they differ.
    static let table = RouteTable<HostEndpoint> {
        Route(.put, "/v1/hosts/{token}/widgets", body: .ordinary, .host(Self.register))
        Route(.get, "/v1/hosts/{token}/widgets", .host(Self.widgets))
        Route(.delete, "/v1/hosts/{token}/widgets", .host(Self.unregister))
        Route(.put, "/v1/hosts/{token}/widgets/{instance}/timeline", body: .ordinary, .host(Self.timeline))
        Route(.get, "/v1/hosts/{token}/state", .host(Self.state))
        Route(.get, "/v1/hosts/{token}/stack", query: ["at"], .host(Self.stack))
        Route(.get, "/v1/hosts/{token}/suggestions", query: ["at", "limit"], .host(Self.suggestions))
        Route(.post, "/v1/hosts/{token}/signals", body: .ordinary, .host(Self.signals))
        Route(.get, "/v1/hosts/{token}/events", isStream: true, .host(Self.hostEvents))
        Route(.get, "/v1/apps/{app}/hosts", query: ["limit", "from"], .app(Self.exportHosts))
        Route(.post, "/v1/apps/{app}/hosts", body: .large, .app(Self.importHosts))
        Route(
            .get,
            "/v1/apps/{app}/widgets",
            query: ["kind", "match", "limit", "from"],
            .app(Self.currentConfigurations)
        )
        Route(.post, "/v1/apps/{app}/reload", body: .ordinary, .app(Self.reload))
        Route(.post, "/v1/apps/{app}/invalidate-relevance", body: .ordinary, .app(Self.invalidateRelevance))
        Route(.post, "/v1/apps/{app}/invalidate-recommendations", body: .ordinary, .app(Self.invalidateRecommendations))
        Route(.post, "/v1/apps/{app}/acknowledgements", body: .ordinary, .app(Self.acknowledge))
        Route(.get, "/v1/apps/{app}/events", isStream: true, .app(Self.appEvents))
        Route(.post, "/v1/apps/{app}/kinds/{kind}/timelines", body: .large, .provider(Self.callBack))
        Route(.get, "/v1/pushes/{push}", .sender(Self.push))
        Route(.delete, "/v1/pushes/{push}", .sender(Self.cancel))
        Route(.get, "/v1/pushes/{push}/events", isStream: true, .sender(Self.followPush))
        for question in ProviderRequest.allCases where question != .timeline {
            Route(
                .get,
                "/v1/apps/{app}/kinds/{kind}/\(question.rawValue)",
                query: ["family", "preview", "configuration"],
                .kind(Self.gallery)
            )
        }
    }

    /// The list, for those who compare it with the documents.
    package static var routes: [RouteSummary] { Self.table.summaries { $0.right } }
}

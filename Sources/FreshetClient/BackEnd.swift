/// An app's back end, with a gateway's host listener: it acts for all hosts of the app.
public struct BackEnd: Sendable {
    /// The app's bundle id.
    public let app: String
    /// The host listener, with a provider token whose key allows hosts.
    public let endpoint: Endpoint

    /// Makes a back end.
    ///
    /// - Parameters:
    ///   - app: The app's bundle id.
    ///   - endpoint: Where it asks, with a provider token whose key allows hosts.
    public init(app: String, at endpoint: Endpoint) {
        self.app = app
        self.endpoint = endpoint
    }

    private func path(_ rest: String...) -> [String] { ["v1", "apps", self.app] + rest }

    /// One of the app's hosts. The back end acts for it.
    ///
    /// - Parameter token: The host's push token in hex.
    public func host(_ token: String) -> WidgetHost { WidgetHost(app: self.app, token: token, at: self.endpoint) }

    /// Registers many hosts.
    ///
    /// - Returns: The result for each host, in the same order: the changes, or the reason of a refusal.
    public func importHosts(_ hosts: [ExportedHost]) async throws -> [ImportedHost] {
        let lines = hosts.map { AppMember(app: self.app, rest: $0) }
        return try await self.endpoint.send(EndpointRequest("POST", self.path("hosts"), lines: lines)).lines()
    }

    /// A page of the app's hosts, with whole push tokens. A host with several tokens has an element for each.
    ///
    /// - Parameters:
    ///   - place: The `next` of the page before; nil for the first.
    ///   - limit: The most hosts, 1 to 1,000; nil for 100.
    public func exportHosts(
        from place: String? = nil,
        limit: Int? = nil
    ) async throws -> (hosts: [ExportedHost], next: String?) {
        let request = EndpointRequest("GET", self.path("hosts")).with("from", place).with(
            "limit",
            limit.map(String.init)
        )
        let answer = try await self.endpoint.send(request)
        return (try answer.lines(), answer.headers["freshet-next"])
    }

    /// A page of the app's widgets, in no particular order. A page before the last may be short or empty.
    ///
    /// - Parameters:
    ///   - target: Which of them.
    ///   - place: The ``WidgetPage/next`` of the page before; nil for the first.
    ///   - limit: The most widgets, 1 to 1,000; nil for 100.
    public func widgets(
        _ target: Target = .all,
        from place: String? = nil,
        limit: Int? = nil
    ) async throws -> WidgetPage {
        let match = try target.match.map { String(decoding: try WireJSON.encode($0), as: UTF8.self) }
        let request = EndpointRequest("GET", self.path("widgets")).with("kind", target.kind).with("match", match)
            .with("from", place).with("limit", limit.map(String.init))
        return try await self.endpoint.send(request).json()
    }

    /// WidgetKit's `reloadTimelines(ofKind:)`, or `reloadControls(ofKind:)`.
    ///
    /// - Parameters:
    ///   - target: Which instances.
    ///   - host: Only those of the host with this id; nil for any.
    ///   - digest: Names the state of the content: a widget that shows it already does not reload.
    ///   - areControls: Whether it is about controls, and not widgets.
    /// - Returns: How many instances match.
    @discardableResult
    public func reload(
        _ target: Target,
        host: String? = nil,
        digest: String? = nil,
        areControls: Bool = false
    ) async throws -> Int {
        struct Body: Encodable {
            let kind: String?
            let match: Pattern?
            let host: String?
            let digest: String?
            let controls: Bool
        }
        struct Matched: Decodable { let matched: Int }
        let body = Body(kind: target.kind, match: target.match, host: host, digest: digest, controls: areControls)
        return try await self.endpoint.send(EndpointRequest("POST", self.path("reload"), json: body))
            .json(Matched.self).matched
    }

    /// WidgetKit's `invalidateRelevance(ofKind:)`.
    ///
    /// - Parameters:
    ///   - kind: The kind; nil for all.
    ///   - host: The host's id; nil for all.
    /// - Returns: The number of hosts that get the event.
    @discardableResult
    public func invalidateRelevance(of kind: String? = nil, host: String? = nil) async throws -> Int {
        struct Told: Decodable { let hosts: Int }
        let body = ["kind": kind, "host": host].compactMapValues { $0 }
        return try await self.endpoint.send(EndpointRequest("POST", self.path("invalidate-relevance"), json: body))
            .json(Told.self).hosts
    }

    /// WidgetKit's `invalidateConfigurationRecommendations()`.
    ///
    /// - Parameter kind: The kind; nil for all.
    /// - Returns: The number of kinds.
    @discardableResult
    public func invalidateRecommendations(of kind: String? = nil) async throws -> Int {
        struct Told: Decodable { let kinds: Int }
        let body = ["kind": kind].compactMapValues { $0 }
        return try await self.endpoint.send(
            EndpointRequest("POST", self.path("invalidate-recommendations"), json: body)
        )
        .json(Told.self).kinds
    }

    /// The events for the widgets of all hosts of the app. The outstanding reloads come first.
    public func events() -> HostEvents { HostEvents(endpoint: self.endpoint, path: self.path("events")) }

    /// Acknowledges reloads that hosts have made.
    ///
    /// - Parameter reloads: The ids of reloads, of any hosts.
    /// - Returns: For how many of them the gateway waited.
    @discardableResult
    public func acknowledge(_ reloads: [String]) async throws -> Int {
        struct Done: Decodable { let acknowledged: Int }
        let lines = reloads.map { ["reload": $0] }
        return try await self.endpoint.send(EndpointRequest("POST", self.path("acknowledgements"), lines: lines))
            .json(Done.self).acknowledged
    }

    /// Delivers the timelines for which a timeline provider has answered 202.
    ///
    /// - Parameters:
    ///   - answers: The timelines, or why there are none.
    ///   - kind: The kind that the widgets are of.
    /// - Returns: For how many of them the gateway waited.
    @discardableResult
    public func callBack(_ answers: [TimelineAnswer], for kind: String) async throws -> Int {
        struct Done: Decodable { let taken: Int }
        let path = self.path("kinds", kind, "timelines")
        return try await self.endpoint.send(EndpointRequest("POST", path, json: ["answers": answers]))
            .json(Done.self).taken
    }
}

/// The result for one host of an import.
public struct ImportedHost: Sendable, Hashable, Decodable {
    /// The line of the import, from 1.
    public let line: Int
    /// The HTTP status of the registration: 200 if it was accepted.
    public let status: Int
    /// The changes; nil for a refused host.
    public let registered: Registered?
    /// The reason of a refusal.
    public let problem: Problem?

    /// Why the gateway refused a host.
    public struct Problem: Sendable, Hashable, Decodable {
        /// A code for programs.
        public let code: String
        /// A text for people.
        public let detail: String?
        /// The place in the line.
        public let path: String?
        /// The number of seconds after which it may be accepted.
        public let retryAfter: Int?
    }
}

/// A page of an app's widgets.
public struct WidgetPage: Sendable, Hashable, Decodable {
    /// The widgets.
    public let widgets: [PlacedWidget]
    /// The start of the next page; nil on the last.
    public let next: String?
}

/// A widget and its host.
public struct PlacedWidget: Sendable, Hashable, Decodable {
    /// The host's id.
    public let host: String
    /// The widget.
    public let widget: WidgetInstance

    private enum CodingKeys: String, CodingKey { case host }

    /// Reads a widget of a page.
    public init(from decoder: any Decoder) throws {
        self.host = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .host)
        self.widget = try WidgetInstance(from: decoder)
    }
}

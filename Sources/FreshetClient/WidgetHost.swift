public import Foundation

/// A widget host, with a gateway's host listener.
public struct WidgetHost: Sendable {
    /// The app's bundle id.
    public let app: String
    /// The host's push token in hex.
    public let token: String
    /// The host listener, with the host credential; a back end uses its provider token.
    public let endpoint: Endpoint

    /// Makes a host.
    ///
    /// - Parameters:
    ///   - app: The app's bundle id.
    ///   - token: The host's push token in hex: any even number of digits that is this host's alone.
    ///   - endpoint: Where it asks, with its host credential.
    public init(app: String, token: String, at endpoint: Endpoint) {
        self.app = app
        self.token = token
        self.endpoint = endpoint
    }

    private func path(_ rest: String...) -> [String] { ["v1", "hosts", self.token] + rest }

    /// Replaces the host's widgets in one step.
    ///
    /// The registration is sent again while no answer comes and while the gateway asks for that, as
    /// ``Endpoint/retries`` says. Repeating it has no further effect.
    ///
    /// - Returns: The changes.
    /// - Throws: ``FreshetError``: `stale-revision` for an older registration than the last, `gone` for a removed host.
    @discardableResult
    public func register(_ registration: Registration) async throws -> Registered {
        let body = AppMember(app: self.app, rest: registration)
        return try await self.endpoint.sendRepeatedly(EndpointRequest("PUT", self.path("widgets"), json: body)).answer
            .json()
    }

    /// The host, from the gateway's registry.
    public func description() async throws -> HostDescription {
        try await self.endpoint.send(EndpointRequest("GET", self.path("widgets"))).json()
    }

    /// Removes the host. The gateway refuses its push token for 30 days.
    public func remove() async throws {
        _ = try await self.endpoint.send(EndpointRequest("DELETE", self.path("widgets")))
    }

    /// All widgets of the host, and its outstanding reloads.
    public func state() async throws -> HostState {
        try await self.endpoint.send(EndpointRequest("GET", self.path("state"))).json()
    }

    /// The host's widgets in the order of a Smart Stack.
    ///
    /// - Parameter date: The moment of the order; nil for now.
    public func stack(at date: Date? = nil) async throws -> Stack {
        let request = EndpointRequest("GET", self.path("stack")).with("at", try date.map(WireJSON.text))
        return try await self.endpoint.send(request).json()
    }

    /// Configurations that are relevant, and that the host does not show.
    ///
    /// - Parameters:
    ///   - date: The moment to ask for; nil for now.
    ///   - limit: The most suggestions, 1 to 1,000; nil for 100.
    public func suggestions(at date: Date? = nil, limit: Int? = nil) async throws -> Suggestions {
        let request = EndpointRequest("GET", self.path("suggestions"))
            .with("at", try date.map(WireJSON.text)).with("limit", limit.map(String.init))
        return try await self.endpoint.send(request).json()
    }

    /// The events for the host's widgets. The outstanding reloads come first.
    public func events() -> HostEvents { HostEvents(endpoint: self.endpoint, path: self.path("events")) }

    /// Reports events of the host. The gateway accepts all of them, or none.
    ///
    /// - Parameter signals: At most 10,000. Send acknowledgements separately: a gateway with a full disk accepts
    ///   nothing else.
    public func send(_ signals: [Signal]) async throws {
        let request = try EndpointRequest("POST", self.path("signals"), json: ["signals": signals])
        _ = try await self.endpoint.send(request)
    }

    /// Acknowledges a reload that the host has made.
    ///
    /// - Returns: Whether the gateway waited for it. False if it was acknowledged before, or has expired.
    @discardableResult
    public func acknowledge(_ reload: String) async throws -> Bool {
        do {
            try await self.send([.reloaded(reload)])
            return true
        } catch FreshetError.refused(let refusal) where refusal.code == "unknown-reload" {
            return false
        }
    }

    /// Reports the timeline that a reload gave, which acknowledges the reload.
    ///
    /// - Parameters:
    ///   - timeline: The timeline.
    ///   - instance: The widget's id.
    /// - Returns: The findings about it.
    @discardableResult
    public func report(_ timeline: ReportedTimeline, for instance: String) async throws -> [Finding] {
        struct Findings: Decodable { let findings: [Finding] }
        let path = self.path("widgets", instance, "timeline")
        return try await self.endpoint.send(EndpointRequest("PUT", path, json: timeline)).json(Findings.self).findings
    }
}

/// A host's questions about kinds, for a gallery.
extension WidgetHost {
    /// The content of a widget of the kind before its first entry.
    public func placeholder(of kind: String, family: Family? = nil) async throws -> GalleryEntry {
        try await self.endpoint.send(self.request(kind, "placeholder").with("family", family?.rawValue)).json()
    }

    /// The present content of a widget of the kind.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - family: The widget's family.
    ///   - configuration: Its configuration; nil for the defaults.
    ///   - isPreview: Whether it is for a gallery, which waits for a second only.
    public func snapshot(
        of kind: String,
        family: Family? = nil,
        configuration: [String: JSONValue]? = nil,
        isPreview: Bool = false
    ) async throws -> GalleryEntry {
        let configuration = try configuration.map { String(decoding: try WireJSON.encode($0), as: UTF8.self) }
        let request = self.request(kind, "snapshot").with("family", family?.rawValue)
            .with("configuration", configuration).with("preview", isPreview ? "true" : nil)
        return try await self.endpoint.send(request).json()
    }

    /// Configurations of the kind that its timeline provider recommends, in its own form.
    public func recommendations(of kind: String) async throws -> [JSONValue] {
        struct Answer: Decodable { let recommendations: [JSONValue] }
        return try await self.endpoint.send(self.request(kind, "recommendations")).json(Answer.self).recommendations
    }

    /// The kind's relevance from its timeline provider, in the provider's own form.
    public func relevance(of kind: String) async throws -> [JSONValue] {
        struct Answer: Decodable { let relevance: [JSONValue] }
        return try await self.endpoint.send(self.request(kind, "relevance")).json(Answer.self).relevance
    }

    private func request(_ kind: String, _ question: String) -> EndpointRequest {
        EndpointRequest("GET", ["v1", "apps", self.app, "kinds", kind, question])
    }
}

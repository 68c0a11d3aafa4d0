import Engine
import APNSWire
import HTTPTransport
import IntentMatching
import TimelineProviding
import WidgetModel

extension HostRoutes {
    /// `GET /v1/apps/<bundle-id>/kinds/<kind>/<question>` for galleries, and `POST …/timelines`, with which a provider
    /// calls back.
    func routeKind(_ request: HTTPRequest, _ path: [String]) async throws(Problem) -> HTTPResponse {
        let app = try self.callerOfKind(request)
        let key = KindKey(app: app.bundle, kind: WidgetKind(path[4]))
        guard let schema = app.schema(of: key.kind) else {
            throw Problem(.unknownKind, "the app has no kind \"\(path[4])\"")
        }
        if path[5] == "timelines" {
            try Self.allow(request, "POST")
            return try await self.callBack(request, key)
        }
        try Self.allow(request, "GET")
        guard let question = ProviderRequest(rawValue: path[5]), question != .timeline else { throw Self.notFound }
        return try await self.gallery(request, question, app, key, schema)
    }

    /// The app that a request about a kind is for, if its caller belongs to it.
    func callerOfKind(_ request: HTTPRequest) throws(Problem) -> ServedApps.App {
        let caller = try self.authorizer.caller(of: request)
        let path = request.path
        guard let app = self.apps[BundleID(path[2])], caller.isOf(app.bundle) else {
            throw Problem(.notFound, "the app \"\(path[2])\" is not served here; \(self.asked(by: caller))")
        }
        guard app.schema(of: WidgetKind(path[4])) != nil else {
            throw Problem(.unknownKind, "the app has no kind \"\(path[4])\"")
        }
        if path[5] == "timelines", caller.sender == nil {
            throw Problem(
                .forbidden,
                "a provider token of the app's team is needed to call back; \(self.asked(by: caller))"
            )
        }
        return app
    }

    private func callBack(_ request: HTTPRequest, _ key: KindKey) async throws(Problem) -> HTTPResponse {
        guard let fetcher = self.providers?[key] else {
            throw Problem(.notSupported, "the kind has no timeline provider; hosts report their timelines themselves")
        }
        let body = try Self.json(request.body, reader: JSONReader(), bytesMax: self.limits.importBytesMax)
        let result = try await fetcher.callBack(body)
        return HTTPResponse(
            json: JSONValue.object(of: [("taken", .count(result.taken)), ("unknown", .count(result.unknown))])
        )
    }

    private func gallery(
        _ request: HTTPRequest,
        _ question: ProviderRequest,
        _ app: ServedApps.App,
        _ key: KindKey,
        _ schema: KindSchema
    ) async throws(Problem) -> HTTPResponse {
        let family = try Self.family(request)
        let isPreview = try Self.flag(request, "preview")
        let configuration = try self.configuration(request, schema, isNeeded: question == .snapshot)
        let name = question == .placeholder || question == .snapshot ? "entry" : question.rawValue
        if let providers = self.providers, let fetcher = providers[key] {
            let asked = Gallery.Question(
                key: key,
                question: question,
                context: TimelineProviderContext(family: family, isPreview: isPreview),
                configuration: configuration
            )
            if let value = await providers.gallery.answer(asked, fetcher.connection, app.pushedKinds) {
                return HTTPResponse(json: JSONValue.object(of: [(name, value)]))
            }
        }
        guard name == "entry" else {
            throw Problem(.unavailable, "the kind's timeline provider does not answer, or it has none")
        }
        return try self.sample(of: key.kind, app)
    }

    private static func family(_ request: HTTPRequest) throws(Problem) -> WidgetFamily {
        guard let text = request.query("family") else { return .systemSmall }
        guard let family = WidgetFamily.allCases.first(where: { $0.name == text }) else {
            let names = WidgetFamily.allCases.map(\.name).joined(separator: ", ")
            throw Problem(.badRequest, "expected one of \(names)", path: "family")
        }
        return family
    }

    private static func flag(_ request: HTTPRequest, _ name: String) throws(Problem) -> Bool {
        switch request.query(name) {
        case nil, "false": return false
        case "true": return true
        default: throw Problem(.badRequest, "expected true or false", path: name)
        }
    }

    /// The configuration of a snapshot, `?configuration=` with JSON; a placeholder has none.
    private func configuration(
        _ request: HTTPRequest,
        _ schema: KindSchema,
        isNeeded: Bool
    ) throws(Problem) -> Configuration {
        guard isNeeded, let text = request.query("configuration") else { return .empty }
        let value = try Self.json(Array(text.utf8), reader: JSONReader(), bytesMax: self.limits.bodyBytesMax)
        do throws(ConfigurationFault) {
            return try schema.configuration(from: value)
        } catch {
            throw Problem(.badConfiguration, error.sentence, path: "configuration.\(error.path)")
        }
    }
}

extension Caller {
    /// Whether the caller belongs to an app: as one of its hosts, or as its back end.
    func isOf(_ app: BundleID) -> Bool {
        switch self {
        case .host(let credential): credential.claims.app == app
        case .sender(let sender, _): sender.may(.hosts, app)
        }
    }
}

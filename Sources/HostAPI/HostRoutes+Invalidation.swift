import Engine
import HTTPTransport
import Partitions
import Serving
import WidgetModel

extension HostRoutes {
    /// `POST /v1/apps/<bundle-id>/invalidate-relevance`: WidgetKit's `invalidateRelevance(ofKind:)`.
    func invalidateRelevance(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        try await self.invalidate(.relevance, call)
    }

    /// `POST /v1/apps/<bundle-id>/invalidate-recommendations`: WidgetKit's `invalidateConfigurationRecommendations()`.
    func invalidateRecommendations(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        try await self.invalidate(.recommendations, call)
    }

    private func invalidate(
        _ subject: InvalidationRequest.Subject,
        _ call: Call<AppAsker>
    ) async throws(Problem) -> HTTPResponse {
        let app = call.asker.app
        var object = try call.objectIfAny()
        let kind = try object.string("kind").map { WidgetKind($0) }
        if let kind, app.schema(of: kind) == nil {
            throw object.problem("kind", "the app has no kind \"\(kind)\"", code: .unknownKind)
        }
        var host: HostID?
        if subject == .relevance {
            host = try object.string("host", bytesMax: RegistrationBody.hostBytesMax).map { HostID($0) }
        }
        try object.finish()
        let request = InvalidationRequest(subject, app: app.bundle, kind: kind, host: host)
        // Before the hosts are told, so that those that ask at once are not given what is out of date.
        self.providers?.invalidate(request)
        let record = Record.invalidate(request)
        let answers: [RecordAnswer.Result]
        switch (subject, host) {
        case (.relevance, let host?):
            answers = [try await self.log.append(record, for: HostKey(app: app.bundle, id: host))]
        case (.relevance, nil): answers = try await self.log.appendToAll(record)
        // A kind's recommendations are the same everywhere: the app's home tells of them once.
        case (.recommendations, _): answers = [try await self.log.append(record, homeOf: app.bundle)]
        }
        var count = 0
        for case .invalidated(let told) in answers { count += told }
        if answers == [.unknownHost] { throw Problem(.unknownHost, "the app has no such host") }
        return HTTPResponse(
            json: JSONValue.object(of: [(subject == .relevance ? "hosts" : "kinds", .count(count))])
        )
    }

    /// `GET /v1/apps/<bundle-id>/kinds/<kind>/snapshot`: a kind's sample, for a gallery.
    func sample(of kind: WidgetKind, _ app: ServedApps.App) throws(Problem) -> HTTPResponse {
        guard app.schema(of: kind) != nil else { throw Problem(.unknownKind, "the app has no kind \"\(kind)\"") }
        guard let sample = app.samples[kind] else {
            throw Problem(.notFound, "the kind has no sample; give it one in the configuration (kinds[].sample)")
        }
        return HTTPResponse(json: JSONValue.object(of: [("entry", sample), ("isSample", .bool(true))]))
    }
}

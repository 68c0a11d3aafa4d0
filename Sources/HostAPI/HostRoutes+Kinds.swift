import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import Partitions
import Serving
import TimelineProviding
import WidgetModel

extension HostRoutes {
    /// `POST /v1/apps/<bundle-id>/kinds/<kind>/timelines`, with which a provider calls back.
    func callBack(_ call: Call<KindAsker>) async throws(Problem) -> HTTPResponse {
        let none = Problem(.notSupported, "the kind has no timeline provider; its hosts report their timelines")
        guard let providers = self.providers, providers.hasProvider(of: call.asker.key) else { throw none }
        guard let result = try await providers.callBack(try call.json(), of: call.asker.key) else { throw none }
        return HTTPResponse(
            json: JSONValue.object(of: [("taken", .count(result.taken)), ("unknown", .count(result.unknown))])
        )
    }

    /// `GET /v1/apps/<bundle-id>/kinds/<kind>/<question>`, for galleries.
    func gallery(_ call: Call<KindAsker>) async throws(Problem) -> HTTPResponse {
        guard let question = call.request.path.last.flatMap({ ProviderRequest(rawValue: $0) }) else {
            throw Problem.noRoute
        }
        let (app, key) = (call.asker.app, call.asker.key)
        let family = try call.word("family", WidgetFamily.allCases.map { ($0.name, $0) }) ?? .systemSmall
        let isPreview = try call.flag("preview") ?? false
        let configuration = try self.configuration(call, isNeeded: question == .snapshot)
        let name = question == .placeholder || question == .snapshot ? "entry" : question.rawValue
        if let providers = self.providers {
            let asked = GalleryQuestion(
                key: key,
                question: question,
                context: TimelineProviderContext(family: family, isPreview: isPreview),
                configuration: configuration
            )
            if let value = await providers.answer(asked, app.pushedKinds) {
                return HTTPResponse(json: JSONValue.object(of: [(name, value)]))
            }
        }
        guard name == "entry" else {
            guard self.providers?.hasProvider(of: key) == true else {
                throw Problem(.notSupported, "the kind has no timeline provider, which tells its \(name)")
            }
            throw Problem(.unavailable, "the kind's timeline provider does not answer; ask again in a moment")
        }
        return try self.sample(of: key.kind, app)
    }

    /// The configuration of a snapshot, `?configuration=` with JSON; a placeholder has none.
    private func configuration(_ call: Call<KindAsker>, isNeeded: Bool) throws(Problem) -> Configuration {
        guard isNeeded, let text = call.query("configuration") else { return .empty }
        let value = try JSONReader().value(of: Array(text.utf8), bytesMax: self.limits.bodyBytesMax)
        do throws(ConfigurationError) {
            return try call.asker.schema.configuration(from: value)
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

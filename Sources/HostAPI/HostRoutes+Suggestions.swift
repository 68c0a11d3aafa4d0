import Engine
import HTTPTransport
import IntentMatching
import Partitions
import Serving
import Timelines
import WidgetModel

extension HostRoutes {
    /// The answers of the providers of an app's kinds to one question.
    private struct Told {
        let schema: KindSchema
        /// Nil if the provider has never answered.
        let value: JSONValue?
    }

    /// `GET /v1/hosts/<token>/suggestions`: configurations that are relevant, now or at `at`, and not placed on the host.
    func suggestions(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let entry = try await self.entry(call.asker)
        let at = try call.instant("at")
        let limit = try self.pageLimit(call)
        let host = entry.host
        guard let view = try await self.log.ask(HostQuestion(host)) else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        let placed = Dictionary(grouping: view.instances) { $0.kind }
        let told = await self.ask(.relevance, of: self.apps[entry.app]?.schemas ?? [], entry.app)
        // The time after the answers, which is not before the providers' own now.
        let now =
            if let known = at ?? self.providers?.now {
                known
            } else {
                try await self.log.ask(self.log.partition(of: host), TotalsQuestion()).time
            }
        var leftOut = 0
        let kinds = told.compactMap { told -> Suggestions.Kind? in
            guard let value = told.value else { return nil }
            let relevance = KindRelevance(value, told.schema)
            leftOut += relevance.leftOut
            return Suggestions.Kind(
                told.schema.kind,
                relevances: relevance.relevances,
                placed: (placed[told.schema.kind] ?? []).map { told.schema.filled($0.configuration) }
            )
        }
        let suggestions = Suggestions(kinds, at: now, countMax: limit).suggestions
        let descriptions = await self.descriptions(of: Set(suggestions.map(\.kind)), told.map(\.schema), entry.app)
        let unanswered = told.filter { $0.value == nil }.map(\.schema.kind.rawValue)
        return HTTPResponse(
            json: JSONValue.object(of: [
                ("at", .instant(now)),
                (
                    "suggestions",
                    .array(
                        suggestions.map { suggestion in
                            let description = descriptions[suggestion.kind]?[suggestion.relevance.configuration]
                            return Views.suggestion(suggestion, description)
                        }
                    )
                ),
                ("leftOut", leftOut == 0 ? nil : .count(leftOut)),
                ("unanswered", unanswered.isEmpty ? nil : .strings(unanswered)),
            ])
        )
    }

    private func descriptions(
        of kinds: Set<WidgetKind>,
        _ schemas: [KindSchema],
        _ app: BundleID
    ) async -> [WidgetKind: [Configuration: String]] {
        let told = await self.ask(.recommendations, of: schemas.filter { kinds.contains($0.kind) }, app)
        var descriptions: [WidgetKind: [Configuration: String]] = [:]
        for told in told {
            descriptions[told.schema.kind] = told.value.map { KindRelevance.descriptions($0, told.schema) }
        }
        return descriptions
    }

    /// Asks about those of an app's kinds that have a provider, all at once; in the order of the kinds.
    private func ask(_ question: ProviderRequest, of schemas: [KindSchema], _ app: BundleID) async -> [Told] {
        guard let providers = self.providers, let pushed = self.apps[app]?.pushedKinds else { return [] }
        return await withTaskGroup(of: (index: Int, told: Told).self) { group in
            for (index, schema) in schemas.enumerated() {
                let key = KindKey(app: app, kind: schema.kind)
                guard providers.hasProvider(of: key) else { continue }
                group.addTask {
                    let asked = GalleryQuestion(key: key, question: question)
                    let value = await providers.answer(asked, pushed)
                    return (index, Told(schema: schema, value: value))
                }
            }
            var told: [(index: Int, told: Told)] = []
            for await one in group { told.append(one) }
            return told.sorted { $0.index < $1.index }.map(\.told)
        }
    }
}

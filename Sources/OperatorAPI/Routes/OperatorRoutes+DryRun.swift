import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import Partitions
import Serving
import WidgetModel

extension OperatorRoutes {
    /// `POST /v1/apps/<bundle-id>/dry-runs`: the instances that a push to the app would reach, and the decision for
    /// each.
    ///
    /// The body is `freshet` as in a push, and optionally its `priority`. It is no sender's push: no pause or repeat
    /// is considered, and nothing comes of it.
    func dryRun(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let bundle = BundleID(call["app"])
        guard let app = self.apps[bundle] else {
            throw Problem(.notFound, "the gateway does not serve the app \"\(bundle)\"")
        }
        var object = try call.object()
        let own = object.value("freshet") ?? .object([])
        let number = try object.int("priority", in: 1...10)
        try object.finish()
        var priority: Priority?
        if let number {
            guard let known = Priority(rawValue: UInt8(number)) else {
                throw object.problem("priority", "must be 10, 5 or 1")
            }
            priority = known
        }
        let record = try Self.record(own, priority, app, self.bounds.patterns)
        let summary = try await self.log.dryRun(record, decidedMax: self.bounds.decidedMax)
        return HTTPResponse(json: summary.json)
    }

    private static func record(
        _ own: JSONValue,
        _ priority: Priority?,
        _ app: ServedApps.App,
        _ limits: PatternLimits
    ) throws(Problem) -> PushRecord {
        let payload: PushPayload
        do throws(PayloadError) {
            payload = try PushPayload(own: own)
        } catch {
            throw Problem(.badRequest, error.description)
        }
        if let kind = payload.kind, app.schema(of: kind) == nil {
            throw Problem(.unknownKind, "the app has no kind \"\(kind)\"", path: "freshet.kind")
        }
        var pattern: MatchPattern?
        if let match = payload.match { pattern = try app.pattern(match, payload.kind, limits) }
        var attributes = Configuration.empty
        if let given = payload.attributes {
            do throws(ConfigurationError) {
                attributes = try .attributes(from: given)
            } catch {
                throw Problem(.badRequest, "freshet.\(error.description)")
            }
        }
        return PushRecord(
            id: PushID(high: 0, low: 0),
            team: TeamID(""),
            contentHash: 0,
            priority: priority,
            notBefore: payload.notBefore,
            digest: payload.digest.map { Array($0.utf8) },
            target: .app(app.bundle),
            kind: payload.kind,
            pattern: pattern,
            attributes: attributes
        )
    }
}

import Engine
package import HTTPTransport
package import Partitions
package import Serving
import Settings
import WidgetModel

/// `/livez`, `/readyz` and `/version`: on the ops listener and on the plain listener for probes.
package enum HealthRoutes {
    typealias Endpoint = @Sendable (Readiness) -> HTTPResponse

    static let table = RouteTable<Endpoint> {
        Route(.get, "/livez", Self.live)
        Route(.get, "/readyz", Self.ready)
        Route(.get, "/version", Self.version)
    }

    /// The list, for those who compare it with the documents.
    package static var routes: [RouteSummary] { Self.table.summaries { _ in "every caller" } }

    /// The answer to a probe, or nil if the request is none. It is made of news that came before, and waits for none. A
    /// probe's query means nothing.
    package static func respond(to request: HTTPRequest, _ readiness: Readiness) -> HTTPResponse? {
        do throws(Problem) {
            var response = try Self.table.route(of: request).endpoint(readiness)
            response.headers.append("cache-control", "no-store")
            return response
        } catch {
            return error.code == .notFound ? nil : HTTPResponse(problem: error)
        }
    }

    private static func live(_: Readiness) -> HTTPResponse { HTTPResponse(status: 200, text: "alive\n") }

    private static func ready(_ readiness: Readiness) -> HTTPResponse {
        let lags = readiness.lags
        let missing = readiness.missing(lags)
        return HTTPResponse(
            status: missing.isEmpty ? 200 : 503,
            json: JSONValue.object(of: [
                ("ready", .bool(missing.isEmpty)),
                ("missing", missing.isEmpty ? nil : .strings(readiness.sentences(missing))),
                (
                    "checks",
                    JSONValue.object(
                        of: Readiness.Condition.allCases.map { ($0.name, .bool(!missing.contains($0))) }
                    )
                ),
                ("partitions", lags.isEmpty ? nil : .array(lags.enumerated().map(Self.json))),
                ("progress", readiness.progress.map { .string($0) }),
            ])
        )
    }

    private static func version(_: Readiness) -> HTTPResponse {
        HTTPResponse(
            json: JSONValue.object(of: [
                ("name", .string("freshet")),
                ("version", .string(FreshetVersion.current)),
                ("engine", .count(Engine.version)),
            ])
        )
    }

    private static func json(_ partition: Int, _ lag: PartitionWork.Lag) -> JSONValue {
        JSONValue.object(of: [
            ("partition", .count(partition)),
            ("lag", .unsigned(lag.entries)),
            ("lagSeconds", .double(Double(lag.time.milliseconds) / 1000)),
        ])
    }
}

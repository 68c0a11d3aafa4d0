package import HTTPTransport
package import Partitions

/// The routes of a listener, and where in them a request leads.
package struct RouteTable<Endpoint: Sendable>: Sendable {
    /// The routes of one path.
    private struct Place: Sendable {
        let path: RoutePath
        var routes: [Route<Endpoint>]

        /// The methods that are taken, as `allow` has them: HEAD wherever there is GET, but for streams.
        var allowed: String {
            self.routes.flatMap { route in
                route.method == .get && !route.isStream ? ["GET", "HEAD"] : [route.method.rawValue]
            }.joined(separator: ", ")
        }
    }

    let routes: [Route<Endpoint>]
    /// By the number of a path's segments, those that are to be tried first before others.
    private let places: [[Place]]

    package init(@RouteList<Endpoint> _ list: () -> [Route<Endpoint>]) {
        let routes = list()
        self.routes = routes
        var places: [Place] = []
        for route in routes {
            guard let index = places.firstIndex(where: { $0.path == route.path }) else {
                places.append(Place(path: route.path, routes: [route]))
                continue
            }
            precondition(!places[index].routes.contains { $0.method == route.method }, "two routes \(route.path)")
            places[index].routes.append(route)
        }
        let most = places.map(\.path.count).max() ?? 0
        self.places = (0...most).map { count in
            places.filter { $0.path.count == count }.sorted { $0.path.rank < $1.path.rank }
        }
    }

    /// The route of a request; GET's for HEAD.
    ///
    /// - Throws: `not-found` or `method-not-allowed`.
    package func route(of request: HTTPRequest) throws(Problem) -> Route<Endpoint> {
        let count = request.path.count
        guard count < self.places.count, let place = self.places[count].first(where: { $0.path.fits(request.path) })
        else { throw Problem.noRoute }
        let isHead = request.method == "HEAD"
        let method = isHead ? "GET" : request.method
        guard let route = place.routes.first(where: { $0.method.rawValue == method }), !isHead || !route.isStream else {
            throw Problem(.methodNotAllowed, "this route takes \(place.allowed)", allowed: place.allowed)
        }
        return route
    }

    /// The routes of the list, in its order.
    package func summaries(_ right: (Endpoint) -> String) -> [RouteSummary] {
        self.routes.map { route in
            RouteSummary(
                method: route.method.rawValue,
                path: route.path.description,
                query: route.query,
                right: right(route.endpoint),
                body: route.body
            )
        }
    }
}

/// Routes one below the other: a list that is checked line by line, since the compiler gives up on an array of so many.
@resultBuilder
package enum RouteList<Endpoint: Sendable> {
    package static func buildExpression(_ route: Route<Endpoint>) -> [Route<Endpoint>] { [route] }

    package static func buildPartialBlock(first: [Route<Endpoint>]) -> [Route<Endpoint>] { first }

    package static func buildPartialBlock(accumulated: [Route<Endpoint>], next: [Route<Endpoint>]) -> [Route<Endpoint>]
    {
        accumulated + next
    }

    package static func buildArray(_ routes: [[Route<Endpoint>]]) -> [Route<Endpoint>] { Array(routes.joined()) }
}

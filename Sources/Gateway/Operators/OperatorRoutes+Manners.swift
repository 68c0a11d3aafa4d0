import HTTPTransport
import WidgetModel

/// Which methods and query parameters each route takes.
extension OperatorRoutes {
    /// The methods of a path, those of one that there is not among them: the answer to another says no more than that.
    static func methods(of path: [String]) -> [String] {
        guard path.count >= 2, path[0] == "v1" else { return ["GET", "HEAD"] }
        switch (path[1], path.count) {
        case ("orders", 2), ("clock", 2): return ["GET", "HEAD", "POST"]
        case ("log-levels", 2): return ["GET", "HEAD", "PUT"]
        case ("try-now", 2): return ["POST"]
        case ("config", 3) where path[2] == "reload": return ["POST"]
        case ("apps", 4) where path[3] == "dry-runs": return ["POST"]
        case ("apps", 4) where path[3] == "hosts": return ["DELETE"]
        case ("hosts", 4): return ["GET", "HEAD", "DELETE"]
        // A stream would have to be opened to say how it begins.
        case ("events", 2): return ["GET"]
        case ("pushes", 4) where path[3] == "events": return ["GET"]
        default: return ["GET", "HEAD"]
        }
    }

    /// The query parameters of a route.
    private static func parameters(of path: [String]) -> [String] {
        guard path.count >= 2, path[0] == "v1" else { return [] }
        switch (path[1], path.count) {
        case ("budget", 2): return ["app", "kind"]
        case ("events", 2): return ["types", "cursor"]
        case ("history", 2): return ["step", "after", "limit"]
        case ("hosts", 2): return ["app", "connected", "limit", "cursor"]
        case ("instances", 2): return ["app", "kind", "host", "state", "olderThan", "limit", "cursor"]
        case ("pushes", 2):
            return ["sender", "app", "kind", "after", "before", "state", "outcome", "limit", "cursor"]
        case ("hosts", 4), ("apps", 4): return ["history"]
        case ("instances", 4): return ["decisions", "pending"]
        case ("instances", 5): return ["since"]
        case ("pushes", 4): return ["outcome", "limit", "cursor"]
        default: return []
        }
    }

    /// - Throws: 400 if the query has a parameter that the route does not know: a misspelt filter would find everything.
    static func checkQuery(_ request: HTTPRequest) throws(Problem) {
        let known = Self.parameters(of: request.path)
        guard let unknown = request.query.first(where: { !known.contains($0.name) }) else { return }
        let name = String(unknown.name.prefix(64))
        let hint = known.closest(to: name).map { "; did you mean \($0)?" } ?? ""
        let rest = known.isEmpty ? "this route takes none" : "this route takes \(known.joined(separator: ", "))"
        throw Problem(.badRequest, "there is no query parameter \"\(name)\"\(hint); \(rest)", path: name)
    }
}

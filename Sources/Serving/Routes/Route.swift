package import APNSWire
import HTTPTransport
import Partitions
import Settings

/// One route of a listener: its method and path, its body's length, and its handler.
///
/// A listener's routes stand in one list, which is a value. HTTP's rules for every route follow from it (``RouteTable``), and so do the
/// rights that routes need.
package struct Route<Endpoint: Sendable>: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
    }

    let method: Method
    let path: RoutePath
    /// The query parameters that it knows.
    let query: [String]
    let body: RouteBody
    /// Whether the answer is a stream of events. One would have to be opened to say how it begins: HEAD is not answered.
    let isStream: Bool
    package let endpoint: Endpoint

    package init(
        _ method: Method,
        _ path: RoutePath,
        query: [String] = [],
        body: RouteBody = .unread,
        isStream: Bool = false,
        _ endpoint: Endpoint
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.isStream = isStream
        self.endpoint = endpoint
    }

    /// - Throws: 400 if the query has a parameter that the route does not know: a misspelt filter would find everything.
    func checkQuery(_ request: HTTPRequest) throws(Problem) {
        guard let unknown = request.query.first(where: { !self.query.contains($0.name) }) else { return }
        let name = String(unknown.name.prefix(64))
        let hint = self.query.closest(to: name).map { "; did you mean \($0)?" } ?? ""
        let rest = self.query.isEmpty ? "none" : self.query.joined(separator: ", ")
        let sentence = "there is no query parameter \"\(name)\"\(hint); this route takes \(rest)"
        throw Problem(.badRequest, sentence, path: name)
    }
}

/// How much of a body a route takes.
package enum RouteBody: Hashable, Sendable {
    /// It reads none; a little is let through.
    case unread
    /// One request's, `limits.maxHostBodyBytes`.
    case ordinary
    /// One of many lines, `limits.maxImportBytes`.
    case large
    /// Of pushes or channels.
    case push(PushPath.Body)

    package func bytesMax(_ hosts: HostRouteLimits, _ pushes: PushIntakeLimits) -> Int {
        switch self {
        case .unread: hosts.unreadBodyBytesMax
        case .ordinary: hosts.bodyBytesMax
        case .large: hosts.importBytesMax
        case .push(let body): pushes.bytesMax(of: body)
        }
    }
}

/// The path of a route as docs/openapi.yaml has it: `/v1/hosts/{token}/widgets`.
package struct RoutePath: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    package let description: String
    private let segments: [String]

    package init(stringLiteral text: String) {
        self.description = text
        let segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        self.segments = text == "/" ? [] : segments.map { String($0) }
    }

    /// The number of its segments.
    var count: Int { self.segments.count }

    /// For each segment whether it is a parameter: of two paths that fit, the one with the earlier word is meant.
    var rank: String { self.segments.map { Self.isParameter($0) ? "1" : "0" }.joined() }

    func fits(_ path: [String]) -> Bool {
        self.segments.count == path.count
            && zip(self.segments, path).allSatisfy { Self.isParameter($0) || $0 == $1 }
    }

    /// The place of a parameter.
    func index(of name: String) -> Int {
        guard let index = self.place(of: name) else { preconditionFailure("\(self) has no parameter \(name)") }
        return index
    }

    /// The place of a parameter, nil if it has none of that name.
    func place(of name: String) -> Int? { self.segments.firstIndex(of: "{\(name)}") }

    private static func isParameter(_ segment: String) -> Bool { segment.utf8.first == UInt8(ascii: "{") }
}

/// A route as its list has it, for those who compare it with the documents.
package struct RouteSummary: Hashable, Sendable, CustomStringConvertible {
    package let method: String
    package let path: String
    package let query: [String]
    /// The right that it needs, in a word.
    package let right: String
    package let body: RouteBody

    package init(method: String, path: String, query: [String], right: String, body: RouteBody) {
        (self.method, self.path, self.query, self.right) = (method, path, query, right)
        self.body = body
    }

    package var description: String { "\(self.method) \(self.path)" }
}

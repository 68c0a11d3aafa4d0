import Foundation
import HTTPTransport
import HostAPI
import Ingest
import OperatorAPI
import Serving
import TestSupport
import Testing
import WidgetModel

/// The lists of routes, and the pages that say the same: a route that is in one of them only is told with what to do.
@Suite struct RouteListTests {
    /// A route as the document has it: a path parameter with words stands for a path each.
    private struct Documented: Hashable {
        let method: String
        let path: String
        let query: [String]
        let right: String

        var text: String {
            "\(self.method) \(self.path) ?\(self.query.joined(separator: "&")) by \(self.right)"
        }
    }

    /// The rights of an operation in the document, in the words of the lists.
    private static func right(_ operation: OpenAPI.Operation, of tag: String) -> String {
        switch tag {
        case "operators":
            (operation.security["operatorToken"]?.joined() ?? "nobody")
                + (operation.security["providerToken"] == nil ? "" : " or a team's key")
        case "health": operation.security.isEmpty ? "every caller" : "some callers"
        default:
            if operation.security["hostCredential"] != nil {
                "host or back end"
            } else if operation.tags.contains("senders") {
                (["sender"] + (operation.security["providerToken"] ?? []).map { "(\($0))" }).joined(separator: " ")
            } else {
                "back end"
            }
        }
    }

    private static func documented(_ tag: String) -> Set<String> {
        var all: Set<String> = []
        for operation in OpenAPI.document.operations where operation.tags.contains(tag) {
            var paths = [operation.path]
            for parameter in operation.parameters(in: "path") {
                guard case .array(let words) = parameter.schema["enum"] else { continue }
                paths = words.flatMap { word -> [String] in
                    guard case .string(let text) = word else { return [] }
                    return paths.map { $0.replacing("{\(parameter.name)}", with: text) }
                }
            }
            let query = operation.parameters(in: "query").map(\.name).sorted()
            for path in paths {
                let right = Self.right(operation, of: tag)
                all.insert(Documented(method: operation.method, path: path, query: query, right: right).text)
            }
        }
        return all
    }

    private static func listed(_ routes: [RouteSummary]) -> Set<String> {
        Set(
            routes.map {
                Documented(method: $0.method, path: $0.path, query: $0.query.sorted(), right: $0.right).text
            }
        )
    }

    private static func compare(_ routes: [RouteSummary], _ documented: Set<String>) {
        let listed = Self.listed(routes)
        #expect(!listed.isEmpty && !documented.isEmpty)
        for route in listed.subtracting(documented).sorted() {
            Issue.record("docs/openapi.yaml has no \(route): say there what the list says, or take it off the list")
        }
        for route in documented.subtracting(listed).sorted() {
            Issue.record("no list has \(route): docs/openapi.yaml says so; add it to the list, or take it out there")
        }
    }

    @Test func `the document has the operators' routes, and no others`() {
        // The dashboard's files are for browsers.
        Self.compare(OperatorRoutes.routes.filter { $0.right != "every caller" }, Self.documented("operators"))
    }

    @Test func `the document has the probes, and no others`() {
        Self.compare(HealthRoutes.routes, Self.documented("health"))
    }

    @Test func `the document has the routes of hosts and senders, and no others`() {
        Self.compare(PushHandler.routes + HostRoutes.routes, Self.documented("hosts").union(Self.documented("senders")))
    }

    @Test(arguments: [OperatorRoutes.routes, HostRoutes.routes, PushHandler.routes])
    func `a body is read where the document has one`(routes: [RouteSummary]) {
        for route in routes where route.method != "GET" && route.method != "DELETE" {
            let operation = OpenAPI.document.operations.first { $0.method == route.method && $0.path == route.path }
            #expect(operation?.takesBody == (route.body != .unread), "\(route)")
        }
    }

    // MARK: Pages

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The rows of the table of a page that begins with a heading, but for the last cell, which is free.
    private static func rows(of page: String, below heading: String) throws -> [String] {
        let text = try String(contentsOf: Self.root.appending(path: "docs/\(page)"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: heading[...]) else {
            Issue.record("docs/\(page) has no table \(heading)")
            return []
        }
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().prefix(3).map {
                $0.trimmingCharacters(in: .whitespaces)
            }.joined(separator: " | ")
        }
    }

    private static func row(_ route: RouteSummary) -> String {
        let path = route.path.replacing("{", with: "<").replacing("}", with: ">")
        let query = route.query.map { "`\($0)`" }.joined(separator: ", ")
        return "`\(route.method) \(path)` | \(route.right) | \(query)"
    }

    @Test(
        arguments: [
            ("operators.md", "| route | scope | query | answers |", HealthRoutes.routes + OperatorRoutes.routes),
            ("wire.md", "| route | asked by | query | what it does |", PushHandler.routes + HostRoutes.routes),
        ]
    )
    func `a page's table has the list's rows`(page: String, heading: String, routes: [RouteSummary]) throws {
        let (told, listed) = (try Self.rows(of: page, below: heading), routes.map(Self.row))
        for row in listed where !told.contains(row) { Issue.record("docs/\(page) lacks the row: | \(row) | … |") }
        for row in told where !listed.contains(row) {
            Issue.record("docs/\(page) has a row that the list has not: | \(row) |; correct it, or take it out")
        }
        #expect(told.count == Set(told).count, "docs/\(page) has a row twice")
    }
}

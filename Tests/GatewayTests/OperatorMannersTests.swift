import HTTPTransport
import OperatorAPI
import TestSupport
import Testing
import WidgetModel

/// HTTP's rules for every route, whatever it answers.
@Suite struct OperatorMannersTests {
    private static let operations = OpenAPI.document.operations.filter { $0.tags.contains("operators") }

    /// A path with something in the place of each parameter.
    private static func path(_ operation: OpenAPI.Operation) -> String {
        operation.path.split(separator: "/").map { part in
            guard part.hasPrefix("{") else { return String(part) }
            return part == "{push}" ? "8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B" : "a:b"
        }.reduce("") { "\($0)/\($1)" }
    }

    private static func send(_ method: String, _ target: String) async throws -> HTTPResponse {
        await (try await OperatorScene()).routes.respond(to: OperatorScene.request(method, target))
    }

    @Test(arguments: Self.operations)
    func `a method that a route does not take is 405 with those that it takes`(operation: OpenAPI.Operation)
        async throws
    {
        let response = try await Self.send("PATCH", Self.path(operation))
        #expect(response.status == 405)
        let allowed = response.headers["allow"]?.split(separator: ",").map { $0.trimmingPrefix(" ") } ?? []
        let documented = Self.operations.filter { $0.path == operation.path }.map(\.method)
        #expect(Set(allowed.map { String($0) }).subtracting(["HEAD"]) == Set(documented))
        let isStream = operation.path.hasSuffix("/events")
        #expect(allowed.contains("HEAD") == (documented.contains("GET") && !isStream))
    }

    @Test(arguments: Self.operations)
    func `a query parameter that a route does not know is 400, those that it knows are not`(
        operation: OpenAPI.Operation
    ) async throws {
        let path = Self.path(operation)
        let unknown = try await Self.send(operation.method, "\(path)?stat=waiting")
        #expect(unknown.status == 400)
        for parameter in operation.parameters(in: "query") {
            let response = try await Self.send(operation.method, "\(path)?\(parameter.name)=1")
            guard case .bytes(let bytes) = response.body else { continue }
            #expect(
                !String(decoding: bytes, as: UTF8.self).contains("there is no query parameter"),
                "\(parameter.name)"
            )
        }
    }

    @Test func `a misspelt parameter is told, with what there is`() async throws {
        let response = try await Self.send("GET", "/v1/pushes?sendr=A")
        guard case .bytes(let bytes) = response.body else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("did you mean sender?") && text.contains("this route takes sender, app"), "\(text)")
    }

    @Test(arguments: ["/v1/stats", "/v1/kinds", "/metrics", "/v1/pushes?limit=1"])
    func `HEAD is answered as GET is`(target: String) async throws {
        let (head, get) = (try await Self.send("HEAD", target), try await Self.send("GET", target))
        #expect(head.status == 200 && get.status == 200)
        #expect(head.headers["content-type"] == get.headers["content-type"])
        #expect(get.headers["cache-control"] == "no-store")
    }

    @Test func `a kind that there is not is not found`() async throws {
        #expect(try await Self.send("GET", "/v1/kinds/nope").status == 404)
    }
}

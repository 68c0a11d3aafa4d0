import HTTPTransport
import HostAPI
import OperatorAPI
import Testing
import TransportSupport
import WidgetModel

/// Faults that came up while methods, parameters and scopes were in places of their own.
@Suite struct RouteFaultTests {
    private static let tokens = ["reader read", "writer write", "admin admin"]

    private static func request(_ token: String, _ method: String, _ target: String) -> HTTPRequest {
        var request = OperatorScene.request(method, target)
        request.headers.append("authorization", "bearer \(token)")
        return request
    }

    @Test(arguments: ["reader", "writer", "admin"], ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"])
    func `an operators' path that there is not is 404, whatever is asked of it`(token: String, method: String)
        async throws
    {
        let scene = try await OperatorScene(tokens: Self.tokens)
        for target in ["/v1/nothing", "/v1/config/nothing", "/v1/apps/a/nothing", "/nothing", "/v1", "/v1/stats/"] {
            let response = await scene.routes.respond(to: Self.request(token, method, target))
            #expect(response.status == 404, "\(target)")
            #expect(response.headers["allow"] == nil)
        }
    }

    @Test func `a question is told in the log as no change, asked with HEAD or GET`() async throws {
        let log = RecordedLog()
        let scene = try await OperatorScene(tokens: Self.tokens, auditLog: log)
        for (token, method, target) in [
            ("admin", "GET", "/v1/audit"), ("admin", "HEAD", "/v1/audit"), ("reader", "HEAD", "/v1/audit"),
            ("admin", "PATCH", "/v1/stats"),
        ] {
            _ = await scene.routes.respond(to: Self.request(token, method, target))
            _ = scene.routes.judge(Self.request(token, method, target))
        }
        #expect(log.lines == [])
        _ = await scene.routes.respond(to: Self.request("reader", "DELETE", "/v1/hosts/a/b"))
        #expect(log.lines.count == 1)
    }

    @Test(arguments: ["widgets", "state", "stack", "suggestions"])
    func `HEAD is answered as GET is on the host listener`(route: String) async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let credential = try scene.key.providerToken()
        func answer(_ method: String, _ target: String) async -> HTTPResponse {
            var request = HTTPRequest(method: method, target: target)
            request.headers.append("authorization", credential)
            return await scene.routes.respond(to: request)
        }
        for target in [RouteScene.path(Sports.token("phone"), route), "/v1/apps/\(Sports.app)/widgets"] {
            let (head, get) = (await answer("HEAD", target), await answer("GET", target))
            #expect(head.status == 200 && get.status == 200, "\(target)")
            #expect(head.headers["content-type"] == get.headers["content-type"])
        }
    }

    @Test(arguments: ["HEAD", "PATCH"])
    func `a method that a host's route does not take is 405 with those that it takes`(method: String) async throws {
        let scene = try await RouteScene()
        let credential = try scene.key.providerToken()
        for (target, allowed) in [
            ("/v1/hosts/abcd/events", "GET"), ("/v1/apps/\(Sports.app)/reload", "POST"),
            ("/v1/apps/\(Sports.app)/kinds/scores/timelines", "POST"),
        ] {
            var request = HTTPRequest(method: method, target: target)
            request.headers.append("authorization", credential)
            let response = await scene.routes.respond(to: request)
            #expect(response.status == 405, "\(target)")
            #expect(response.headers["allow"] == allowed)
        }
    }

    @Test(arguments: [
        ("GET", "/v1/hosts/abcd/stack", "at"), ("GET", "/v1/apps/\(Sports.app)/widgets", "kind, match, limit, from"),
        ("GET", "/v1/apps/\(Sports.app)/hosts", "limit, from"), ("POST", "/v1/apps/\(Sports.app)/reload", ""),
        ("GET", "/v1/apps/\(Sports.app)/kinds/scores/snapshot", "family, preview, configuration"),
    ])
    func `a query parameter that a host's route does not know is 400 with those that it knows`(
        method: String,
        target: String,
        known: String
    ) async throws {
        let scene = try await RouteScene()
        let answer = try await scene.send(method, "\(target)?kindd=a", try scene.key.providerToken())
        #expect(answer.place == ["400", "bad-request", "kindd"])
        #expect(answer.body.contains("this route takes \(known.isEmpty ? "none" : known)"), "\(answer.body)")
    }

    @Test func `what there is not is 404 before it is asked who wants it`() async throws {
        let scene = try await RouteScene()
        for (method, target) in [
            ("GET", "/"), ("POST", "/v1/hosts/abcd/nothing"), ("GET", "/v1/apps/\(Sports.app)/kinds/scores/nothing"),
            ("DELETE", "/v1/apps/\(Sports.app)/kinds/scores/nothing"),
        ] {
            let response = await scene.routes.respond(to: HTTPRequest(method: method, target: target))
            #expect(response.status == 404, "\(target)")
        }
    }
}

import HTTPTransport
import HostAPI
import OperatorAPI
import Partitions
import Serving
import Testing
import WidgetModel

/// Requests that are judged by their heads, before their bodies have come.
@Suite struct HeadJudgementTests {
    private static let phone = Sports.token("phone")
    private static let app = "/v1/apps/\(Sports.app)"

    /// Every route of hosts that reads a body, and how much of it.
    private static let hostRoutes = [
        ("PUT", "/v1/hosts/\(phone.hex)/widgets", 1_048_576), ("POST", "/v1/hosts/\(phone.hex)/signals", 1_048_576),
        ("PUT", "/v1/hosts/\(phone.hex)/widgets/a/timeline", 1_048_576),
        ("POST", "\(app)/hosts", 16_777_216), ("POST", "\(app)/reload", 1_048_576),
        ("POST", "\(app)/invalidate-relevance", 1_048_576), ("POST", "\(app)/acknowledgements", 1_048_576),
        ("POST", "\(app)/kinds/scores/timelines", 16_777_216),
    ]

    private static let operatorRoutes = [
        ("POST", "/v1/orders", 1_048_576), ("POST", "/v1/clock", 1_048_576), ("PUT", "/v1/log-levels", 1_048_576),
        ("POST", "/v1/try-now", 1_048_576), ("POST", "/v1/config/reload", 4096),
        ("POST", "\(app)/dry-runs", 1_048_576),
    ]

    private static func request(_ method: String, _ target: String, _ authorization: String?) -> HTTPRequest {
        var request = HTTPRequest(method: method, target: target)
        request.authority = "localhost:9443"
        if let authorization { request.headers.append("authorization", authorization) }
        return request
    }

    /// The answer to a refused head as text; the number of bytes that a good one may send.
    private static func words(_ verdict: HTTPHeadVerdict) -> String {
        switch verdict {
        case .accepted(let bytes): "\(bytes ?? -1)"
        case .refused(let response): Self.words(response)
        }
    }

    private static func words(_ response: HTTPResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "\(response.status)" }
        return "\(response.status) \(String(decoding: bytes, as: UTF8.self))"
    }

    @Test(arguments: Self.hostRoutes)
    func `a host's head without a good credential is answered as the whole request would be`(
        method: String,
        target: String,
        bytes: Int
    ) async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let stranger = try TestKey("STRANGER00").providerToken()
        for credential in [nil, "", "bearer ", "bearer a.b.c", "basic abc", stranger] {
            let request = Self.request(method, target, credential)
            let whole = await scene.routes.respond(to: request)
            #expect(whole.status == 401)
            #expect(Self.words(scene.routes.judge(request)) == Self.words(whole))
        }
        let own = Self.request(method, target, try scene.key.providerToken())
        #expect(Self.words(scene.routes.judge(own)) == "\(bytes)")
        // Each is counted twice: once for the head, once for the request.
        #expect(
            scene.routes.problems.all.map { "\($0.0.rawValue) \($0.1)" }.sorted() == [
                "invalid-credential 6", "missing-credential 6",
            ]
        )
    }

    @Test(arguments: Self.hostRoutes.filter { $0.1.hasPrefix(Self.app) })
    func `an app's routes take no body of its hosts`(method: String, target: String, bytes: Int) async throws {
        let scene = try await RouteScene()
        let request = Self.request(method, target, try scene.key.hostCredential(Self.phone))
        let whole = await scene.routes.respond(to: request)
        #expect(whole.status == 403)
        #expect(Self.words(scene.routes.judge(request)) == Self.words(whole))
    }

    @Test(arguments: [
        ("POST", "/"), ("POST", "/v1/apps"), ("PUT", "/v1/hosts/zz/widgets"),
        ("POST", "/v1/apps/com.example.none/hosts"),
        ("POST", "/v1/apps/\(Sports.app)/kinds/none/timelines"),
    ])
    func `a head for a place that is none is refused`(method: String, target: String) async throws {
        let scene = try await RouteScene()
        let request = Self.request(method, target, try scene.key.providerToken())
        let whole = await scene.routes.respond(to: request)
        #expect([400, 404].contains(whole.status))
        #expect(Self.words(scene.routes.judge(request)) == Self.words(whole))
    }

    @Test func `where no route reads the body, little of it is taken`() async throws {
        let scene = try await RouteScene()
        let token = try scene.key.providerToken()
        for (method, target) in [("GET", "\(Self.app)/widgets"), ("DELETE", "/v1/hosts/\(Self.phone.hex)/widgets")] {
            #expect(Self.words(scene.routes.judge(Self.request(method, target, token))) == "4096")
            let whole = await scene.routes.respond(to: Self.request(method, target, nil))
            #expect(Self.words(scene.routes.judge(Self.request(method, target, nil))) == Self.words(whole))
        }
        // A preflight has no credential to show.
        var preflight = Self.request("OPTIONS", "\(Self.app)/hosts", nil)
        preflight.headers = ["origin": "https://example.com", "access-control-request-method": "POST"]
        #expect(Self.words(scene.routes.judge(preflight)) == "4096")
        let operators = try await OperatorScene(tokens: ["first read"])
        #expect(Self.words(operators.routes.judge(Self.request("GET", "/livez", nil))) == "4096")
        #expect(Self.words(operators.routes.judge(Self.request("GET", "/v1/stats", nil))) == "4096")
    }

    @Test func `a page of a listed origin may read why its head was refused`() async throws {
        let origin = "https://example.com"
        let scene = try await RouteScene(origins: CrossOrigin([origin]))
        for (from, isAllowed) in [(origin, true), ("https://other.example", false)] {
            var request = Self.request("POST", "\(Self.app)/hosts", nil)
            request.headers.append("origin", from)
            guard case .refused(let response) = scene.routes.judge(request) else {
                Issue.record("the head was not refused")
                continue
            }
            #expect(response.headers["vary"] == "origin")
            #expect(response.headers["access-control-allow-origin"] == (isAllowed ? origin : nil))
        }
    }

    @Test(arguments: Self.operatorRoutes)
    func `an operator's head without a good credential is refused`(method: String, target: String, bytes: Int)
        async throws
    {
        let scene = try await OperatorScene(tokens: ["first", "second read"])
        for (credential, code) in [
            (nil, "missing-credential"), ("bearer ", "missing-credential"), ("bearer third", "invalid-credential"),
        ] {
            guard case .refused(let response) = scene.routes.judge(Self.request(method, target, credential)) else {
                Issue.record("\(credential ?? "none") was not refused")
                continue
            }
            #expect(response.status == 401)
            #expect(Self.words(response).contains("\"code\":\"\(code)\""))
            #expect(response.headers["x-request-id"] != nil)
        }
        #expect(Self.words(scene.routes.judge(Self.request(method, target, "bearer first"))) == "\(bytes)")
    }

    @Test func `an operator's head that asks for more than its scope is refused`() async throws {
        let scene = try await OperatorScene(tokens: ["second read reader"])
        let request = Self.request("POST", "/v1/orders", "bearer second")
        let whole = await scene.routes.respond(to: request)
        #expect(whole.status == 403)
        #expect(Self.words(scene.routes.judge(request)) == Self.words(whole))
    }

    @Test func `an operator's head of a web page is refused before its credential is looked at`() async throws {
        let scene = try await OperatorScene(tokens: ["first"])
        var request = Self.request("POST", "/v1/orders", "bearer first")
        request.headers.append("origin", "https://other.example")
        let whole = await scene.routes.respond(to: request)
        #expect(whole.status == 403)
        #expect(Self.words(scene.routes.judge(request)) == Self.words(whole))
    }
}

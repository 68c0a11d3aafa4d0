import APNSWire
import HTTPTransport
import HostAPI
import Serving
import Settings
import TLS
import Testing
import WidgetModel

@Suite struct CrossOriginTests {
    private static let page = "https://widgets.example.com"
    private static let otherPage = "https://news.example.com"

    private static func preflight(_ target: String, from origin: String) -> HTTPRequest {
        HTTPRequest(
            method: "OPTIONS",
            target: target,
            headers: ["origin": origin, "access-control-request-method": "PUT"]
        )
    }

    /// An answer's content, but for how long it took.
    private static func told(_ response: HTTPResponse) -> [String] {
        guard case .bytes(let bytes) = response.body else { return ["a stream"] }
        return ["\(response.status)", String(decoding: bytes, as: UTF8.self)]
            + response.headers.all.map { "\($0.name): \($0.value)" }
    }

    private static func scene() async throws -> RouteScene {
        try RouteScene(try await OwnerScene.started(partitions: 2), origins: CrossOrigin([Self.page, Self.otherPage]))
    }

    @Test func `a page may call if an app lists its origin, and by default none may`() {
        let crossOrigin = CrossOrigin([Self.page])
        #expect(crossOrigin.allows(Self.page))
        #expect(!crossOrigin.allows("https://widgets.example.com.evil.example"))
        #expect(!crossOrigin.allows("null"))
        #expect(!CrossOrigin().allows(Self.page))
    }

    @Test func `a browser that asks before is told what a page may send`() async throws {
        let scene = try await Self.scene()
        let answer = await scene.routes.respond(to: Self.preflight("/v1/hosts/00/widgets", from: Self.page))
        #expect(answer.status == 204)
        #expect(answer.headers["access-control-allow-origin"] == Self.page)
        #expect(answer.headers["access-control-allow-headers"] == "authorization, content-type, last-event-id")
        let evil = await scene.routes.respond(to: Self.preflight("/v1/hosts/00/widgets", from: "https://evil.example"))
        #expect(evil.status == 403)
        #expect(evil.headers["access-control-allow-origin"] == nil)
    }

    @Test(arguments: [page, otherPage, "https://evil.example"])
    func `without a credential it is not told whether a token or an app is known, or whose a token is`(
        origin: String
    ) async throws {
        let scene = try await Self.scene()
        try await scene.register("phone")
        let (known, unknown) = (Sports.token("phone"), Sports.token("tablet"))
        for (first, second) in [
            (RouteScene.path(known), RouteScene.path(unknown)),
            ("/v1/apps/\(Sports.app)/hosts", "/v1/apps/com.example.unserved/hosts"),
            ("/v1/apps/\(Sports.app)/hosts", "/v1/apps/\(Sports.otherApp)/hosts"),
        ] {
            for method in ["OPTIONS", "GET", "PUT"] {
                var answers: [[String]] = []
                for target in [first, second] {
                    var request = Self.preflight(target, from: origin)
                    request.method = method
                    answers.append(Self.told(await scene.routes.respond(to: request)))
                }
                #expect(answers[0] == answers[1], "\(method) \(first)")
            }
        }
    }

    @Test func `what is no question of a browser goes its usual way`() async throws {
        let scene = try await Self.scene()
        for (method, headers, status) in [
            ("GET", ["origin": Self.page, "access-control-request-method": "PUT"], 401),
            ("OPTIONS", ["origin": Self.page], 405), ("OPTIONS", ["access-control-request-method": "PUT"], 405),
        ] as [(String, HTTPFields, Int)] {
            let request = HTTPRequest(method: method, target: "/v1/hosts/00/widgets", headers: headers)
            #expect(await scene.routes.respond(to: request).status == status, "\(method) \(headers)")
        }
    }

    /// Browsers send a client certificate by themselves, for any page, with requests that they do not ask about before.
    @Test(arguments: [page, "https://evil.example"])
    func `a client certificate speaks for no web page`(origin: String) async throws {
        let issued = try CertificateAuthority.make(commonName: "Test root")
            .issueClient(commonName: "back end", userID: "scores", topics: [], environments: [])
        let certificate = try PeerCertificate(unverified: .text(issued.certificatePEM))
        let app = TopicTable.App(number: 0, bundle: Sports.app, extraTopics: [])
        let table = ClientCertificateTable(
            apps: [.init(topics: app, team: Sports.team, environment: .production)],
            rules: [.init(name: .userID("scores"), app: 0, topics: nil)]
        )
        let scene = try await OwnerScene.started()
        let routes = HostRoutes(
            apps: LiveApps(Sports.served, origins: CrossOrigin([Self.page])),
            authorizer: HostAuthorizer(
                senders: SenderDirectory(keys: [], certificates: ClientCertificates(table)),
                clock: scene.time.makeClock()
            ),
            directory: scene.directory,
            log: scene.log,
            updates: HostUpdates(streams: scene.streams, followers: scene.followers)
        )
        var request = HTTPRequest(
            method: "POST",
            target: "/v1/apps/\(Sports.app)/reload",
            headers: ["content-type": "text/plain"],
            body: Array("{}".utf8),
            peerCertificate: certificate
        )
        #expect(await routes.respond(to: request).status == 200)
        request.headers.append("origin", origin)
        #expect(await routes.respond(to: request).status == 401)
    }
}

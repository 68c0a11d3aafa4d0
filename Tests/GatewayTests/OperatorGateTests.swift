import HTTPTransport
import OperatorAPI
import Partitions
import Serving
import TLS
import Testing
import WidgetModel

/// The gate that keeps web pages away from the operators' routes, with any credential.
@Suite struct OperatorGateTests {
    private static let order = #"{"action":"pause","of":{"app":"com.example.scores"}}"#

    /// Shows a certificate for these names.
    private static func certificates(_ names: [String], _ addresses: [String] = []) throws -> ServerCertificates {
        let issued = try CertificateAuthority.make(commonName: "Test root")
            .issueServer(dnsNames: names, ipAddresses: addresses, validity: CertificateValidity(days: 1))
        let context = try TLSContext.server(
            TLSServerConfiguration(
                identity: TLSIdentity(
                    certificateChain: .text(issued.certificatePEM),
                    privateKey: .text(issued.privateKeyPEM)
                ),
                alpn: ["h2"]
            )
        )
        return ServerCertificates([("ops", try #require(context.certificate))])
    }

    private static func code(_ gate: OperatorGate, _ request: HTTPRequest) -> Problem.Code? {
        problem { () throws(Problem) in try gate.check(request) }?.code
    }

    private static func request(
        _ method: String = "POST",
        _ target: String = "/v1/orders",
        authority: String = "localhost:9443",
        _ headers: HTTPFields = [:],
        body: String = ""
    ) -> HTTPRequest {
        HTTPRequest(method: method, target: target, headers: headers, body: Array(body.utf8), authority: authority)
    }

    @Test(
        arguments: [
            ("localhost", nil), ("localhost:9443", nil), ("LOCALHOST:1", nil), ("127.0.0.1:9443", nil),
            ("gateway.example", nil), ("deep.ops.example:9443", nil), ("[2001:db8::1]:9443", nil), ("192.0.2.1", nil),
            ("mine.example:9443", nil),
            ("", .misdirected), ("evil.example", .misdirected), ("evil.example:9443", .misdirected),
            ("localhost.evil.example", .misdirected), ("127.0.0.1.evil.example", .misdirected),
            ("deeper.deep.ops.example", .misdirected), ("ops.example", .misdirected), ("127.0.0.2", .misdirected),
            ("203.0.113.9", .misdirected), ("[::1]:9443", .misdirected), ("[::1", .misdirected),
            (":9443", .misdirected),
            ("0.0.0.0:9443", .misdirected), ("mine.example.", .misdirected),
        ] as [(String, Problem.Code?)]
    )
    func `the listener answers to its address, its certificate's names and the configured ones`(
        authority: String,
        code: Problem.Code?
    ) throws {
        let gate = OperatorGate(
            address: "127.0.0.1",
            names: ["mine.example"],
            certificates: try Self.certificates(["gateway.example", "*.ops.example"], ["2001:db8::1", "192.0.2.1"])
        )
        #expect(Self.code(gate, Self.request("GET", "/v1/stats", authority: authority)) == code)
    }

    @Test(arguments: ["0.0.0.0", "::"])
    func `bound to every address it answers to each of them, and to no name but its own`(address: String) {
        let gate = OperatorGate(address: address)
        for authority in ["203.0.113.9:9443", "[2001:db8::7]:9443", "localhost"] {
            #expect(Self.code(gate, Self.request("GET", "/", authority: authority)) == nil)
        }
        #expect(Self.code(gate, Self.request("GET", "/", authority: "evil.example")) == .misdirected)
        gate.replace(names: ["evil.example"])
        #expect(Self.code(gate, Self.request("GET", "/", authority: "evil.example")) == nil)
    }

    @Test(
        arguments: [
            ("https://localhost:9443", nil), ("HTTPS://LOCALHOST:9443", nil), ("https://localhost", .crossOrigin),
            ("http://localhost:9443", .crossOrigin), ("https://localhost:3000", .crossOrigin),
            ("https://evil.example", .crossOrigin), ("null", .crossOrigin), ("", .crossOrigin),
            ("https://127.0.0.1:9443", .crossOrigin), ("https://localhost:9443.evil.example", .crossOrigin),
        ] as [(String, Problem.Code?)]
    )
    func `a page asks that came from here, and no other`(origin: String, code: Problem.Code?) {
        let gate = OperatorGate(address: "127.0.0.1")
        for method in ["GET", "POST", "DELETE", "OPTIONS"] {
            #expect(Self.code(gate, Self.request(method, ["origin": origin])) == code, "\(method)")
        }
        var twice = Self.request(["origin": "https://localhost:9443"])
        twice.headers.append("origin", origin)
        #expect(Self.code(gate, twice) == code)
    }

    @Test func `what the browser says of a request counts, also where it names no origin`() {
        let gate = OperatorGate(address: "127.0.0.1")
        for (site, code) in [
            ("same-origin", nil), ("none", nil), ("same-site", .crossOrigin), ("cross-site", .crossOrigin),
            ("anything", .crossOrigin),
        ] as [(String, Problem.Code?)] {
            for (method, target) in [("GET", "/v1/stats"), ("GET", "/metrics"), ("POST", "/v1/orders"), ("GET", "/")] {
                #expect(Self.code(gate, Self.request(method, target, ["sec-fetch-site": site])) == code, "\(site)")
            }
        }
        // A link on a page of others may lead to the dashboard, and to nothing that answers by itself.
        let link: HTTPFields = [
            "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document",
        ]
        #expect(Self.code(gate, Self.request("GET", "/", link)) == nil)
        #expect(Self.code(gate, Self.request("GET", "/v1/stats", link)) == .crossOrigin)
        #expect(Self.code(gate, Self.request("POST", "/", link)) == .crossOrigin)
        var frame = link
        frame["sec-fetch-dest"] = "iframe"
        #expect(Self.code(gate, Self.request("GET", "/", frame)) == .crossOrigin)
    }

    @Test(
        arguments: [
            ("application/json", nil), ("Application/JSON", nil), ("application/json; charset=utf-8", nil),
            ("application/json ;charset=utf-8", nil),
            (nil, .unsupportedMediaType), ("", .unsupportedMediaType), ("text/plain", .unsupportedMediaType),
            ("application/x-www-form-urlencoded", .unsupportedMediaType),
            ("text/plain; application/json", .unsupportedMediaType), ("application/jsonx", .unsupportedMediaType),
            ("multipart/form-data; boundary=x", .unsupportedMediaType),
        ] as [(String?, Problem.Code?)]
    )
    func `a body says that it is JSON, which a page cannot without asking before`(type: String?, code: Problem.Code?) {
        let gate = OperatorGate(address: "127.0.0.1")
        let headers: HTTPFields = type.map { ["content-type": $0] } ?? [:]
        #expect(Self.code(gate, Self.request(headers, body: Self.order)) == code)
        #expect(Self.code(gate, Self.request(headers)) == nil, "what is not there is nothing")
    }

    private static func request(_ headers: HTTPFields, body: String = "") -> HTTPRequest {
        Self.request("POST", "/v1/orders", headers, body: body)
    }

    private static func request(_ method: String, _ headers: HTTPFields) -> HTTPRequest {
        Self.request(method, "/v1/orders", headers)
    }

    @Test func `no route but those of health answers a page of others, and nothing of it is done`() async throws {
        let scene = try await OperatorScene()
        let evil: HTTPFields = ["origin": "https://evil.example", "content-type": "text/plain"]
        for (method, target, body) in [
            ("POST", "/v1/orders", Self.order), ("PUT", "/v1/log-levels", #"{"levels":{}}"#),
            ("POST", "/v1/config/reload", ""), ("DELETE", "/v1/hosts/com.example.scores/host-1", ""),
            ("GET", "/v1/stats", ""),
            ("POST", "/v1/apps/com.example.scores/dry-runs", "{}"), ("GET", "/metrics", ""),
        ] {
            let request = Self.request(method, target, evil, body: body)
            #expect(try await scene.send(request).json["code"] == .string("cross-origin"), "\(method) \(target)")
            var rebound = OperatorScene.request(method, target, body)
            rebound.authority = "evil.example:9443"
            #expect(try await scene.send(rebound).status == 421, "\(method) \(target)")
        }
        #expect(try await scene.scene.audit.newest().isEmpty)
        for target in ["/livez", "/version"] {
            let probe = Self.request("GET", target, authority: "10.1.2.3:9443", ["sec-fetch-site": "cross-site"])
            #expect(await scene.routes.respond(to: probe).status == 200)
        }
    }
}

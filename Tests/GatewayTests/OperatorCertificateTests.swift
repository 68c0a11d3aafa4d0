import HTTPTransport
import OperatorAPI
import Partitions
import Serving
import Settings
import TLS
import Testing
import WidgetModel

/// Operators who come with a client certificate.
@Suite struct OperatorCertificateTests {
    private let authority: CertificateAuthority

    init() throws {
        self.authority = try CertificateAuthority.make(commonName: "Test root")
    }

    private func certificate(_ name: String, userID: String? = nil) throws -> PeerCertificate {
        let issued = try self.authority.issueClient(commonName: name, userID: userID, topics: [], environments: [])
        return try PeerCertificate(unverified: .text(issued.certificatePEM))
    }

    private static func digits(_ certificate: PeerCertificate) -> String {
        certificate.sha256Fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func request(
        _ method: String,
        _ target: String,
        _ certificate: PeerCertificate?,
        token: String? = nil
    ) -> HTTPRequest {
        var request = HTTPRequest(method: method, target: target, peerCertificate: certificate)
        if let token { request.headers.append("authorization", "bearer \(token)") }
        return request
    }

    /// The caller of a request, or the reason of its refusal.
    private static func answer(_ access: OperatorAccess, _ request: HTTPRequest) -> String {
        do throws(Problem) {
            let caller = try access.visitor(of: request).caller
            let route = OperatorRoutes.routes.first { $0.method == request.method && $0.path == request.target }
            let needed = route.flatMap { OperatorScope(rawValue: $0.right) } ?? .admin
            return access.present(request, for: needed) != nil ? "\(caller.name) \(caller.scope.rawValue)" : "forbidden"
        } catch {
            return error.code.rawValue
        }
    }

    @Test func `a certificate is known by its fingerprint or its user id, with the scope it was given`() throws {
        let (reader, boss) = (try self.certificate("grafana"), try self.certificate("boss", userID: "ops.boss"))
        let access = try OperatorAccess.knowing(
            [],
            [
                .init(name: .fingerprint(reader.sha256Fingerprint)), .init(name: .userID("ops.boss"), scope: .admin),
            ]
        )
        #expect(Self.answer(access, Self.request("GET", "/v1/stats", reader)) == "grafana read")
        #expect(Self.answer(access, Self.request("POST", "/v1/orders", reader)) == "forbidden")
        #expect(Self.answer(access, Self.request("POST", "/v1/config/reload", boss)) == "boss admin")
        // Renewed, with the same user id.
        let renewed = try self.certificate("boss", userID: "ops.boss")
        #expect(Self.answer(access, Self.request("PUT", "/v1/log-levels", renewed)) == "boss admin")
    }

    @Test func `a certificate that is not named is none, and neither is no certificate`() throws {
        let known = try self.certificate("known", userID: "known")
        let access = try OperatorAccess.knowing([], [.init(name: .userID("known"))])
        for stranger in [try self.certificate("known"), try self.certificate("x", userID: "known2")] {
            #expect(Self.answer(access, Self.request("GET", "/v1/stats", stranger)) == "missing-credential")
        }
        #expect(Self.answer(access, Self.request("GET", "/v1/stats", nil)) == "missing-credential")
        #expect(Self.answer(access, Self.request("GET", "/v1/stats", known)) == "known read")
    }

    @Test func `who has no certificate may have a token`() throws {
        let access = try OperatorAccess.knowing(["writer-writer-writer write ci"], [.init(name: .userID("known"))])
        let stranger = try self.certificate("stranger")
        let token = "writer-writer-writer"
        #expect(Self.answer(access, Self.request("POST", "/v1/orders", stranger, token: token)) == "ci write")
        #expect(Self.answer(access, Self.request("POST", "/v1/orders", nil, token: token)) == "ci write")
    }

    @Test func `a certificate that is revoked while the gateway runs may do nothing from then on`() throws {
        let (first, second) = (try self.certificate("a", userID: "a"), try self.certificate("b", userID: "b"))
        let revocations = ClientCertificates()
        let access = try OperatorAccess.knowing(
            [],
            [.init(name: .userID("a")), .init(name: .userID("b"))],
            revocations: revocations
        )
        #expect(Self.answer(access, Self.request("GET", "/v1/stats", first)) == "a read")
        _ = try revocations.revoke { try RevocationList(.text(Self.digits(first))) }
        #expect(Self.answer(access, Self.request("GET", "/v1/stats", first)) == "invalid-credential")
        #expect(Self.answer(access, Self.request("GET", "/v1/stats", second)) == "b read")
    }
}

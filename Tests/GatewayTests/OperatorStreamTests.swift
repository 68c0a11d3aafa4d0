import Engine
import HTTPTransport
import OperatorAPI
import Partitions
import Serving
import Settings
import TLS
import TestSupport
import Testing
import WidgetModel

/// An operator's stream holds the right that it was opened with, and ends with it.
@Suite struct OperatorStreamTests {
    private static let reader = "reader-reader-reader read grafana"
    private static let boss = "boss-boss-boss-boss-boss admin boss"

    private static func request(_ target: String, by line: String) -> HTTPRequest {
        var request = OperatorScene.request("GET", target)
        request.headers.append("authorization", "bearer \(line.split(separator: " ")[0])")
        return request
    }

    /// Tells all followers that there is something to hear.
    private static func tell(_ scene: OperatorScene) {
        scene.scene.feed.publish(.note(.configuration, .int(1)))
        scene.scene.followers.wake(.heartbeat)
    }

    private static func scene(_ tokens: [String]) async throws -> (scene: OperatorScene, receipt: String) {
        let scene = try await OperatorScene(tokens: tokens)
        try await scene.scene.register("host-1")
        let push = Sports.push(1, to: "host-1")
        _ = try await scene.scene.log.append(.push(push), for: HostKey("host-1"))
        return (scene, "/v1/pushes/\(push.id)/events")
    }

    @Test(arguments: [true, false])
    func `a stream ends with the token that opened it`(isReceipt: Bool) async throws {
        let (scene, receipt) = try await Self.scene([Self.reader, Self.boss])
        let target = isReceipt ? receipt : "/v1/events"
        let response = await scene.routes.respond(to: Self.request(target, by: Self.reader))
        var pieces = try await StreamPieces.of(response).makeAsyncIterator()
        #expect(await pieces.next() != nil)
        try scene.access.use(tokens: ["another-another-another", Self.reader])
        Self.tell(scene)
        #expect(await pieces.next() != nil, "the token is there still")
        try scene.access.use(tokens: [Self.boss])
        Self.tell(scene)
        #expect(await pieces.next() == nil)
        #expect(scene.scene.feed.count == 0)
        #expect(scene.scene.followers.count == 0)
    }

    @Test func `a stream that tells what its token may no longer know ends`() async throws {
        let (scene, receipt) = try await Self.scene([Self.boss])
        var ending = try await StreamPieces.of(
            await scene.routes.respond(to: Self.request("/v1/events?types=order,configuration", by: Self.boss))
        ).makeAsyncIterator()
        var staying = try await StreamPieces.of(
            await scene.routes.respond(to: Self.request("/v1/events?types=configuration", by: Self.boss))
        ).makeAsyncIterator()
        var following = try await StreamPieces.of(
            await scene.routes.respond(to: Self.request(receipt, by: Self.boss))
        ).makeAsyncIterator()
        _ = await (ending.next(), staying.next(), following.next())
        try scene.access.use(tokens: [Self.boss.replacing("admin", with: "read")])
        Self.tell(scene)
        #expect(await ending.next() == nil)
        #expect(await staying.next() != nil)
        #expect(await following.next() != nil)
    }

    @Test func `a stream ends with the certificate that opened it`() async throws {
        let issued = try CertificateAuthority.make(commonName: "Test root")
            .issueClient(commonName: "boss", userID: "ops.boss", topics: [], environments: [])
        let certificate = try PeerCertificate(unverified: .text(issued.certificatePEM))
        let revocations = ClientCertificates()
        let access = try OperatorAccess.knowing([], [.init(name: .userID("ops.boss"))], revocations: revocations)
        let scene = try await OperatorScene(access: access)
        var request = OperatorScene.request("GET", "/v1/events")
        request.peerCertificate = certificate
        var pieces = try await StreamPieces.of(await scene.routes.respond(to: request)).makeAsyncIterator()
        #expect(await pieces.next() != nil)
        Self.tell(scene)
        #expect(await pieces.next() != nil)
        let digits = certificate.sha256Fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        _ = try revocations.revoke { try RevocationList(.text(digits)) }
        Self.tell(scene)
        #expect(await pieces.next() == nil)
    }
}

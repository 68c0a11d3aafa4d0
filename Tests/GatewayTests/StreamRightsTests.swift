import APNSWire
import Engine
import HTTPTransport
import TLS
import TestSupport
import Testing
import WidgetModel
@testable import HostAPI
@testable import Partitions
@testable import Serving
@testable import Settings

/// A stream holds the right that it was opened with, and ends with it.
@Suite struct StreamRightsTests {
    private static let phone = Sports.token("phone")
    private static let ofPhone = RouteScene.path(Self.phone, "events")
    private static let ofApp = "/v1/apps/\(Sports.app)/events"
    private static let ofOtherApp = "/v1/apps/\(Sports.otherApp)/events"

    /// Streams of a host by its own credential and by its back end's, of its app, and of another team's app.
    private static func open(_ scene: RouteScene, hostFor lifetime: Interval = .days(30)) async throws -> [HTTPResponse]
    {
        try await scene.register("phone")
        let backEnd = try scene.key.providerToken()
        let streams = [
            await scene.open(Self.ofPhone, try scene.key.hostCredential(Self.phone, lasting: lifetime)),
            await scene.open(Self.ofPhone, backEnd), await scene.open(Self.ofApp, backEnd),
            await scene.open(Self.ofOtherApp, try scene.otherKey.providerToken()),
        ]
        #expect(streams.map(\.status) == [200, 200, 200, 200])
        return streams
    }

    @Test func `a stream ends with the time of its credential`() async throws {
        let scene = try await RouteScene()
        let held = try await Self.open(scene, hostFor: .minutes(30))
        let streams = scene.scene.streams
        // Five minutes more, for clocks that differ.
        for (passing, left) in [
            (Interval.minutes(34), 4), (.minutes(1), 3), (.minutes(25), 3), (.seconds(1), 0),
        ] {
            scene.scene.time.pass(passing)
            streams.beat()
            #expect(streams.count == left, "after \(scene.scene.time.wall - Sports.start)")
            #expect(streams.counters.revoked == 4 - left)
        }
        #expect(held.count == 4)
    }

    @Test(arguments: ["gone", "not for hosts", "for another app", "for topics of none of its apps"])
    func `a stream ends when its key is no longer for it, and others' go on`(key: String) async throws {
        let scene = try await RouteScene()
        let held = try await Self.open(scene)
        let streams = scene.scene.streams
        try scene.use(scene.key.known())
        streams.beat()
        #expect(streams.count == 4, "the key was read again")
        switch key {
        case "gone": try scene.use(nil)
        case "not for hosts": try scene.use(scene.key.known(actions: [.devices, .targeted, .channels]))
        case "for another app": try scene.use(scene.key.known(KeyRightsTests.sibling))
        default: try scene.use(scene.key.known(topics: ["\(Sports.otherApp).push-type.widgets"]))
        }
        streams.beat()
        #expect(streams.count == 1)
        #expect(streams.counters.revoked == 3)
        #expect(streams.open(of: [HostKey("phone")]) == [0])
        #expect(held.count == 4)
    }

    @Test(arguments: ["revoked", "not named any more"])
    func `a stream ends with the client certificate that opened it`(certificate: String) async throws {
        let scene = try await RouteScene()
        let authority = try CertificateAuthority.make(commonName: "Test root")
        func make(_ name: String) throws -> PeerCertificate {
            let issued = try authority.issueClient(commonName: name, userID: name, topics: [], environments: [])
            return try PeerCertificate(unverified: .text(issued.certificatePEM))
        }
        func rule(_ certificate: PeerCertificate) -> ClientCertificateTable.Rule {
            .init(name: .fingerprint(certificate.sha256Fingerprint), app: 0, topics: nil)
        }
        let (first, second) = (try make("first"), try make("second"))
        let app = ClientCertificateTable.App(
            topics: TopicTable.App(number: 0, bundle: Sports.app),
            team: Sports.team,
            environment: .production
        )
        let both = [rule(first), rule(second)]
        scene.senders.certificates.replace { _ in ClientCertificateTable(apps: [app], rules: both) }
        let held = [
            await scene.open(Self.ofApp, nil, certificate: first),
            await scene.open(Self.ofApp, nil, certificate: second),
        ]
        let streams = scene.scene.streams
        streams.beat()
        #expect(held.map(\.status) == [200, 200] && streams.count == 2)
        let digits = first.sha256Fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let list = try RevocationList(.text(digits))
        let rest = [rule(second)]
        scene.senders.certificates.replace {
            certificate == "revoked" ? $0.revoking(list) : ClientCertificateTable(apps: [app], rules: rest)
        }
        streams.beat()
        #expect(streams.count == 1)
        #expect(streams.counters.revoked == 1)
    }

    /// A token is looked up before its stream is among those that end with it, and so once more afterwards.
    @Test func `a stream whose token has moved meanwhile is not opened`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        var request = HTTPRequest(method: "GET", target: Self.ofPhone)
        request.headers.append("authorization", try scene.key.hostCredential(Self.phone))
        let caller = try scene.routes.authorizer.caller(of: request)
        func refusal(_ host: HostKey) async -> Problem.Code? {
            do throws(Problem) {
                _ = try await scene.routes.events(.host(host), by: caller, Self.phone, lastEventID: nil)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await refusal(HostKey("before")) == .unknownHost)
        #expect(await refusal(HostKey("phone")) == nil)
        _ = try await scene.send("DELETE", RouteScene.path(Self.phone), try scene.key.providerToken())
        #expect(await refusal(HostKey("phone")) == .gone)
        #expect(scene.scene.streams.count == 0)
    }

    @Test(arguments: ["gone", "not for devices", "for another app"])
    func `a receipt ends when its key is no longer for the push`(key: String) async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let push = Sports.push(1, to: "phone")
        _ = try await scene.scene.log.append(.push(push), for: HostKey("phone"))
        let target = "/v1/pushes/\(push.id)/events"
        let receipt = await scene.open(target, try scene.key.providerToken())
        var pieces = try await StreamPieces.of(receipt).makeAsyncIterator()
        #expect(await pieces.next()?.hasPrefix("event: progress\n") == true)
        try scene.use(scene.key.known(actions: [.devices]))
        scene.scene.followers.wake(.heartbeat)
        #expect(await pieces.next() == ": heartbeat\n\n", "the key is for devices still")
        switch key {
        case "gone": try scene.use(nil)
        case "not for devices": try scene.use(scene.key.known(actions: [.targeted, .channels, .hosts]))
        default: try scene.use(scene.key.known(KeyRightsTests.sibling))
        }
        scene.scene.followers.wake(.heartbeat)
        #expect(await pieces.next() == nil)
        #expect(scene.scene.followers.count == 0)
    }
}

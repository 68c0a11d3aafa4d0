import APNSWire
import Engine
import IntentMatching
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// The rights on the host listener of a key for some actions, apps or topics.
@Suite struct KeyRightsTests {
    /// Another app of the same team.
    static let sibling = BundleID("com.example.sibling")
    private static let phone = Sports.token("phone")
    private static let control = "\(Sports.app).push-type.controls"

    /// Keys of the team that are not for its app's hosts.
    private static let foreign: [@Sendable (TestKey) -> SenderDirectory.Key] = [
        { $0.known(actions: [.devices]) }, { $0.known(actions: [.devices, .targeted, .channels]) },
        { $0.known(Self.sibling) },
    ]

    @Test(arguments: Self.foreign.indices)
    func `a key that is not for an app's hosts acts for none of them`(index: Int) async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        try scene.use(Self.foreign[index](scene.key))
        let token = try scene.key.providerToken()
        let before = try await scene.scene.digests()
        for (method, route) in HostRouteAccessTests.appRoutes {
            let answer = try await scene.send(method, "/v1/apps/\(Sports.app)/\(route)", token)
            #expect(answer.place == ["403", "forbidden"], "\(method) \(route)")
        }
        for (method, route) in HostRouteAccessTests.hostRoutes {
            let answer = try await scene.send(method, RouteScene.path(Self.phone, route), token)
            #expect(answer.place == ["404", "unknown-host"], "\(method) \(route)")
        }
        for host in [Self.phone, Sports.token("tablet")] {
            let answer = try await scene.send("PUT", RouteScene.path(host), token, RouteScene.body())
            #expect(answer.place == ["403", "forbidden", "app"])
        }
        for (method, question) in [
            ("POST", "timelines"), ("GET", "placeholder"), ("GET", "snapshot"), ("GET", "recommendations"),
            ("GET", "relevance"),
        ] {
            let path = "/v1/apps/\(Sports.app)/kinds/scores/\(question)"
            let answer = try await scene.send(method, path, token, method == "POST" ? "{}" : "")
            #expect(answer.place == ["404", "not-found"], "\(method) \(question)")
        }
        #expect(try await scene.scene.digests() == before)
    }

    @Test(arguments: Self.foreign.indices)
    func `a credential of a key that is not for an app's hosts is none`(index: Int) async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let credential = try scene.key.hostCredential(Self.phone)
        #expect(try await scene.send("GET", RouteScene.path(Self.phone), credential).status == 200)
        try scene.use(Self.foreign[index](scene.key))
        for (method, route) in HostRouteAccessTests.hostRoutes + [("PUT", "widgets")] {
            let answer = try await scene.send(method, RouteScene.path(Self.phone, route), credential)
            #expect(answer.place == ["401", "invalid-credential"], "\(method) \(route)")
        }
    }

    // MARK: Pushes

    /// Pushes of one team: to a device of its app, to the whole of it, and to a device of another app.
    private struct Sent {
        let device: PushRecord
        let app: PushRecord
        let other: PushRecord

        /// - Parameter id: The one id that all have; nil for one each.
        init(_ scene: RouteScene, id: UInt64? = nil) async throws {
            func push(_ number: UInt64, _ target: PushDestination) async throws -> PushRecord {
                var push = PushRecord(
                    id: PushID(high: 7, low: id ?? number),
                    team: Sports.team,
                    contentHash: number,
                    priority: .high,
                    target: target
                )
                push.expiration = Sports.start.seconds + 3600
                _ = try await scene.scene.log.appendToAll(.push(push))
                return push
            }
            try await scene.register("phone")
            let foreign = HostKey("panel", of: Sports.otherApp)
            let secret = InstanceRegistration(
                id: InstanceID("a"),
                kind: Sports.secret.kind,
                family: .systemSmall,
                configuration: .empty
            )
            let registration = HostRegistration(
                host: foreign,
                token: Sports.token("panel"),
                revision: 1,
                instances: [secret]
            )
            _ = try await scene.scene.log.append(.register(registration), for: foreign)
            self.device = try await push(1, .host(HostKey("phone"), nil))
            self.app = try await push(2, .app(Sports.app))
            self.other = try await push(3, .host(foreign, nil))
        }

        var all: [PushRecord] { [self.device, self.app, self.other] }
    }

    /// The rights of each key, and which of the three pushes it sees.
    private static let sights: [(key: @Sendable (TestKey) -> SenderDirectory.Key, seen: [Bool])] = [
        ({ $0.known() }, [true, true, false]), ({ $0.known(actions: [.devices]) }, [true, false, false]),
        ({ $0.known(actions: [.targeted]) }, [false, true, false]),
        ({ $0.known(actions: [.channels]) }, [false, true, false]),
        ({ $0.known(actions: [.hosts]) }, [false, false, false]), ({ $0.known(Self.sibling) }, [false, false, false]),
        ({ $0.known(Sports.otherApp, number: 1) }, [false, false, true]),
        // By the app, not by the topic.
        ({ $0.known(topics: [Self.control]) }, [true, true, false]),
    ]

    @Test(arguments: Self.sights.indices)
    func `a key sees what became of pushes of its apps and its actions`(index: Int) async throws {
        let scene = try await RouteScene(partitions: 1)
        let sent = try await Sent(scene)
        try scene.use(Self.sights[index].key(scene.key))
        let token = try scene.key.providerToken()
        let unknown = try await scene.send("GET", "/v1/pushes/00000000-0000-0000-0000-000000000001", token)
        for (push, isSeen) in zip(sent.all, Self.sights[index].seen) {
            for rest in ["", "/events"] {
                let answer = try await scene.send("GET", "/v1/pushes/\(push.id)\(rest)", token)
                #expect(isSeen ? answer.status == 200 : answer == unknown, "\(push.target)\(rest)")
            }
        }
    }

    private static func waiting(_ scene: RouteScene, _ push: PushRecord) async throws -> Int {
        let (id, hash) = (push.id, push.contentHash)
        return try await scene.scene.log.askAll(PushesQuestion([id])).joined()
            .filter { $0.contentHash == hash }.reduce(0) { $0 + $1.counts[.deferred] }
    }

    @Test(arguments: Self.sights.indices)
    func `a key takes back what it sees, and nothing else`(index: Int) async throws {
        let scene = try await RouteScene(partitions: 1)
        let sent = try await Sent(scene)
        try scene.use(Self.sights[index].key(scene.key))
        let token = try scene.key.providerToken()
        for (push, isSeen) in zip(sent.all, Self.sights[index].seen) {
            #expect(try await Self.waiting(scene, push) == 1)
            let answer = try await scene.send("DELETE", "/v1/pushes/\(push.id)", token)
            #expect(answer.body == #"{"cancelled":\#(isSeen ? 1 : 0)}"#, "\(push.target)")
            #expect(try await Self.waiting(scene, push) == (isSeen ? 0 : 1), "\(push.target)")
        }
    }

    @Test func `of pushes with one id either all of an app are taken back or none`() async throws {
        let scene = try await RouteScene(partitions: 1)
        let sent = try await Sent(scene, id: 1)
        let (target, token) = ("/v1/pushes/\(sent.device.id)", try scene.key.providerToken())
        for actions in [SenderActions.devices, .targeted] {
            try scene.use(scene.key.known(actions: actions))
            #expect(try await scene.send("DELETE", target, token).place == ["403", "forbidden"])
            for push in sent.all { #expect(try await Self.waiting(scene, push) == 1) }
        }
        try scene.use(scene.key.known())
        #expect(try await scene.send("DELETE", target, token).body == #"{"cancelled":2}"#)
        #expect(try await Self.waiting(scene, sent.device) == 0)
        #expect(try await Self.waiting(scene, sent.app) == 0)
        #expect(try await Self.waiting(scene, sent.other) == 1, "another app's stays")
    }

    // MARK: Tokens that are nearly something

    @Test func `what is nearly a host's credential has no rights`() async throws {
        let scene = try await RouteScene()
        let (start, path) = (Sports.start.seconds, "/v1/apps/\(Sports.app)/hosts")
        func claims(_ aud: String?, _ more: String = "", exp: Int64 = start + 3600) -> String {
            let audience = aud.map { #""aud":\#($0),"# } ?? ""
            let rest = #""sub":"\#(Self.phone.hex)","app":"\#(Sports.app)","iat":\#(start),"exp":\#(exp)"#
            return #"{"iss":"\#(Sports.team)",\#(audience)\#(rest)\#(more)}"#
        }
        let good = #""freshet-host""#
        for (claims, place) in [
            (claims(good), ["403", "forbidden"]), (claims(#"["freshet-host"]"#), ["403", "forbidden"]),
            (claims(#""freshet-hosts""#), ["401", "invalid-credential"]),
            (claims(#""Freshet-Host""#), ["401", "invalid-credential"]),
            (claims("[]"), ["401", "invalid-credential"]), (claims("7"), ["401", "invalid-credential"]),
            (claims(nil), ["401", "invalid-credential"]),
            (claims(good, exp: start - 301), ["401", "expired-credential"]),
            (claims(good, #","nbf":\#(start + 300)"#), ["403", "forbidden"]),
            (claims(good, #","nbf":\#(start + 301)"#), ["401", "invalid-credential"]),
            (claims(good, #","nbf":"soon""#), ["401", "invalid-credential"]),
        ] {
            let answer = try await scene.send("GET", path, try scene.key.token(claims))
            #expect(answer.place == place, "\(claims)")
        }
        let ending = try scene.key.token(claims(good, exp: start + 60))
        scene.scene.time.pass(.minutes(7))
        #expect(try await scene.send("GET", path, ending).place == ["401", "expired-credential"])
        let own = #"{"iss":"\#(Sports.team)","iat":\#(start)}"#
        #expect(try await scene.send("GET", path, try scene.key.token(own)).status == 200)
    }
}

import Engine
import Ingest
import Journaling
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// The takeover of a host: a device may take only its own, the back end decides for its app, and other apps have no
/// part in it.
@Suite struct HostTakeoverTests {
    private static let phone = Sports.token("phone")
    private static let thief = Sports.token("thief")
    private static let panel = HostKey("panel-1")

    private static func body(_ host: String?, _ members: String = "", id: String = "a") -> String {
        let named = [host.map { #""host":"\#($0)""# }, members.isEmpty ? nil : members].compactMap(\.self)
        return RouteScene.body(
            named.joined(separator: ","),
            instances: #"[{"id":"\#(id)","kind":"scores","family":"systemSmall"}]"#
        )
    }

    private static func put(
        _ scene: RouteScene,
        _ token: DeviceToken,
        _ credential: String,
        _ body: String
    ) async throws -> RouteScene.Answer {
        try await scene.send("PUT", RouteScene.path(token), credential, body)
    }

    private static func tokens(_ scene: RouteScene, _ host: HostKey) async throws -> [DeviceToken]? {
        try await scene.scene.log.ask(HostQuestion(host))?.tokens
    }

    @Test func `two apps may have hosts of one name, and neither hears of the other`() async throws {
        let scene = try await RouteScene(partitions: 4)
        let other = Sports.token("other panel")
        let secret =
            #"{"app":"\#(Sports.otherApp)","host":"panel-1","instances":[{"id":"a","kind":"secret","family":"systemSmall"}]}"#
        let squatted = try await Self.put(scene, other, try scene.otherKey.providerToken(), secret)
        #expect(squatted.status == 200)
        let own = try await Self.put(scene, Self.phone, try scene.key.providerToken(), Self.body("panel-1"))
        #expect(own.body == #"{"host":"panel-1","added":1,"changed":0,"unchanged":0,"removed":0}"#)
        #expect(try await Self.tokens(scene, Self.panel) == [Self.phone])
        #expect(try await Self.tokens(scene, HostKey("panel-1", of: Sports.otherApp)) == [other])
        #expect(
            try await scene.send("DELETE", RouteScene.path(other), try scene.otherKey.providerToken()).status == 204
        )
        #expect(try await scene.send("GET", RouteScene.path(Self.phone), try scene.key.providerToken()).status == 200)
    }

    /// Push tokens are one name space: docs/threat-model.md tells the consequences.
    @Test func `a token that another team has is refused until its host is removed, and the answer tells no names`()
        async throws
    {
        let scene = try await RouteScene(partitions: 4)
        let secret = #"{"app":"\#(Sports.otherApp)","host":"panel-1","instances":[]}"#
        let squatted = try await Self.put(scene, Self.phone, try scene.otherKey.providerToken(), secret)
        #expect(squatted.status == 200)
        let refused = try await Self.put(scene, Self.phone, try scene.key.providerToken(), Self.body("own"))
        #expect(refused.place == ["409", "token-bound"])
        for name in [Sports.otherApp.rawValue, Sports.otherTeam.rawValue, "panel-1"] {
            #expect(!refused.body.contains(name))
        }
        let foreign = HostKey("panel-1", of: Sports.otherApp)
        _ = try await scene.scene.log.append(.unregister(HostRemoval(host: foreign)), for: foreign)
        let own = try await Self.put(scene, Self.phone, try scene.key.providerToken(), Self.body("own"))
        #expect(own.status == 200)
        #expect(try await Self.put(scene, Self.phone, try scene.otherKey.providerToken(), secret).status == 409)
        #expect(try await Self.tokens(scene, HostKey("own")) == [Self.phone])
    }

    @Test func `a stream ends with its host and never hears of another app's host of that name`() async throws {
        let scene = try await RouteScene(partitions: 4)
        let other = Sports.token("other panel")
        let credential = try scene.otherKey.providerToken()
        let secret = #"{"app":"\#(Sports.otherApp)","host":"panel-1","instances":[]}"#
        _ = try await Self.put(scene, other, credential, secret)
        let foreign = HostKey("panel-1", of: Sports.otherApp)
        let stream = try scene.scene.streams.subscribe(.host(foreign), by: HostStreams.Right(token: other))
        #expect(try await scene.send("DELETE", RouteScene.path(other), credential).status == 204)
        // The stream has ended already: events from now on are for others.
        _ = try await Self.put(scene, Self.phone, try scene.key.providerToken(), Self.body("panel-1"))
        try await scene.scene.settle()
        var heard = 0
        for await _ in stream.events { heard += 1 }
        #expect(heard == 0)
        #expect(scene.scene.handedOn.map(\.host) == [Self.panel])
        #expect(scene.scene.streams.counters.revoked == 1)
    }

    /// The device comes first: its own credential gives it no name but that of its token.
    @Test(arguments: ["panel-1", "panel-2", "panel-3", "panel-4", "panel-5"])
    func `a name that is squatted first costs its owner nothing`(name: String) async throws {
        let scene = try await RouteScene(partitions: 4)
        let thief = try scene.key.hostCredential(Self.thief)
        let named = try await Self.put(scene, Self.thief, thief, Self.body(name))
        #expect(named.place == ["403", "forbidden", "host"])
        // Under the name of its own token it may be there, as new as it says.
        let high = Self.body(nil, #""revision":9223372036854775807"#)
        #expect(try await Self.put(scene, Self.thief, thief, high).status == 200)
        let derived = HostKey(app: Sports.app, id: HostID(derivedFrom: Self.thief))
        let stream = try scene.scene.streams.subscribe(.host(derived), by: HostStreams.Right(token: Self.thief))
        // The back end says that the token is of another host, in whichever partition that is.
        let backEnd = try scene.key.providerToken()
        let own = try await Self.put(scene, Self.thief, backEnd, Self.body(name, #""revision":1"#))
        #expect(own.body == #"{"host":"\#(name)","added":1,"changed":0,"unchanged":0,"removed":0}"#)
        #expect(try await Self.tokens(scene, HostKey(name)) == [Self.thief])
        #expect(try await Self.tokens(scene, derived) == nil)
        for await _ in stream.events {}
        #expect(scene.scene.streams.counters.revoked == 1)
    }

    /// It is taken from the one host and given to the other in two entries: here the gateway loses the journal in between.
    @Test func `no push to a token on its way to another partition is refused for good`() async throws {
        let scene = try await RouteScene(partitions: 4)
        let (log, journal, directory) = (scene.scene.log, scene.scene.journal, scene.scene.directory)
        let home = log.partition(of: Self.panel)
        let name = try #require((2...20).map { "panel-\($0)" }.first { log.partition(of: HostKey($0)) != home })
        let lamp = Sports.token("lamp")
        let control = #"{"id":"c","kind":"scores","family":"systemSmall","controlToken":"\#(lamp.hex)"}"#
        func put(_ host: String) async throws -> RouteScene.Answer {
            let body = RouteScene.body(#""host":"\#(host)""#, instances: "[\(control)]")
            return try await Self.put(scene, Self.phone, try scene.key.providerToken(), body)
        }
        #expect(try await put("panel-1").status == 200)

        journal.observeAppends(home) { _ in
            journal.failNextAppend(with: JournalError(.unavailable, "the brokers do not answer"))
        }
        #expect(try await put(name).status == 503)
        for token in [Self.phone, lamp] {
            guard case .removed(Sports.app, .moving, let at) = directory.lookup(token) else {
                Issue.record("\(token) is \(directory.lookup(token))")
                continue
            }
            #expect(TokenRemoval.moving.isUnderWay(since: at, now: at + TokenRemoval.moveMax - .milliseconds(1)))
            #expect(!TokenRemoval.moving.isUnderWay(since: at, now: at + TokenRemoval.moveMax))
        }
        let host = try await scene.send("GET", RouteScene.path(Self.phone), try scene.key.providerToken())
        #expect(host.place == ["503", "unavailable"])

        #expect(try await put(name).status == 200)
        #expect(try await Self.tokens(scene, HostKey(name)) == [Self.phone])
        #expect(try await Self.tokens(scene, Self.panel) == nil)
        for token in [Self.phone, lamp] {
            guard case .bound(let binding) = directory.lookup(token) else {
                Issue.record("\(token) is \(directory.lookup(token))")
                continue
            }
            #expect(binding.host == HostKey(name))
        }
    }

    @Test func `a name that has an owner is not taken by a device`() async throws {
        let scene = try await RouteScene(partitions: 4)
        let backEnd = try scene.key.providerToken()
        #expect(try await Self.put(scene, Self.phone, backEnd, Self.body("panel-1")).status == 200)
        let before = try await scene.scene.digests()
        let thief = try scene.key.hostCredential(Self.thief)
        let stolen = #"[{"id":"c","kind":"scores","family":"systemSmall","controlToken":"\#(Self.phone.hex)"}]"#
        let tries: [(String, [String])] = [
            (Self.body("panel-1", #""revision":99"#), ["403", "forbidden", "host"]),
            (Self.body("panel-1", #""addToken":true"#), ["403", "forbidden", "addToken"]),
            (Self.body(nil, #""addToken":true"#), ["403", "forbidden", "addToken"]),
            (Self.body("panel-1", #""replaces":"\#(Self.phone.hex)""#), ["403", "forbidden", "replaces"]),
            (Self.body(nil, #""replaces":"\#(Self.phone.hex)""#), ["403", "forbidden", "replaces"]),
            (RouteScene.body(instances: stolen), ["409", "token-bound", "instances[0].controlToken"]),
        ]
        for (body, place) in tries {
            #expect(try await Self.put(scene, Self.thief, thief, body).place == place, "\(body)")
        }
        #expect(try await scene.scene.digests() == before)
    }

    @Test func `the engine itself holds a host's word to its own host`() async throws {
        let scene = try await RouteScene()
        #expect(
            try await Self.put(scene, Self.phone, try scene.key.providerToken(), Self.body("panel-1")).status == 200
        )
        func answer(_ registrant: Registrant, replacing: DeviceToken? = nil) async throws -> RecordAnswer.Result {
            let registration = HostRegistration(
                host: Self.panel,
                token: Self.thief,
                replacedToken: replacing,
                registrant: registrant,
                revision: 5,
                instances: []
            )
            return try await scene.scene.log.append(.register(registration), for: Self.panel)
        }
        #expect(try await answer(.host) == .refused(.hostOfOtherTokens))
        #expect(try await answer(.host, replacing: Self.phone) == .refused(.hostOfOtherTokens))
        #expect(try await Self.tokens(scene, Self.panel) == [Self.phone])
    }

    @Test func `a back end's registration ends the other tokens, their streams and what waits, and keeps budgets`()
        async throws
    {
        let scene = try await RouteScene()
        let device = try scene.key.hostCredential(Self.thief, of: "panel-1")
        let high = Self.body("panel-1", #""revision":9223372036854775807"#)
        #expect(try await Self.put(scene, Self.thief, device, high).status == 200)
        try await scene.scene.settle()
        let address = InstanceAddress(host: Self.panel, instance: InstanceID("a"))
        var push = Sports.push(1, to: "panel-1")
        push.expiration = Sports.start.seconds + 3600
        _ = try await scene.scene.log.append(.push(push), for: Self.panel)
        let before = try #require(try await scene.scene.log.ask(InstanceQuestion(address)))
        let stream = try scene.scene.streams.subscribe(.host(Self.panel), by: HostStreams.Right(token: Self.thief))

        let backEnd = try scene.key.providerToken()
        let own = try await Self.put(scene, Self.phone, backEnd, Self.body("panel-1", #""revision":1"#))
        #expect(own.body == #"{"host":"panel-1","added":1,"changed":0,"unchanged":0,"removed":1}"#)
        #expect(try await Self.tokens(scene, Self.panel) == [Self.phone])
        #expect(try await scene.send("GET", RouteScene.path(Self.thief), device).place == ["410", "gone"])
        for await _ in stream.events {}
        #expect(scene.scene.streams.counters.revoked == 1)
        let after = try #require(try await scene.scene.log.ask(InstanceQuestion(address)))
        #expect(after.budget.charged == before.budget.charged)
        let id = push.id
        let view = try await scene.scene.log.askAll(PushesQuestion([id])).joined().first
        #expect(view?.counts[.removed] == 1)
    }

    @Test func `a back end adds a token where it says so, and its own later word takes it away`() async throws {
        let scene = try await RouteScene()
        let backEnd = try scene.key.providerToken()
        #expect(try await Self.put(scene, Self.phone, backEnd, Self.body("panel-1")).status == 200)
        let second = Self.body("panel-1", #""addToken":true"#)
        let added = try await Self.put(scene, Self.thief, backEnd, second)
        #expect(added.body == #"{"host":"panel-1","added":0,"changed":0,"unchanged":1,"removed":0}"#)
        #expect(try await Self.tokens(scene, Self.panel) == [Self.phone, Self.thief])
        #expect(try await Self.put(scene, Self.phone, backEnd, second).status == 200)
        #expect(try await Self.tokens(scene, Self.panel) == [Self.phone, Self.thief])
        #expect(try await Self.put(scene, Self.phone, backEnd, Self.body("panel-1")).status == 200)
        #expect(try await Self.tokens(scene, Self.panel) == [Self.phone])
        #expect(try await scene.send("GET", RouteScene.path(Self.thief), backEnd).place == ["410", "gone"])
    }

    @Test func `a host whose token changes needs the right to both`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let body = Self.body("phone", #""replaces":"\#(Self.phone.hex)""#)
        let tablet = Sports.token("tablet")
        let old = try scene.key.hostCredential(Self.phone, of: "phone")
        #expect(try await Self.put(scene, tablet, old, body).place == ["403", "forbidden"])
        let unnamed = try scene.key.hostCredential(tablet)
        #expect(try await Self.put(scene, tablet, unnamed, body).place == ["403", "forbidden", "replaces"])
        let new = try scene.key.hostCredential(tablet, of: "phone")
        let answer = try await Self.put(scene, tablet, new, body)
        #expect(answer.body == #"{"host":"phone","added":0,"changed":0,"unchanged":1,"removed":0}"#)
        #expect(try await scene.send("GET", RouteScene.path(tablet), new).status == 200)
        #expect(try await scene.send("GET", RouteScene.path(Self.phone), old).place == ["410", "gone"])
    }

    @Test func `a revision of the host's own keeps its back end out no longer, the other way round it does`()
        async throws
    {
        let scene = try await RouteScene()
        let device = try scene.key.hostCredential(Self.phone, of: "panel-1")
        let backEnd = try scene.key.providerToken()
        #expect(try await Self.put(scene, Self.phone, device, Self.body("panel-1", #""revision":7"#)).status == 200)
        #expect(try await Self.put(scene, Self.phone, backEnd, Self.body("panel-1", #""revision":3"#)).status == 200)
        let older = try await Self.put(scene, Self.phone, device, Self.body("panel-1", #""revision":2"#))
        #expect(older.place == ["409", "stale-revision", "revision"])
        let own = try await Self.put(scene, Self.phone, backEnd, Self.body("panel-1", #""revision":2"#))
        #expect(own.place == ["409", "stale-revision", "revision"])
    }
}

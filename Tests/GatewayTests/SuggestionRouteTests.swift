import Delivery
import Engine
import HTTPTransport
import IntentMatching
import Partitions
import Serving
import Synchronization
import Testing
import WidgetModel

/// `GET /v1/hosts/<token>/suggestions` from the route down, over a provider that says what a test wants.
@Suite struct SuggestionRouteTests {
    private struct Unreachable: Error {}

    private static let phone = Sports.token("phone")
    private static let secret = KindKey(app: Sports.otherApp, kind: Sports.secret.kind)

    private struct Scene {
        let routes: RouteScene
        let provider: ProviderScene

        /// A phone that shows the Seahawks.
        init(keys: [KindKey] = [ProviderScene.key], galleryAge: Interval = .hours(1)) async throws {
            let owners = try await OwnerScene.started(partitions: 2)
            self.provider = try ProviderScene(owners, keys: keys, galleryAge: galleryAge)
            self.routes = try RouteScene(owners, providers: self.provider.providers)
            try await self.place(["seahawks"])
        }

        func place(_ teams: [String]) async throws {
            let instances = teams.map {
                #"{"id":"\#($0)","kind":"scores","family":"systemSmall","configuration":{"team":"\#($0)"}}"#
            }
            let body = RouteScene.body(
                #""host":"phone""#,
                instances: "[\(instances.joined(separator: ","))]"
            )
            #expect(try await self.send("PUT", "widgets", body).status == 200)
        }

        func send(_ method: String, _ rest: String, _ body: String = "") async throws -> RouteScene.Answer {
            let credential = try self.routes.key.hostCredential(phone, of: "phone")
            return try await self.routes.send(method, RouteScene.path(phone, rest), credential, body)
        }

        /// The teams that are suggested.
        func teams(_ query: String = "") async throws -> [JSONValue?] {
            let answer = try await self.send("GET", "suggestions\(query)")
            guard case .array(let suggestions) = try json(answer.body)["suggestions"] else {
                return [.string(answer.body)]
            }
            return suggestions.map { $0["configuration"]?["team"] }
        }

        /// Answers each question with its text, and one without a text with an error.
        func reply(_ texts: [String: String]) {
            self.provider.reply { body in
                guard case .string(let question)? = body["question"], let text = texts[question] else {
                    throw Unreachable()
                }
                return ProviderScene.response(200, #"{"answers":[{"id":"1","\#(question)":\#(text)}]}"#)
            }
        }

        func say(relevant teams: String...) {
            let attributes = teams.map { #"{"configuration":{"team":"\#($0)"}}"# }
            self.reply(["relevance": "[\(attributes.joined(separator: ","))]"])
        }

        func fail() { self.reply([:]) }

        /// How often the provider was asked for relevance.
        var questions: Int { self.provider.asked.count { $0["question"] == .string("relevance") } }

        func pass(_ interval: Interval) { self.provider.scene.time.pass(interval) }
    }

    private static func strings(_ strings: String...) -> [JSONValue?] { strings.map { .string($0) } }

    @Test func `what is relevant and not placed is told, with its time and its description`() async throws {
        let scene = try await Scene()
        scene.reply([
            "relevance": #"""
            [{"configuration":{"team":"seahawks"}},{"configuration":{"team":"rams"},"to":"2026-11-02T18:00:00Z"},
             {"configuration":{"team":"bears","league":"nfl"},"from":"2026-11-02T17:30:00Z"},
             {"configuration":{"team":5}},{"configuration":{"team":"lions"},"context":"sleep"}]
            """#,
            "recommendations": #"[{"configuration":{"team":"rams"},"description":"Rams"}]"#,
        ])
        let now = try await scene.send("GET", "suggestions")
        #expect(
            now.body
                == #"{"at":"2026-11-02T17:00:00Z","suggestions":[{"kind":"scores","configuration":{"team":"rams"},"#
                + #""description":"Rams","until":"2026-11-02T18:00:00Z"}],"leftOut":1}"#
        )
        #expect(try await scene.teams("?at=2026-11-02T17:30:00Z") == Self.strings("rams", "bears"))
        #expect(try await scene.teams("?at=2026-11-02T17:30:00Z&limit=1") == Self.strings("rams"))
        let later = try await scene.send("GET", "suggestions?at=2026-11-02T18:00:00Z")
        #expect(
            later.body
                == #"{"at":"2026-11-02T18:00:00Z","suggestions":[{"kind":"scores","#
                + #""configuration":{"league":"nfl","team":"bears"},"from":"2026-11-02T17:30:00Z"}],"leftOut":1}"#
        )
    }

    @Test func `placing one takes it out, removing it brings it back`() async throws {
        let scene = try await Scene()
        scene.say(relevant: "rams", "seahawks", "bears")
        #expect(try await scene.teams() == Self.strings("rams", "bears"))
        try await scene.place(["seahawks", "rams"])
        #expect(try await scene.teams() == Self.strings("bears"))
        try await scene.place([])
        #expect(try await scene.teams() == Self.strings("rams", "seahawks", "bears"))
        #expect(scene.questions == 1)
    }

    @Test func `relevance is kept for a day at most, however long other answers are`() async throws {
        let scene = try await Scene(galleryAge: .days(7))
        scene.say(relevant: "rams")
        #expect(try await scene.teams() == Self.strings("rams"))
        scene.say(relevant: "bears")
        scene.pass(.hours(24) - .milliseconds(1))
        #expect(try await scene.teams() == Self.strings("rams"))
        scene.pass(.milliseconds(1))
        #expect(try await scene.teams() == Self.strings("bears"))
        #expect(scene.questions == 2)
    }

    @Test func `after a push to the kind, or to all, the next question asks anew, and only that`() async throws {
        let scene = try await Scene()
        scene.say(relevant: "rams")
        #expect(try await scene.teams() == Self.strings("rams"))
        let pushed = try #require(scene.routes.apps[Sports.app]).pushedKinds
        for (number, kind) in [Sports.scores.kind, nil].enumerated() {
            pushed.noteKind(kind)
            pushed.noteKind(kind)
            for _ in 0..<2 { #expect(try await scene.teams() == Self.strings("rams")) }
            #expect(scene.questions == 2 + number)
        }
        pushed.noteKind(WidgetKind("character"))
        #expect(try await scene.teams() == Self.strings("rams"))
        #expect(scene.questions == 3)
    }

    @Test func `after an invalidation the next question asks anew`() async throws {
        let scene = try await Scene()
        scene.say(relevant: "rams")
        #expect(try await scene.teams() == Self.strings("rams"))
        scene.say(relevant: "bears")
        let path = "/v1/apps/com.example.scores/invalidate-relevance"
        let told = try await scene.routes.send("POST", path, try scene.routes.key.providerToken())
        #expect(told.status == 200)
        // The other nodes are told as well.
        #expect(scene.provider.announced == [.invalidated(InvalidationRequest(.relevance, app: Sports.app))])
        #expect(try await scene.teams() == Self.strings("bears"))
    }

    @Test func `a provider that fails leaves what it said before; one that never said anything is named`() async throws
    {
        let scene = try await Scene()
        scene.fail()
        let never = try await scene.send("GET", "suggestions")
        #expect(never.body == #"{"at":"2026-11-02T17:00:00Z","suggestions":[],"unanswered":["scores"]}"#)
        scene.say(relevant: "rams")
        #expect(try await scene.teams() == Self.strings("rams"))
        scene.fail()
        try #require(scene.routes.apps[Sports.app]).pushedKinds.noteKind(nil)
        #expect(try await scene.teams() == Self.strings("rams"))
        scene.provider.providers.gallery.invalidate(InvalidationRequest(.relevance, app: Sports.app))
        #expect(try await scene.teams() == Self.strings("rams"))
        scene.pass(.days(2))
        #expect(try await scene.teams() == Self.strings("rams"))
        #expect(scene.questions == 5)
        scene.say(relevant: "bears")
        #expect(try await scene.teams() == Self.strings("bears"))
    }

    @Test func `what is relevant from the provider's now on is suggested at once`() async throws {
        let scene = try await Scene()
        scene.provider.reply { [time = scene.provider.scene.time] body in
            guard case .string(let now)? = body["now"] else { throw Unreachable() }
            time.pass(.milliseconds(5))
            let text = #"[{"configuration":{"team":"rams"},"from":"\#(now)"}]"#
            return ProviderScene.response(200, #"{"answers":[{"id":"1","relevance":\#(text)}]}"#)
        }
        scene.pass(.milliseconds(1))
        #expect(try await scene.teams() == Self.strings("rams"))
    }

    @Test func `kinds of another app are not asked about`() async throws {
        let scene = try await Scene(keys: [ProviderScene.key, Self.secret])
        scene.say(relevant: "rams")
        #expect(try await scene.teams() == Self.strings("rams"))
        #expect(scene.provider.asked.allSatisfy { $0["app"] == .string(Sports.app.rawValue) })
    }

    @Test func `without a provider there is nothing to suggest`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let path = RouteScene.path(Self.phone, "suggestions?at=2026-11-02T18:00:00Z")
        let answer = try await scene.send("GET", path, try scene.key.hostCredential(Self.phone))
        #expect(answer.body == #"{"at":"2026-11-02T18:00:00Z","suggestions":[]}"#)
    }

    @Test func `what is wrong with a request is told, and other teams' suggestions are not to be seen`() async throws {
        let scene = try await Scene()
        #expect(try await scene.send("GET", "suggestions?at=noon").place == ["400", "bad-request", "at"])
        #expect(try await scene.send("GET", "suggestions?limit=0").place == ["400", "bad-request", "limit"])
        #expect(try await scene.send("POST", "suggestions").place == ["405", "method-not-allowed"])
        let path = RouteScene.path(Self.phone, "suggestions")
        let other = try scene.routes.key.hostCredential(Sports.token("tablet"))
        #expect(try await scene.routes.send("GET", path, other).status == 404)
        #expect(try await scene.routes.send("GET", path, nil).status == 401)
        #expect(scene.questions == 0)
    }
}

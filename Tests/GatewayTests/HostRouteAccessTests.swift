import Engine
import Ingest
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// Rights on the host listener's routes.
@Suite struct HostRouteAccessTests {
    private static let phone = Sports.token("phone")
    private static let tablet = Sports.token("tablet")
    private static let control = #"[{"id":"c","kind":"scores","family":"systemSmall","controlToken":"c0c0"}]"#

    /// All but the registration.
    static let hostRoutes = [
        ("GET", "widgets"), ("DELETE", "widgets"), ("GET", "state"), ("GET", "stack"), ("GET", "suggestions"),
        ("GET", "events"), ("POST", "signals"), ("PUT", "widgets/a/timeline"),
    ]

    static let appRoutes = [
        ("POST", "hosts"), ("GET", "hosts"), ("GET", "widgets"), ("POST", "reload"), ("POST", "invalidate-relevance"),
        ("POST", "invalidate-recommendations"), ("GET", "events"), ("POST", "acknowledgements"),
    ]

    @Test func `a host uses its own routes with its own credential`() async throws {
        let scene = try await RouteScene()
        #expect(
            try await scene.register("phone").body
                == #"{"host":"phone","added":1,"changed":0,"unchanged":0,"removed":0}"#
        )
        let credential = try scene.key.hostCredential(Self.phone)
        let bodies = ["signals": #"{"signal":"appForeground"}"#, "widgets/a/timeline": "{}"]
        for (method, route) in Self.hostRoutes where method != "DELETE" {
            let answer = try await scene.send(
                method,
                RouteScene.path(Self.phone, route),
                credential,
                bodies[route] ?? ""
            )
            #expect([200, 204].contains(answer.status), "\(method) \(route): \(answer)")
        }
        #expect(try await scene.send("DELETE", RouteScene.path(Self.phone), credential).status == 204)
        #expect(try await scene.send("GET", RouteScene.path(Self.phone), credential).place == ["410", "gone"])
    }

    @Test func `to others a host looks like one that does not exist`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let untrusted = [
            try scene.key.hostCredential(Self.tablet), try scene.otherKey.providerToken(),
            try scene.otherKey.hostCredential(Self.phone, app: Sports.otherApp),
        ]
        for stranger in untrusted {
            let unknown = try await scene.send("GET", RouteScene.path(Sports.token("desktop")), stranger)
            #expect(unknown.place == ["404", "unknown-host"])
            for (method, route) in Self.hostRoutes {
                #expect(try await scene.send(method, RouteScene.path(Self.phone, route), stranger) == unknown)
            }
        }
    }

    /// So that a slip in a credential is found where it is shown.
    @Test func `a refusal says who asked, and with which right`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        func detail(_ method: String, _ path: String, _ credential: String, _ body: String = "") async throws -> String
        {
            guard case .string(let text) = try json(try await scene.send(method, path, credential, body).body)["detail"]
            else { return "" }
            return text
        }
        let tablet = try scene.key.hostCredential(Self.tablet, of: "tablet")
        let asTablet =
            #"the request came with a host credential of com.example.scores for the push token \#(Self.tablet)"#
            + #" of the host "tablet""#
        let asOther =
            "the request came with a provider token of the team \(Sports.otherTeam), key OTHERKEY00,"
            + " which may act for hosts of \(Sports.otherApp)"
        let path = RouteScene.path(Self.phone)
        let missing = "no host with this push token is registered; "
        #expect(try await detail("GET", path, tablet) == missing + asTablet)
        #expect(try await detail("GET", path, try scene.otherKey.providerToken()) == missing + asOther)
        let app = "/v1/apps/\(Sports.app)"
        let needed = "needs a provider token of the app's team"
        #expect(try await detail("GET", "\(app)/widgets", tablet) == "this route \(needed); \(asTablet)")
        #expect(
            try await detail("POST", "\(app)/kinds/scores/timelines", tablet) == "this callback \(needed); \(asTablet)"
        )
        #expect(
            try await detail("GET", "\(app)/kinds/scores/placeholder", try scene.otherKey.providerToken())
                == "the gateway does not serve the app \"\(Sports.app)\"; \(asOther)"
        )
        #expect(
            try await detail("PUT", path, tablet, RouteScene.body())
                == "the credential is not for this push token of \(Sports.app); \(asTablet)"
        )
        #expect(
            try await detail("PUT", path, try scene.otherKey.providerToken(), RouteScene.body())
                == "the credential is not for \(Sports.app); \(asOther)"
        )
        #expect(
            try await detail("GET", "/v1/pushes/00000000-0000-0007-0000-000000000001", tablet)
                == "the outcomes of pushes need a provider token; \(asTablet)"
        )
        try scene.use(scene.key.known(actions: [.devices]))
        #expect(
            try await detail("GET", path, try scene.key.providerToken())
                == "\(missing)the request came with a provider token of the team \(Sports.team), key ABC123DEFG,"
                + " which may not act for hosts (`allows`)"
        )
    }

    @Test(
        arguments: [
            (
                #"{"iss":"TEAM123456","aud":"freshet-hots"}"#, "aud is not freshet-host",
                "the claim aud belongs to another"
            ),
            (
                #"{"iss":"TEAM123456","aud":"freshet-host","app":"a"}"#, "sub is not a push token",
                "the claim aud belongs to"
            ),
            (#"{"iat":1}"#, "aud is not freshet-host", "iss is missing"),
        ]
    )
    func `a token that is of neither kind is told what it lacks for each`(
        claims: String,
        host: String,
        provider: String
    ) async throws {
        let scene = try await RouteScene()
        let answer = try await scene.send("GET", RouteScene.path(Self.phone), try scene.key.token(claims))
        #expect(answer.place == ["401", "invalid-credential"])
        #expect(answer.body.contains("as a host credential: \(host)"), "\(answer.body)")
        #expect(answer.body.contains("as a provider token: \(provider)"), "\(answer.body)")
    }

    @Test func `what is no token is told so once`() async throws {
        let scene = try await RouteScene()
        let answer = try await scene.send("GET", RouteScene.path(Self.phone), "bearer abc")
        #expect(try json(answer.body)["detail"] == .string("the token does not have three parts"))
    }

    @Test func `an app's routes are for its back end alone`() async throws {
        let scene = try await RouteScene()
        let host = try scene.key.hostCredential(Self.phone)
        let other = try scene.otherKey.providerToken()
        for (method, route) in Self.appRoutes {
            let path = "/v1/apps/\(Sports.app)/\(route)"
            #expect(try await scene.send(method, path, host).place == ["403", "forbidden"])
            #expect(try await scene.send(method, path, other).place == ["403", "forbidden"])
            #expect(try await scene.send(method, path, nil).place == ["401", "missing-credential"])
        }
    }

    @Test func `which apps are served is not told to untrusted peers`() async throws {
        let scene = try await RouteScene()
        let served = try await scene.send("GET", "/v1/apps/\(Sports.app)/widgets", nil)
        #expect(try await scene.send("GET", "/v1/apps/com.example.unserved/widgets", nil) == served)
    }

    @Test func `the kinds of an app are not told to others`() async throws {
        let scene = try await RouteScene()
        let body = RouteScene.body(
            app: Sports.otherApp,
            instances: #"[{"id":"a","kind":"guess","family":"systemSmall"}]"#
        )
        for credential in [try scene.key.hostCredential(Self.phone), try scene.key.providerToken()] {
            let answer = try await scene.send("PUT", RouteScene.path(Self.phone), credential, body)
            #expect(answer.place == ["403", "forbidden", "app"])
            #expect(!answer.body.contains("secret"))
        }
    }

    @Test func `a host registers no token but its own`() async throws {
        let scene = try await RouteScene()
        let credential = try scene.key.hostCredential(Self.phone)
        let answer = try await scene.send("PUT", RouteScene.path(Self.tablet), credential, RouteScene.body())
        #expect(answer.place == ["403", "forbidden"])
    }

    @Test func `the credential of a token without a host opens no other host`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        let credential = try scene.key.hostCredential(Self.tablet)
        let body = RouteScene.body(#""replaces":"\#(Self.tablet.hex)""#, instances: "[]")
        #expect(
            try await scene.send("PUT", RouteScene.path(Self.phone), credential, body).place == ["403", "forbidden"]
        )
    }

    @Test func `a token of another host is no control's token`() async throws {
        let scene = try await RouteScene(partitions: 4)
        try await scene.register("phone")
        for name in ["tablet", "watch", "desktop", "car"] {
            let token = Sports.token(name)
            let stolen = #"[{"id":"c","kind":"scores","family":"systemSmall","controlToken":"\#(Self.phone.hex)"}]"#
            let answer = try await scene.send(
                "PUT",
                RouteScene.path(token),
                try scene.key.hostCredential(token, of: name),
                RouteScene.body(#""host":"\#(name)""#, instances: stolen)
            )
            #expect(answer.place == ["409", "token-bound", "instances[0].controlToken"])
        }
        guard case .bound(let entry) = scene.scene.directory.lookup(Self.phone) else {
            Issue.record("the token was lost")
            return
        }
        #expect(entry.host == HostKey("phone"))
        #expect(entry.instance == nil)
    }

    @Test func `a control's token is not its host's`() async throws {
        let scene = try await RouteScene()
        let credential = try scene.key.hostCredential(Self.phone)
        let body = RouteScene.body(instances: Self.control)
        for _ in 0..<2 {
            #expect(try await scene.send("PUT", RouteScene.path(Self.phone), credential, body).status == 200)
        }
        let control = DeviceToken(bytes: [0xC0, 0xC0])
        for caller in [try scene.key.hostCredential(control), try scene.key.providerToken()] {
            for (method, route) in Self.hostRoutes {
                let answer = try await scene.send(method, RouteScene.path(control, route), caller)
                #expect(answer.place == ["404", "unknown-host"])
            }
        }
        #expect(try await scene.send("GET", RouteScene.path(Self.phone), credential).status == 200)
    }

    @Test func `a back end acknowledges reloads of its own hosts only`() async throws {
        let scene = try await RouteScene()
        try await scene.register("phone")
        try await scene.scene.settle()
        let id = try #require(scene.scene.handedOn.first?.id)
        let lines = #"{"reload":"\#(id)"}"# + "\n" + #"{"reload":"0-1-999-00000000"}"#
        let path = "/v1/apps/\(Sports.otherApp)/acknowledgements"
        #expect(
            try await scene.send("POST", path, try scene.otherKey.providerToken(), lines).body
                == #"{"acknowledged":0,"unknown":2}"#
        )
        #expect(
            try await scene.send(
                "POST",
                "/v1/apps/\(Sports.app)/acknowledgements",
                try scene.key.providerToken(),
                lines
            ).body == #"{"acknowledged":1,"unknown":1}"#
        )
    }

    @Test func `an import takes lines of the app in the path only`() async throws {
        let scene = try await RouteScene()
        let lines = [
            RouteScene.body(#""token":"0a0a","host":"one""#), RouteScene.body(#""token":"0b0b""#, app: Sports.otherApp),
            RouteScene.body(#""token":"xx""#), "not json", RouteScene.body(#""token":"0c0c","host":"two""#),
        ]
        let answer = try await scene.send(
            "POST",
            "/v1/apps/\(Sports.app)/hosts",
            try scene.key.providerToken(),
            lines.joined(separator: "\n") + "\n\n"
        )
        let statuses = try answer.body.split(separator: "\n").map { try json(String($0))["status"] }
        #expect(answer.status == 200)
        #expect(statuses == [200, 403, 400, 400, 200].map { .int($0) })
    }

    @Test func `a push is asked about with a provider token`() async throws {
        let scene = try await RouteScene()
        let path = "/v1/pushes/00000000-0000-0007-0000-000000000001"
        #expect(try await scene.send("GET", path, nil).place == ["401", "missing-credential"])
        let host = try scene.key.hostCredential(Self.phone)
        #expect(try await scene.send("GET", path, host).place == ["403", "forbidden"])
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        _ = try await scene.scene.log.appendToAll(.push(push))
        #expect(try await scene.send("GET", path, try scene.key.providerToken()).status == 200)
        #expect(try await scene.send("GET", path, try scene.otherKey.providerToken()).place == ["404", "not-found"])
    }
}

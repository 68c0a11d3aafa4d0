import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import OperatorAPI
import Partitions
import Serving
import TLS
import TestSupport
import Testing
import Timelines
import WidgetModel

/// A sender's key that reads: what it is told on the ops listener, and what it never is.
@Suite struct TeamReaderTests {
    /// Requests of its caller name another team's things, or things that do not exist.
    private struct Names: Sendable {
        let team: String
        let app: String
        let kind: String
        let host: String
        let push: String
        let key: String

        static let own = Names(
            team: Sports.team.rawValue,
            app: Sports.app.rawValue,
            kind: "scores",
            host: "host-1",
            push: PushID(high: 7, low: 1).description,
            key: "ABC123DEFG"
        )
        static let rival = Names(
            team: Sports.otherTeam.rawValue,
            app: Sports.otherApp.rawValue,
            kind: "secret",
            host: "rival-host",
            push: PushID(high: 9, low: 1).description,
            key: "OTHERKEY00"
        )
        /// As long as those of the rival, so that answers are alike to the byte.
        static let nobody = Names(
            team: "GHOST12345",
            app: "com.example.ghost",
            kind: "ghosts",
            host: "ghost-host",
            push: PushID(high: 9, low: 9).description,
            key: "GHOSTKEY00"
        )

        var instance: String { "\(self.host):w1" }
        var token: String { Sports.token(self.host).hex }

        func value(_ name: String) -> String? {
            switch name {
            case "team", "sender": self.team
            case "app": self.app
            case "kind": self.kind
            case "host": self.host
            case "instance": self.instance
            case "push": self.push
            case "key": self.key
            case "token": self.token
            default: nil
            }
        }

        /// A text without these names in it.
        func removed(from text: String) -> String {
            [self.team, self.app, self.host, self.push, self.key, self.token, self.kind]
                .reduce(text) { $0.replacing($1, with: "…") }
        }
    }

    private static let operators = ["boss-boss-boss-boss-boss admin boss"]
    /// Words of the operators and the other team, which no answer may have.
    private static let rivals = [
        Sports.otherTeam.rawValue, Sports.otherApp.rawValue, "rival", Names.rival.push, "OTHERKEY00",
        "night-shift", "203.0.113.9", "order-17",
    ]

    private struct Scene {
        let operators: OperatorScene
        let key: TestKey
        let senders: SenderDirectory
        let token: String

        func request(_ method: String, _ target: String, _ authorization: String? = nil) -> HTTPRequest {
            var request = OperatorScene.request(method, target, ["PUT", "POST"].contains(method) ? "{}" : "")
            request.headers.append("authorization", authorization ?? self.token)
            return request
        }

        /// The answer; of a list all pages as one, since a busy machine cuts them short.
        func send(_ method: String, _ target: String, _ authorization: String? = nil) async throws -> (
            status: Int, text: String
        ) {
            let request = self.request(method, target, authorization)
            let response = await self.operators.routes.respond(to: request)
            OpenAPI.document.check(request, response)
            guard case .bytes(let bytes) = response.body else { return (response.status, "") }
            let text = String(decoding: bytes, as: UTF8.self)
            guard response.status == 200, response.headers["content-type"] == "application/json",
                case .object(var members) = try json(text)
            else { return (response.status, text) }
            let lists = ["instances", "hosts", "pushes", "decisions"]
            while case .string(let next)? = JSONValue.object(members)["next"] {
                let page = try await self.operators.send(
                    self.request(method, target + (target.contains("?") ? "&" : "?") + "cursor=\(next)", authorization)
                )
                members.removeAll { $0.name == "next" }
                for (index, member) in members.enumerated() where lists.contains(member.name) {
                    guard case .array(let rows) = member.value, case .array(let more)? = page.json[member.name] else {
                        continue
                    }
                    members[index] = JSONValue.Member(name: member.name, value: .array(rows + more))
                }
                if let further = page.json["next"] { members.append(JSONValue.Member(name: "next", value: further)) }
            }
            return (response.status, String(decoding: JSONValue.object(members).jsonText, as: UTF8.self))
        }
    }

    private static func reader(_ key: TestKey, topics: [String]? = nil) -> SenderDirectory.Key {
        key.known(actions: [.all, .reads], topics: topics)
    }

    /// Two teams with everything that a route could tell.
    private static func scene() async throws -> Scene {
        let key = try TestKey(Names.own.key)
        let other = try TestKey(Names.rival.key, Sports.otherTeam)
        let senders = SenderDirectory(keys: [Self.reader(key), other.known(Sports.otherApp, number: 1)])
        let operators = try await OperatorScene(tokens: Self.operators, senders: senders)
        let scene = operators.scene
        try await operators.watch.countSenders(by: scene.log)
        let own = HostKey(Names.own.host)
        _ = try await scene.log.append(
            .register(Sports.registration(Names.own.host, [Sports.instance("w1")])),
            for: own
        )
        let rival = HostKey(Names.rival.host, of: Sports.otherApp)
        let secret = InstanceRegistration(
            id: InstanceID("w1"),
            kind: Sports.secret.kind,
            family: .systemSmall,
            configuration: Configuration([Configuration.Parameter(name: "account", value: .string("rival-account"))])
        )
        let registration = HostRegistration(
            host: rival,
            token: Sports.token(Names.rival.host),
            revision: 1,
            instances: [secret]
        )
        _ = try await scene.log.append(.register(registration), for: rival)
        try await operators.acknowledgeAll()
        scene.time.pass(.hours(1))
        _ = try await scene.log.append(.push(Sports.push(1, to: Names.own.host)), for: own)
        // Also one with the same id as the reader's own.
        for id in [PushID(high: 9, low: 1), PushID(high: 7, low: 1)] {
            let push = PushRecord(
                id: id,
                team: Sports.otherTeam,
                contentHash: 9,
                priority: .high,
                target: .host(rival, nil)
            )
            _ = try await scene.log.append(.push(push), for: rival)
        }
        for scope in [
            OrderScope.app(Sports.otherApp), .sender(Sports.otherTeam), .kind(Sports.app, Sports.scores.kind),
        ] {
            var order = OperatorOrder(.pause(until: nil), scope)
            order.source = OperatorSource(caller: "night-shift", address: "203.0.113.9", request: "order-17")
            _ = try await scene.log.carryOut(order)
        }
        operators.states.noteFindings(
            [.inThePast(count: 1)],
            of: InstanceAddress(host: rival, instance: secret.id),
            KindKey(app: Sports.otherApp, kind: Sports.secret.kind),
            at: scene.time.wall
        )
        try await scene.settle()
        _ = try await operators.watch.surveys.renew()
        let token = try key.providerToken(issuedAt: scene.time.wall)
        return Scene(operators: operators, key: key, senders: senders, token: token)
    }

    /// A route's address with these names, in the path and in each parameter of the query by itself.
    private static func targets(_ route: RouteSummary, _ names: Names, path: Names? = nil) -> [String] {
        var text = route.path
        for name in ["team", "app", "kind", "host", "instance", "push", "key"] {
            text = text.replacing("{\(name)}", with: (path ?? names).value(name) ?? "")
        }
        let queries = route.query.compactMap { name in
            // A host may be named with its app alone.
            names.value(name).map { "\(text)?\(name)=\($0)" + (name == "host" ? "&app=\(names.app)" : "") }
        }
        return [text] + queries
    }

    // MARK: Answers

    /// All but the dashboard's, which need no key.
    private static let routes = OperatorRoutes.routes.filter { $0.right != "every caller" }

    @Test func `of every route it is told what is of its own team, and nothing that names another`() async throws {
        let scene = try await Self.scene()
        #expect(Self.routes.count > 50)
        for route in Self.routes where !route.path.hasSuffix("/events") {
            let isOpen = route.right.hasSuffix("a team's key")
            for target in Self.targets(route, .own) {
                let answer = try await scene.send(route.method, target)
                #expect(isOpen ? answer.status == 200 : answer.status == 403, "\(route) \(target) \(answer)")
                for word in Self.rivals { #expect(!answer.text.contains(word), "\(word) in \(route) \(target)") }
            }
        }
    }

    @Test func `what is another team's looks like what there is not, on every route`() async throws {
        let scene = try await Self.scene()
        for route in Self.routes where !route.path.hasSuffix("openapi.yaml") {
            // With its own names in the path, if there are any, too.
            for path in [nil, Names.own] {
                for (rival, nobody) in zip(
                    Self.targets(route, .rival, path: path),
                    Self.targets(route, .nobody, path: path)
                ) {
                    let theirs = try await scene.send(route.method, rival)
                    let none = try await scene.send(route.method, nobody)
                    #expect(theirs.status == none.status, "\(rival) \(theirs)")
                    #expect(
                        Names.rival.removed(from: theirs.text) == Names.nobody.removed(from: none.text),
                        "\(route.method) \(rival)"
                    )
                }
            }
        }
        for target in [
            "/v1/pushes/\(Names.rival.push)", "/v1/pushes/\(Names.rival.push)/decisions",
            "/v1/pushes/\(Names.rival.push)/events", "/v1/hosts/\(Names.rival.app)/\(Names.rival.host)",
            "/v1/instances/\(Names.rival.app)/\(Names.rival.instance)",
            "/v1/instances/\(Names.rival.app)/\(Names.rival.instance)/why",
            "/v1/hosts?app=\(Names.rival.app)", "/v1/pushes?sender=\(Names.rival.team)", "/v1/kinds/secret",
        ] {
            #expect(try await scene.send("GET", target).status == 404, "\(target)")
        }
        let host = try await scene.send("GET", "/v1/hosts?token=\(Names.rival.token)")
        #expect(host.status == 200 && host.text.contains(#""hosts":[]"#))
    }

    @Test func `an operator is told of both teams`() async throws {
        let scene = try await Self.scene()
        for target in [
            "/v1/apps", "/v1/kinds", "/v1/instances", "/v1/hosts", "/v1/pushes", "/v1/orders", "/v1/budget",
            "/v1/pushes/\(Names.own.push)/decisions",
        ] {
            let answer = try await scene.send("GET", target, "bearer boss-boss-boss-boss-boss")
            #expect(answer.text.contains(Names.own.app) && answer.text.contains(Names.rival.app), "\(target)")
        }
    }

    @Test func `it sees its apps, kinds, widgets, hosts, pushes, costs and pauses`() async throws {
        let scene = try await Self.scene()
        for (target, words) in [
            ("/v1/session", [#""team":"ABCDE12345""#, #""scopes":["read"]"#, "key ABC123DEFG of ABCDE12345"]),
            ("/v1/apps", [#""app":"com.example.scores""#, #""instances":1"#, #""behind":1"#]),
            ("/v1/kinds", [#""kind":"scores""#, #""paused":{"#]),
            ("/v1/budget", [#""instances":1,"#, #""kind":"scores""#]),
            ("/v1/instances", [#""id":"com.example.scores/host-1:w1""#]),
            ("/v1/instances?state=behind", [#""id":"com.example.scores/host-1:w1""#]),
            ("/v1/hosts", [#""host":"host-1""#]), ("/v1/hosts?host=host-1", [#""host":"host-1""#]),
            ("/v1/hosts?token=\(Names.own.token)", [#""host":"host-1""#]),
            ("/v1/pushes", [Names.own.push, #""team":"ABCDE12345""#]),
            ("/v1/pushes?sender=ABCDE12345", [Names.own.push]),
            ("/v1/pushes/\(Names.own.push)", [#""matched":1"#]),
            ("/v1/pushes/\(Names.own.push)/decisions", [#""instance":"com.example.scores/host-1:w1""#]),
            ("/v1/senders", [#""team":"ABCDE12345""#]),
            ("/v1/history/senders", [#""senders":[{"team":"ABCDE12345""#]),
            ("/v1/orders", [#""kind":"scores""#]),
            ("/v1/instances/com.example.scores/host-1:w1/why", [#""what":"#]),
        ] {
            let answer = try await scene.send("GET", target)
            #expect(answer.status == 200, "\(target) \(answer)")
            for word in words { #expect(answer.text.contains(word), "\(word) in \(target): \(answer.text)") }
        }
    }

    @Test func `how far the log is, how much of it was read and who paused are for operators`() async throws {
        let scene = try await Self.scene()
        let boss = "bearer boss-boss-boss-boss-boss"
        #expect(try await scene.send("GET", "/v1/apps").text.contains(#""positions":[]"#))
        #expect(try await !scene.send("GET", "/v1/apps", boss).text.contains(#""positions":[]"#))
        let why = "/v1/instances/com.example.scores/host-1:w1/why"
        #expect(try await scene.send("GET", why).text.contains(#""entries":0"#))
        #expect(try await !scene.send("GET", why, boss).text.contains(#""entries":0"#))
        #expect(try await scene.send("GET", "/v1/orders", boss).text.contains("night-shift"))
        let replay = "/v1/instances/com.example.scores/host-1:w1?replay="
        for value in ["true", "false"] {
            #expect(try await scene.send("GET", replay + value).status == 403)
            #expect(try await scene.send("GET", replay + value, boss).status == 200)
        }
    }

    @Test func `lists of several apps come page by page, each row once`() async throws {
        let key = try TestKey(Names.own.key)
        let topics = TopicTable([
            TopicTable.App(number: 0, bundle: Sports.app), TopicTable.App(number: 1, bundle: Sports.otherApp),
        ])
        let sender = Sender(team: Sports.team, keyID: key.id, topics: topics, actions: .reads)
        let senders = SenderDirectory(keys: [
            SenderDirectory.Key(sender: sender, publicKey: key.known().publicKey)
        ])
        let operators = try await OperatorScene(tokens: Self.operators, senders: senders)
        for number in 0..<5 { try await operators.scene.register("host-\(number)", instances: 2) }
        let token = try key.providerToken()
        let scene = Scene(operators: operators, key: key, senders: senders, token: token)
        for (list, count) in [("hosts", 5), ("instances", 10)] {
            for limit in [1, 3, 100] {
                var (rows, cursor): ([String], String?) = ([], "")
                while let next = cursor {
                    let target = "/v1/\(list)?limit=\(limit)" + (next.isEmpty ? "" : "&cursor=\(next)")
                    let answer = try await operators.send(scene.request("GET", target))
                    guard case .array(let page)? = answer.json[list] else {
                        Issue.record("\(answer)")
                        return
                    }
                    rows += page.compactMap {
                        ($0["host"] ?? $0["id"]).map { String(decoding: $0.jsonText, as: UTF8.self) }
                    }
                    if case .string(let text)? = answer.json["next"] { cursor = text } else { cursor = nil }
                }
                #expect(rows.count == count && Set(rows).count == count, "\(list) by \(limit)")
            }
        }
        // A part that there is not.
        #expect(try await scene.send("GET", "/v1/hosts?cursor=4.0").status == 400)
    }

    @Test func `a key that is for some topics reads the apps of those`() async throws {
        let scene = try await Self.scene()
        let control = "com.example.sibling"
        try scene.senders.keys.replace { () throws(TLSError) in [Self.reader(scene.key, topics: [control])] }
        #expect(try await scene.send("GET", "/v1/apps").text.contains(#""apps":[]"#))
        #expect(try await scene.send("GET", "/v1/instances").text.contains(#""instances":[]"#))
        #expect(try await scene.send("GET", "/v1/pushes").text.contains(#""pushes":[]"#))
        #expect(try await scene.send("GET", "/v1/hosts/com.example.scores/host-1").status == 404)
    }

    // MARK: Access

    @Test func `a key that does not read, another's signature and other tokens open nothing`() async throws {
        let scene = try await Self.scene()
        let now = scene.operators.scene.time.wall
        let stranger = try TestKey(Names.own.key)
        let other = try TestKey(Names.rival.key, Sports.otherTeam)
        for authorization in [
            try stranger.providerToken(issuedAt: now), try other.providerToken(issuedAt: now),
            try scene.key.providerToken(Sports.otherTeam, issuedAt: now),
            try scene.key.hostCredential(Sports.token("host-1"), issuedAt: now), "bearer a.b.c", "bearer a.b",
        ] {
            let answer = try await scene.send("GET", "/v1/apps", authorization)
            #expect(answer.status == 401 && answer.text.contains("invalid-credential"), "\(answer)")
        }
        try scene.senders.keys.replace { () throws(TLSError) in [scene.key.known()] }
        let idle = try await scene.send("GET", "/v1/apps")
        #expect(idle.status == 401 && idle.text.contains("set its `reads`"), "\(idle)")
    }

    @Test func `a token counts for an hour, as for pushes`() async throws {
        let scene = try await Self.scene()
        #expect(try await scene.send("GET", "/v1/apps").status == 200)
        scene.operators.scene.time.pass(.hours(1))
        #expect(try await scene.send("GET", "/v1/apps").status == 200)
        scene.operators.scene.time.pass(.milliseconds(1))
        let ended = try await scene.send("GET", "/v1/apps")
        #expect(ended.status == 401 && ended.text.contains("expired-credential"), "\(ended)")
        let token = try scene.key.providerToken(issuedAt: scene.operators.scene.time.wall + .minutes(6))
        #expect(try await scene.send("GET", "/v1/apps", token).text.contains("iat is too far in the future"))
    }

    @Test(arguments: [true, false])
    func `a key that ends, or reads no more, is out at once, also of a stream`(isEnded: Bool) async throws {
        let scene = try await Self.scene()
        let target = "/v1/pushes/\(Names.own.push)/events"
        let response = await scene.operators.routes.respond(to: scene.request("GET", target))
        var pieces = try await StreamPieces.of(response).makeAsyncIterator()
        let first = await pieces.next()
        #expect(first?.contains(Names.own.push) == true)
        scene.operators.scene.followers.wake(.heartbeat)
        #expect(await pieces.next() != nil, "the key reads still")
        try scene.senders.keys.replace { () throws(TLSError) in isEnded ? [] : [scene.key.known()] }
        #expect(try await scene.send("GET", "/v1/apps").status == 401)
        scene.operators.scene.followers.wake(.heartbeat)
        #expect(await pieces.next() == nil)
        #expect(scene.operators.scene.followers.count == 0)
    }

    @Test func `a stream ends with its token`() async throws {
        let scene = try await Self.scene()
        let target = "/v1/pushes/\(Names.own.push)/events"
        let response = await scene.operators.routes.respond(to: scene.request("GET", target))
        var pieces = try await StreamPieces.of(response).makeAsyncIterator()
        #expect(await pieces.next() != nil)
        scene.operators.scene.time.pass(.hours(2))
        scene.operators.scene.followers.wake(.heartbeat)
        #expect(await pieces.next() == nil)
    }

    @Test func `so many tokens of senders are looked at on a connection`() async throws {
        let scene = try await Self.scene()
        let refused = RefusedCredentials(max: 3, perSecond: 1) { 7 }
        let stranger = try TestKey(Names.own.key)
        func code(_ authorization: String) -> String {
            var request = HTTPRequest(method: "GET", target: "/v1/apps", refusedCredentials: refused)
            request.headers.append("authorization", authorization)
            return problem { () throws(Problem) in try scene.operators.access.visitor(of: request) }?.detail ?? "good"
        }
        for _ in 0..<3 {
            #expect(code(try stranger.providerToken()).contains("not signed by a key of the team"))
            #expect(code(scene.token) == "good")
        }
        #expect(code(try stranger.providerToken()).contains("not signed by a key of the team"))
        #expect(code(scene.token).contains("too many credentials"))
    }

    @Test func `a signature is verified once, by the keys that are in force`() throws {
        let time = FakeTime()
        let key = try TestKey(Names.own.key)
        let senders = SenderDirectory(keys: [Self.reader(key)])
        let tokens = VerifiedCredentials(senders: senders, clock: time.makeClock(), capacity: { 2 }, seed: 7)
        let first = try key.providerToken()
        for _ in 0..<3 {
            _ = try tokens.sender(first)
            #expect(tokens.count == 1)
        }
        for second in 1...3 {
            _ = try tokens.sender(try key.providerToken(issuedAt: Sports.start - .seconds(Int64(second))))
            #expect(tokens.count == 2)
        }
        #expect(problem { () throws(Problem) in try tokens.sender("bearer a.b.c") }?.code == .invalidCredential)
        #expect(tokens.count == 2)
        try senders.keys.replace { () throws(TLSError) in [] }
        #expect(problem { () throws(Problem) in try tokens.sender(first) }?.code == .invalidCredential)
        #expect(tokens.count == 0)
    }
}

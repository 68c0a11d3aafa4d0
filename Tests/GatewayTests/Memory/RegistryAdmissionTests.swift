import Engine
import HTTPTransport
import HostAPI
import OperatorAPI
import Partitions
import Serving
import Settings
import TestSupport
import Testing
import WidgetModel

/// Registrations that add to the registry find room, or are refused; everything else goes on.
@Suite struct RegistryAdmissionTests {
    private static func instances(_ ids: [String]) -> String {
        "[" + ids.map { #"{"id":"\#($0)","kind":"scores","family":"systemSmall"}"# }.joined(separator: ",") + "]"
    }

    /// Registers by the app's back end.
    private static func register(
        _ scene: RouteScene,
        _ host: String,
        _ ids: [String] = ["a"],
        token: String? = nil
    ) async throws -> RouteScene.Answer {
        let body = RouteScene.body(#""host":"\#(host)""#, instances: Self.instances(ids))
        return try await scene.send(
            "PUT",
            RouteScene.path(Sports.token(token ?? host)),
            try scene.key.providerToken(),
            body
        )
    }

    private static func scene(_ body: (inout GatewayConfiguration) -> Void) async throws -> RouteScene {
        try await RouteScene(registry: FakeMemory().watch(FakeMemory.limits(body)))
    }

    @Test(arguments: [false, true])
    func `an app or a team gets as many hosts as it may have, and one more is refused`(isTeam: Bool) async throws {
        let scene = try await Self.scene { configuration in
            if isTeam { configuration.teams[0].hostsMax = 3 } else { configuration.limits.hosts.perApp = 3 }
        }
        for host in ["one", "two", "three"] { #expect(try await Self.register(scene, host).status == 200) }
        let before = try await scene.scene.digests()
        let refused = try await Self.register(scene, "four")
        #expect(refused.place == ["507", "too-many-hosts"])
        let setting = isTeam ? "teams[].maxHosts" : "limits.hosts.perApp"
        #expect(
            refused.body.contains("may have 3 hosts (\(setting)): the registration adds 1 to the 3 that exist ")
        )
        #expect(try await scene.scene.digests() == before, "nothing is logged")
        // A host at the edge replaces what it shows, also with more of it, and with another token.
        #expect(try await Self.register(scene, "two", ["b", "c"]).status == 200)
        #expect(try await Self.register(scene, "two", ["b"], token: "new").status == 200)
        // Another app and team is not concerned.
        let other = try await scene.send(
            "PUT",
            RouteScene.path(Sports.token("other")),
            try scene.otherKey.providerToken(),
            RouteScene.body(#""host":"one""#, app: Sports.otherApp, instances: "[]")
        )
        #expect(other.status == 200, "\(other.body)")
        // Once one has gone there is room for another.
        #expect(
            try await scene.send("DELETE", RouteScene.path(Sports.token("one")), try scene.key.providerToken()).status
                == 204
        )
        #expect(try await Self.register(scene, "four").status == 200)
        #expect(try await Self.register(scene, "five").status == 507)
        #expect(scene.scene.registry?.refused.hosts == 2)
        #expect(scene.routes.problems.all.map { [$0.0.rawValue, "\($0.1)"] } == [["too-many-hosts", "2"]])
    }

    @Test(arguments: [false, true])
    func `an app or a team gets as many instances as it may have`(isTeam: Bool) async throws {
        let scene = try await Self.scene { configuration in
            if isTeam { configuration.limits.instances.perTeam = 4 } else { configuration.apps[0].instancesMax = 4 }
        }
        #expect(try await Self.register(scene, "one", ["a", "b"]).status == 200)
        #expect(
            try await Self.register(scene, "two", ["a", "b", "c"]).place == ["507", "too-many-instances", "instances"]
        )
        #expect(try await Self.register(scene, "two", ["a", "b"]).status == 200)
        #expect(try await Self.register(scene, "one", ["a", "b", "c"]).status == 507)
        #expect(try await Self.register(scene, "three", []).status == 200, "a host without one")
        // One for another, fewer, the same again.
        #expect(try await Self.register(scene, "one", ["b", "c"]).status == 200)
        #expect(try await Self.register(scene, "one", ["c"]).status == 200)
        #expect(try await Self.register(scene, "one", ["c", "d"]).status == 200)
        #expect(try await Self.register(scene, "one", ["c", "d"]).status == 200)
        #expect(try await Self.register(scene, "three", ["a"]).status == 507)
        #expect(scene.scene.registry?.refused.instances == 3)
    }

    @Test func `what would be refused anyway is refused for that`() async throws {
        let scene = try await Self.scene { $0.limits.hosts.perApp = 1 }
        #expect(try await Self.register(scene, "one").status == 200)
        #expect(try await Self.register(scene, "two", ["a", "a"]).place.prefix(2) == ["400", "bad-request"])
    }

    @Test func `a host that takes the last token of another one takes its place`() async throws {
        let scene = try await Self.scene { $0.limits.hosts.perApp = 4 }
        // In the same partition or another one.
        for number in 0..<4 { #expect(try await Self.register(scene, "h\(number)").status == 200) }
        for number in 0..<4 {
            let answer = try await Self.register(scene, "new\(number)", token: "h\(number)")
            #expect(answer.status == 200, "\(answer.body)")
        }
        #expect(try await Self.register(scene, "h4").status == 507)
        #expect(try await scene.scene.log.askAll(TotalsQuestion()).map(\.hosts).reduce(0, +) == 4)
    }

    @Test func `lines of an import are refused one by one`() async throws {
        let scene = try await Self.scene { $0.limits.hosts.perApp = 3 }
        #expect(try await Self.register(scene, "one").status == 200)
        let lines = ["two", "one", "three", "four"].map { host in
            RouteScene.body(#""host":"\#(host)","token":"\#(Sports.token(host).hex)""#)
        }
        let path = "/v1/apps/\(Sports.app)/hosts"
        let answer = try await scene.send("POST", path, try scene.key.providerToken(), lines.joined(separator: "\n"))
        let answers = try answer.body.split(separator: "\n").map { try json(String($0)) }
        #expect(answers.map { $0["status"] } == [.int(200), .int(200), .int(200), .int(507)])
        #expect(answers[3]["problem"]?["code"] == .string("too-many-hosts"))
        #expect(answers[0]["registered"]?["host"] == .string("two"))
        #expect(answers[1]["registered"]?["host"] == .string("one"))
    }

    @Test func `registrations side by side do not pass a limit together, and leave nothing reserved`() async throws {
        let scene = try await Self.scene { $0.limits.hosts.perApp = 5 }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<40 {
                group.addTask { try await Self.register(scene, "h\(number)").status }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        let taken = statuses[200] ?? 0
        // One that comes between the application of another and its answer counts that one twice.
        #expect(taken >= 1 && taken <= 5 && statuses[507] == 40 - taken, "\(statuses)")
        #expect(try await scene.scene.log.askAll(TotalsQuestion()).map(\.hosts).reduce(0, +) == taken)
        // Once all are answered there is room for exactly the rest.
        for number in taken..<5 { #expect(try await Self.register(scene, "later\(number)").status == 200) }
        #expect(try await Self.register(scene, "beyond").status == 507)
    }

    @Test func `a log is replayed whatever the limits are`() async throws {
        let scene = try await RouteScene()
        for host in ["one", "two", "three"] { #expect(try await Self.register(scene, host).status == 200) }
        let digests = try await scene.scene.digests()
        let registry = FakeMemory().watch(FakeMemory.limits { $0.limits.hosts.perApp = 1 })
        let again = try RouteScene(scene.scene.restarted(registry: registry))
        _ = try await again.scene.start()
        #expect(try await again.scene.digests() == digests)
        #expect(registry.view.apps.first { $0.app == Sports.app }?.usage.hosts == 3)
        #expect(try await Self.register(again, "four").status == 507)
        #expect(try await Self.register(again, "three", ["b"]).status == 200)
    }

    // MARK: Memory

    @Test func `a full memory refuses what adds and takes everything else`() async throws {
        let memory = FakeMemory()
        let registry = memory.watch()
        let scene = try await RouteScene(registry: registry)
        #expect(try await Self.register(scene, "phone", ["a", "b"]).status == 200)
        try await scene.scene.settle()
        let reload = try #require(scene.scene.handedOn.first?.id).description
        memory.use(mebibytes: 1000)
        registry.measure()
        for (host, ids) in [("tablet", ["a"]), ("phone", ["a", "b", "c"]), ("phone", ["a", "c"])] {
            let answer = try await Self.register(scene, host, ids)
            #expect(answer.place == ["507", "memory-full"], "\(host) \(ids)")
        }
        let (team, credential) = (try scene.key.providerToken(), try scene.key.hostCredential(Sports.token("phone")))
        _ = try await scene.scene.log.append(.push(Sports.push(1, to: "phone")), for: HostKey("phone"))
        let path = RouteScene.path(Sports.token("phone"), "signals")
        #expect(try await scene.send("POST", path, credential, #"{"signal":"appForeground"}"#).status < 300)
        let acknowledgements = "/v1/apps/\(Sports.app)/acknowledgements"
        #expect(try await scene.send("POST", acknowledgements, team, #"{"reload":"\#(reload)"}"#).status < 300)
        #expect(try await Self.register(scene, "phone", ["a", "b"]).status == 200, "the same")
        #expect(try await Self.register(scene, "phone", ["a"]).status == 200, "less")
        #expect(try await scene.send("DELETE", RouteScene.path(Sports.token("phone")), team).status == 204)
        #expect(registry.refused.memory == 3)
        memory.use(mebibytes: 999)
        registry.measure()
        #expect(try await Self.register(scene, "tablet").status == 200)
    }

    @Test func `a team is told its own share, a host none, and both when to come again`() async throws {
        let memory = FakeMemory()
        let registry = memory.watch()
        let scene = try await RouteScene(registry: registry)
        let other = try await scene.send(
            "PUT",
            RouteScene.path(Sports.token("other")),
            try scene.otherKey.providerToken(),
            RouteScene.body(#""host":"one""#, app: Sports.otherApp, instances: "[]")
        )
        #expect(other.status == 200)
        #expect(try await Self.register(scene, "phone").status == 200)
        memory.use(mebibytes: 1000)
        registry.measure()
        let bytes = try #require(registry.view.teams.first { $0.team == Sports.team }).usage.bytes
        let told = try await Self.register(scene, "tablet")
        #expect(
            told.body.contains("\(Sports.team.rawValue) take about \(bytes) of \(1000 * FakeMemory.mebibyte) bytes")
        )
        let host = try await scene.register("watch")
        #expect(host.place == ["507", "memory-full"])
        #expect(!host.body.contains("bytes"))
        for answer in [told, host] {
            #expect(!answer.body.contains(Sports.otherTeam.rawValue) && !answer.body.contains("\(Sports.otherApp)"))
            #expect(try json(answer.body)["retryAfter"] == .int(30))
        }
        var request = HTTPRequest(
            method: "PUT",
            target: RouteScene.path(Sports.token("watch")),
            body: Array(RouteScene.body(#""host":"watch""#).utf8)
        )
        request.headers.append("authorization", try scene.key.hostCredential(Sports.token("watch"), of: "watch"))
        #expect(await scene.routes.respond(to: request).headers["retry-after"] == "30")
    }

    // MARK: Operators

    @Test func `operators see what every team and app has, and what was refused`() async throws {
        let memory = FakeMemory()
        let registry = memory.watch(FakeMemory.limits { $0.teams[0].hostsMax = 7 })
        let scene = try await OperatorScene(registry: registry)
        try await scene.scene.register("phone", instances: 2)
        try await scene.scene.register("tablet", instances: 1)
        memory.use(mebibytes: 850)
        registry.measure()
        registry.addRefused(.memoryFull(team: nil, bytes: 0, limit: 0))
        let stats = try #require(try await scene.send("GET", "/v1/stats").json["memory"])
        #expect(stats["level"] == .string("filling"))
        #expect(stats["usedPercent"] == .int(85))
        #expect(stats["limitBytes"] == .int(Int64(1000 * FakeMemory.mebibyte)))
        #expect(stats["residentBytes"] == .int(Int64(850 * FakeMemory.mebibyte)))
        #expect(stats["refused"]?["memory"] == .int(1))
        let view = registry.view
        let bytes = try #require(view.apps.first { $0.app == Sports.app }).usage.bytes
        #expect(stats["registryBytes"] == .int(Int64(bytes)))
        guard case .array(let teams) = stats["teams"] else {
            Issue.record("no teams")
            return
        }
        #expect(teams.map { $0["team"] } == [.string(Sports.team.rawValue), .string(Sports.otherTeam.rawValue)])
        #expect(teams[0]["hosts"] == .int(2) && teams[0]["instances"] == .int(3))
        #expect(teams[0]["bytes"] == .int(Int64(bytes)) && teams[0]["hostsMax"] == .int(7))
        let apps = try await scene.send("GET", "/v1/apps").json["apps"]
        guard case .array(let apps) = apps else {
            Issue.record("no apps")
            return
        }
        #expect(apps[0]["hosts"] == .int(2) && apps[0]["bytes"] == .int(Int64(bytes)))
        let response = await scene.routes.respond(to: OperatorScene.request("GET", "/metrics"))
        guard case .bytes(let body) = response.body else {
            Issue.record("no metrics")
            return
        }
        let metrics = String(decoding: body, as: UTF8.self)
        let labels = #"{app="\#(Sports.app)",team="\#(Sports.team.rawValue)"}"#
        for line in [
            "freshet_memory_used_percent 85", "freshet_app_hosts\(labels) 2", "freshet_app_instances\(labels) 3",
            "freshet_app_bytes\(labels) \(bytes)", #"freshet_registrations_refused_total{limit="memory"} 1"#,
        ] {
            #expect(metrics.contains("\(line)\n"), "\(line)")
        }
        let tables = EngineTable.allCases.map { table in
            let name = #"freshet_table_bytes{table="\#(table.name)"}"#
            let line = metrics.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(separator: " ").last.flatMap { Int64($0) }
        }
        #expect(tables == EngineTable.allCases.map { table in stats["tables"]?[table.name].flatMap { Self.int($0) } })
        #expect(tables[EngineTable.hosts.rawValue] ?? 0 > 0)
    }

    private static func int(_ value: JSONValue) -> Int64? {
        guard case .int(let number) = value else { return nil }
        return number
    }
}

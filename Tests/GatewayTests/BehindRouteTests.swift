import Engine
import HTTPTransport
import OperatorAPI
import Ownership
import Partitions
import Serving
import Settings
import TestSupport
import Testing
import WidgetModel

/// Which widgets do not show yet what they should, as operators see it.
@Suite struct BehindRouteTests {
    private static func rows(_ value: JSONValue?) -> [JSONValue] {
        guard case .array(let rows) = value else { return [] }
        return rows
    }

    private static func stats(_ scene: OperatorScene) async throws -> JSONValue {
        try #require(try await scene.send("GET", "/v1/stats").json["freshness"])
    }

    /// So many hosts with a widget each, for which a reload is out to their event streams.
    private static func out(hosts: Int) async throws -> OperatorScene {
        let scene = try await OperatorScene()
        for number in 0..<hosts { try await scene.scene.register("host-\(number)") }
        return scene
    }

    @Test func `without widgets nothing is behind, and no goal is met or missed`() async throws {
        let freshness = try await Self.stats(try await OperatorScene())
        #expect(freshness["goal"] == .string("95% within 15m"))
        #expect(freshness["instances"] == .int(0) && freshness["behind"] == .int(0))
        #expect(freshness["share"] == nil && freshness["isMet"] == nil && freshness["oldestSince"] == nil)
        #expect(freshness["reasons"] == .object([]))
    }

    @Test func `what is out to a host without a stream waits for that host, and the list says which`() async throws {
        let scene = try await Self.out(hosts: 3)
        #expect(try await Self.stats(scene)["reasons"]?["hostAway"] == .int(3))
        let host = try scene.scene.streams.subscribe(.host(HostKey("host-0")))
        // Hosts that are away are counted by the survey; a list looks at its rows.
        try await scene.watch.surveys.renew()
        let reasons = try await Self.stats(scene)["reasons"]
        #expect(reasons?["hostAway"] == .int(2) && reasons?["unacknowledged"] == .int(1))
        let listed = try await scene.send("GET", "/v1/instances?state=behind").json["instances"]
        let causes = Self.rows(listed).map { [$0["id"], $0["behind"]] }
        #expect(causes.count == 3)
        #expect(causes.contains([.string("com.example.scores/host-0:a0"), .string("unacknowledged")]))
        #expect(causes.contains([.string("com.example.scores/host-1:a0"), .string("hostAway")]))
        scene.scene.streams.cancel(host)
        // A stream for all hosts of the app reaches each.
        let all = try scene.scene.streams.subscribe(.app(Sports.app))
        try await scene.watch.surveys.renew()
        #expect(try await Self.stats(scene)["reasons"]?["unacknowledged"] == .int(3))
        scene.scene.streams.cancel(all)
        try await scene.acknowledgeAll()
        let freshness = try await Self.stats(scene)
        #expect(freshness["behind"] == .int(0) && freshness["share"] == .double(1) && freshness["isMet"] == .bool(true))
    }

    @Test func `late is what has been behind for longer than the goal, in stats, apps, kinds and the list`()
        async throws
    {
        let scene = try await Self.out(hosts: 4)
        try await scene.acknowledgeAll()
        scene.scene.time.pass(.hours(1))
        _ = try await scene.scene.log.append(.push(Sports.push(1, to: "host-0")), for: HostKey("host-0"))
        var freshness = try await Self.stats(scene)
        #expect(freshness["behind"] == .int(1) && freshness["late"] == .int(0) && freshness["isMet"] == .bool(true))
        scene.scene.time.pass(.minutes(17))
        freshness = try await Self.stats(scene)
        #expect(freshness["late"] == .int(1) && freshness["isMet"] == .bool(false))
        #expect(freshness["share"] == .double(0.75))
        guard case .double(let rate) = freshness["burnRate"], case .int(let age) = freshness["oldestSeconds"] else {
            Issue.record("\(freshness)")
            return
        }
        #expect(abs(rate - 5) < 0.001)
        let missed = Self.rows(freshness["missed"])
        #expect(missed.map { [$0["app"], $0["kind"], $0["late"]] } == [[.string("com.example.scores"), nil, .int(1)]])
        #expect((961...1020).contains(age))
        for list in ["apps", "kinds"] {
            let rows = Self.rows(try await scene.send("GET", "/v1/\(list)").json[list])
            #expect(rows.map { $0["freshness"]?["late"] } == [.int(1), .int(0)], "\(list)")
            #expect(rows.map { $0["freshness"]?["instances"] } == [.int(4), .int(0)], "\(list)")
        }
        let late = try await scene.send("GET", "/v1/instances?state=behind&olderThan=15m").json["instances"]
        #expect(Self.rows(late).map { $0["id"] } == [.string("com.example.scores/host-0:a0")])
        #expect(Self.rows(late).first?["behindSince"] != nil)
        let older = try await scene.send("GET", "/v1/instances?state=behind&olderThan=18m").json["instances"]
        #expect(Self.rows(older).isEmpty)
        let ofHost = "/v1/instances?app=com.example.scores&host=host-0&state=behind"
        #expect(Self.rows(try await scene.send("GET", ofHost).json["instances"]).count == 1)
        let one = try await scene.send("GET", "/v1/instances/com.example.scores/host-0:a0").json
        #expect(one["behindSince"] == Self.rows(late).first?["behindSince"])
        #expect(one["behind"] == .string("hostAway") && one["behind"] == Self.rows(late).first?["behind"])
        let host = try scene.scene.streams.subscribe(.host(HostKey("host-0")))
        let reached = try await scene.send("GET", "/v1/instances/com.example.scores/host-0:a0").json
        #expect(reached["behind"] == .string("unacknowledged"))
        scene.scene.streams.cancel(host)
        let fresh = try await scene.send("GET", "/v1/instances/com.example.scores/host-1:a0").json
        #expect(fresh["behind"] == nil && fresh["behindSince"] == nil)
    }

    @Test(arguments: [
        "olderThan=15m", "state=waiting&olderThan=15m", "state=behind&olderThan=15", "state=behind&olderThan=",
    ])
    func `an age goes with what is behind, and is a length of time`(query: String) async throws {
        let scene = try await OperatorScene()
        let answer = try await scene.send("GET", "/v1/instances?\(query)")
        #expect(answer.status == 400)
        #expect(answer.json["path"] == .string("olderThan"))
    }

    @Test func `metrics have it by app and kind, against the goal`() async throws {
        var bounds = ServingBounds()
        bounds.goal = try #require(FreshnessGoal("90% within 1h"))
        let scene = try await OperatorScene(bounds: bounds)
        for number in 0..<10 { try await scene.scene.register("host-\(number)") }
        try await scene.acknowledgeAll()
        scene.scene.time.pass(.hours(2))
        for number in 0..<2 {
            _ = try await scene.scene.log.append(
                .push(Sports.push(UInt64(number), to: "host-\(number)")),
                for: HostKey("host-\(number)")
            )
        }
        scene.scene.time.pass(.minutes(61))
        let response = await scene.routes.respond(to: OperatorScene.request("GET", "/metrics"))
        guard case .bytes(let bytes) = response.body else { return }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let kind = #"app="com.example.scores",kind="scores""#
        for line in [
            #"freshet_widgets_behind{\#(kind),reason="hostAway"} 2"#,
            #"freshet_widgets_behind{\#(kind),reason="budget"} 0"#, "freshet_widgets_late{\(kind)} 2",
            "freshet_freshness_goal_ratio 0.9", "freshet_freshness_goal_seconds 3600",
            #"freshet_freshness_within_ratio{\#(kind)} 0.8"#,
            #"freshet_freshness_burn_rate{\#(kind)} 2"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix("freshet_widgets_behind_oldest_seconds{\(kind)} 36") })
        // Where there are no widgets there is nothing to say.
        #expect(!lines.contains { $0.hasPrefix("freshet_widgets_late{app=\"com.example.other\"") })
    }

    /// Outstanding reloads, and the health of the targets that they went to.
    @Test func `a reload that is out waits for the target that is in trouble`() {
        let kind = KindKey(app: Sports.app, kind: WidgetKind("scores"))
        let other = KindKey(app: Sports.otherApp, kind: WidgetKind("scores"))
        var troubles = DeliveryTroubles()
        for reason in BehindReason.allCases where reason.isOut {
            #expect(troubles.cause(of: reason, kind, isAway: false) == .unacknowledged)
        }
        #expect(troubles.cause(of: .outToHost, kind, isAway: true) == .hostAway)
        var failed = TargetHealth()
        let answer = TargetHealth.Answer(.failure, status: 503, at: .epoch)
        _ = failed.takeAnswer(answer, heldUntil: .epoch + TargetHealth.patience)
        troubles = DeliveryTroubles(of: [
            CalledTarget(.upstream(Sports.app), failed, isHeld: false),
            CalledTarget(.webhook(Sports.app), TargetHealth(), isHeld: true),
            CalledTarget(.provider(kind), failed, isHeld: false),
            CalledTarget(.provider(other), TargetHealth(), isHeld: false),
            CalledTarget(.upstream(Sports.otherApp), TargetHealth(), isHeld: false),
            CalledTarget(.receipts(Sports.otherApp), failed, isHeld: true),
        ])
        #expect(troubles.cause(of: .outToUpstream, kind, isAway: true) == .upstream)
        #expect(troubles.cause(of: .outToWebhook, kind, isAway: true) == .webhook)
        #expect(troubles.cause(of: .outToHost, kind, isAway: true) == .provider)
        #expect(troubles.cause(of: .outToUpstream, other, isAway: true) == .unacknowledged)
        #expect(troubles.cause(of: .outToHost, other, isAway: true) == .unacknowledged)
        #expect(troubles.cause(of: .budget, kind, isAway: true) == .budget)
    }

    /// In all, 40 of 1,000 are late, which the goal of 95 % allows.
    @Test func `those who miss the goal are told by app, and by kind of an app that meets it`() {
        func kind(_ app: BundleID, _ name: String, _ instances: Int, late: Int) -> KindBehind {
            var counts = Array(repeating: 0, count: BehindReason.allCases.count)
            counts[Int(BehindReason.outToHost.rawValue)] = late
            return KindBehind(
                app: app,
                kind: WidgetKind(name),
                instances: instances,
                counts: counts,
                late: late,
                oldest: Instant(seconds: 0)
            )
        }
        let small = BundleID("com.example.small")
        let board = BehindBoard(
            [
                [kind(Sports.app, "scores", 800, late: 0), kind(Sports.app, "rare", 10, late: 10)],
                [
                    kind(small, "one", 15, late: 15), kind(small, "two", 15, late: 15),
                    kind(Sports.otherApp, "one", 160, late: 0),
                ],
            ],
            goal: FreshnessGoal(),
            at: Instant(seconds: 1000),
            DeliveryTroubles()
        ) { _ in 0 }
        #expect(board.total.late == 40 && board.burnRate(of: board.total) < 1)
        #expect(board.missed.map(\.app) == [Sports.app, small])
        #expect(board.missed.map(\.kind) == [WidgetKind("rare"), nil])
        #expect(board.missed.map(\.row.late) == [10, 30])
    }

    @Test func `partitions add up, and no more hosts are away than reloads are out to`() {
        func partition(_ out: Int, late: Int, oldest: Int64?) -> [KindBehind] {
            var counts = Array(repeating: 0, count: BehindReason.allCases.count)
            counts[Int(BehindReason.outToHost.rawValue)] = out
            counts[Int(BehindReason.budget.rawValue)] = 1
            return [
                KindBehind(
                    app: Sports.app,
                    kind: WidgetKind("scores"),
                    instances: 10,
                    counts: counts,
                    late: late,
                    oldest: oldest.map { Instant(seconds: $0) }
                )
            ]
        }
        let key = KindKey(app: Sports.app, kind: WidgetKind("scores"))
        for (away, expected) in [(0, 0), (4, 4), (7, 7), (100, 7)] {
            let board = BehindBoard(
                [partition(3, late: 1, oldest: 600), partition(4, late: 2, oldest: nil)],
                goal: FreshnessGoal(),
                at: Instant(seconds: 1000),
                DeliveryTroubles()
            ) { _ in away }
            #expect(board[key][.hostAway] == expected)
            #expect(board[key][.unacknowledged] == 7 - expected)
            #expect(board[key] == board.total && board[Sports.app] == board.total)
            #expect((board.total.instances, board.total.count, board.total.late) == (20, 9, 3))
            #expect(board.oldestAge(of: board.total) == .seconds(400))
        }
    }
}

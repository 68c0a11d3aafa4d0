import Engine
import HTTPTransport
import Journaling
import OperatorAPI
import Partitions
import Serving
import Settings
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Metrics, and the document of the routes.
@Suite struct OperatorMetricsTests {
    private static func text(_ scene: OperatorScene, _ target: String) async -> String {
        let response = await scene.routes.respond(to: OperatorScene.request("GET", target))
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value of a line that begins so.
    private static func value(_ text: String, _ line: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix(line + " ") }?.split(separator: " ").last.map(String.init)
    }

    /// The sum over all partitions of the lines of a metric.
    private static func sum(_ text: String, _ name: String, _ label: String = "") -> Int {
        text.split(separator: "\n").filter { $0.hasPrefix("\(name){partition=") && $0.contains(label) }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    @Test func `metrics say what the totals say`() async throws {
        let scene = try await OperatorScene()
        for number in 0..<3 { try await scene.scene.register("host-\(number)") }
        try await scene.acknowledgeAll()
        scene.scene.time.pass(.hours(1))
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        _ = try await scene.scene.log.appendToAll(.push(push))
        try await scene.watch.surveys.renew()
        let text = await Self.text(scene, "/metrics")
        #expect(Self.sum(text, "freshet_hosts") == 3)
        #expect(Self.sum(text, "freshet_instances") == 3)
        #expect(Self.sum(text, "freshet_matches_total") == 3)
        #expect(Self.sum(text, "freshet_issued") == 3)
        #expect(Self.sum(text, "freshet_reloads_total", #"cause="push""#) == 3)
        #expect(Self.value(text, #"freshet_outcomes_total{partition="0",outcome="reloaded"}"#) == "0")
        #expect(
            Self.value(text, #"freshet_kind_instances{app="com.example.scores",kind="scores"}"#) == "3"
        )
        #expect(Self.value(text, #"freshet_ready_condition{condition="listening"}"#) == "0")
    }

    @Test
    func `what smoothing does is counted: timelines by the date that they ask for, and by the one that comes of it`()
        async throws
    {
        let scene = try await OperatorScene()
        let hosts = (0..<20).map { "host-\($0)" }
        for host in hosts { try await scene.scene.register(host) }
        try await scene.acknowledgeAll()
        let date = Instant(seconds: scene.scene.time.wall.seconds) + .minutes(10)
        for host in hosts {
            let timeline = Timeline(entries: [TimelineEntry(date: date)], policy: .atEnd)
            let report = TimelineReport(host: HostKey(host), instance: InstanceID("a0"), timeline: timeline)
            _ = try await scene.scene.log.append(.timeline(report), for: HostKey(host))
        }
        try await scene.watch.surveys.renew()
        await scene.watch.countDueTimelines()
        let before = await Self.text(scene, "/metrics")
        #expect(Self.value(before, #"freshet_timelines_due_total{date="asked"}"#) == "0")
        #expect(Self.value(before, #"freshet_timelines_due_peak{date="asked"}"#) == "20")
        let peak = try #require(Self.value(before, #"freshet_timelines_due_peak{date="smoothed"}"#).flatMap { Int($0) })
        #expect((1..<20).contains(peak))
        scene.scene.time.pass(.minutes(10) + .seconds(1))
        await scene.watch.countDueTimelines()
        let at = await Self.text(scene, "/metrics")
        #expect(Self.value(at, #"freshet_timelines_due_total{date="asked"}"#) == "20")
        let early = try #require(Self.value(at, #"freshet_timelines_due_total{date="smoothed"}"#).flatMap { Int($0) })
        #expect(early < 20)
        scene.scene.time.pass(.minutes(5))
        await scene.watch.countDueTimelines()
        let after = await Self.text(scene, "/metrics")
        #expect(Self.value(after, #"freshet_timelines_due_total{date="smoothed"}"#) == "20")
    }

    @Test func `how far back repeats are recognised is told for each partition`() async throws {
        let scene = try await OperatorScene()
        let line = #"freshet_repeat_window_seconds{partition="1"}"#
        #expect(Self.value(await Self.text(scene, "/metrics"), line) == "0")
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        _ = try await scene.scene.log.appendToAll(.push(push))
        scene.scene.time.pass(.minutes(90))
        let text = await Self.text(scene, "/metrics")
        #expect(Self.value(text, line) == "5400")
        #expect(Self.value(text, #"freshet_repeat_window_pushes{partition="1"}"#) == "1")
    }

    @Test func `what is peculiar about timelines is counted by kind and code`() async throws {
        let scene = try await OperatorScene()
        #expect(await !Self.text(scene, "/metrics").contains("freshet_timeline_findings_total"))
        let instance = InstanceAddress(host: HostKey("host-1"), instance: InstanceID("a0"))
        let scores = KindKey(app: Sports.app, kind: WidgetKind("scores"))
        let secret = KindKey(app: Sports.otherApp, kind: WidgetKind("secret"))
        for (key, findings) in [(scores, [.empty, .neverReloaded]), (scores, [.empty]), (secret, [.empty])]
            as [(KindKey, [TimelineFinding])]
        {
            scene.states.noteFindings(findings, of: instance, key, at: Sports.start)
        }
        let text = await Self.text(scene, "/metrics")
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("freshet_timeline_findings_total") }
        #expect(
            lines == [
                #"freshet_timeline_findings_total{app="com.example.other",kind="secret",code="empty"} 1"#,
                #"freshet_timeline_findings_total{app="com.example.scores",kind="scores",code="empty"} 2"#,
                #"freshet_timeline_findings_total{app="com.example.scores",kind="scores",code="neverReloaded"} 1"#,
            ]
        )
    }

    @Test func `no label is a host, an instance or a token`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        try await scene.watch.surveys.renew()
        let text = await Self.text(scene, "/metrics")
        #expect(!text.contains("host-1"))
        #expect(!text.contains(Sports.token("host-1").hex))
        // Each metric is told once, with its type before its values.
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(types.count == Set(types).count)
    }

    @Test func `a histogram of freshness counts up to each bound`() {
        var freshness = Freshness()
        for seconds in [1, 1, 4, 100] { freshness.record(.seconds(Int64(seconds))) }
        #expect(freshness.count(upTo: .milliseconds(500)) == 0)
        #expect(freshness.count(upTo: .seconds(2)) == 2)
        #expect(freshness.count(upTo: .seconds(300)) == 4)
        #expect(freshness.sum >= .seconds(106))
        #expect(freshness.sum <= .seconds(113))
        #expect(freshness.since(freshness).count == 0)
    }

    @Test func `snapshots are counted where some are made`() async throws {
        var counters = Snapshotter.Counters()
        counters.written = 3
        counters.failed = 1
        counters.trimmedFiles = 2
        counters.newest = [
            SnapshotID(partition: PartitionID(1), position: LogPosition(77), logTime: Sports.start - .seconds(90))
        ]
        counters.overdue = [Snapshotter.Overdue(partition: PartitionID(0), since: Sports.start)]
        let scene = try await OperatorScene(snapshots: counters)
        let snapshots = try await scene.send("GET", "/v1/stats").json["snapshots"]
        #expect(snapshots?["written"] == .int(3))
        #expect(snapshots?["failed"] == .int(1))
        #expect(snapshots?["trimmedFiles"] == .int(2))
        guard case .array(let newest) = snapshots?["newest"] else {
            Issue.record("no newest: \(String(describing: snapshots))")
            return
        }
        let age = scene.scene.time.wall - (Sports.start - .seconds(90))
        #expect(newest.map { $0["partition"] } == [.int(1)])
        guard case .array(let overdue) = snapshots?["overdue"] else {
            Issue.record("no list of the overdue: \(String(describing: snapshots))")
            return
        }
        #expect(overdue.map { $0["partition"] } == [.int(0)])
        #expect(newest.map { $0["ageSeconds"] } == [.int(age.milliseconds / 1000)])
        let text = await Self.text(scene, "/metrics")
        #expect(Self.value(text, #"freshet_snapshots_total{result="written"}"#) == "3")
        #expect(Self.value(text, #"freshet_snapshots_total{result="failed"}"#) == "1")
        #expect(Self.value(text, "freshet_log_files_trimmed_total") == "2")
        #expect(Self.value(text, "freshet_snapshots_overdue") == "1")
        let seconds = (Sports.start - .seconds(90)).milliseconds / 1000
        #expect(Self.value(text, #"freshet_snapshot_timestamp_seconds{partition="1"}"#) == "\(seconds)")
        let none = try await OperatorScene()
        #expect(try await none.send("GET", "/v1/stats").json["snapshots"] == nil)
        #expect(await !Self.text(none, "/metrics").contains("freshet_snapshot"))
    }

    @Test func `the document is served whole`() async throws {
        let scene = try await OperatorScene()
        let text = await Self.text(scene, "/v1/openapi.yaml")
        #expect(text.hasPrefix("openapi: 3.1"))
        #expect(text.contains("/v1/partitions:"))
        #expect(text.contains("runningHash:"))
    }

    @Test(
        arguments: [
            ("abc", "abc", .admin, "token 3"), ("abc read", "abc", .read, "token 3"),
            ("abc write ci", "abc", .write, "ci"), ("  abc   admin  me ", "abc", .admin, "me"),
        ] as [(String, String, OperatorScope, String)]
    )
    func `a token's line has a scope and a name`(text: String, token: String, scope: OperatorScope, name: String) {
        let read = OperatorToken(text, number: 3)
        #expect(read?.token == token)
        #expect(read?.caller == OperatorCaller(name: name, scope: scope))
    }

    @Test(arguments: ["", "abc everything", "abc read me too"])
    func `a line that is more or less is none`(text: String) {
        #expect(OperatorToken(text, number: 1) == nil)
    }
}

import Engine
import IntentMatching
import OperatorAPI
import Partitions
import Settings
import Synchronization
import Testing
import Timelines
import WidgetModel

/// The configuration that is read again while the gateway runs.
@Suite struct ConfigurationReloadTests {
    private static let text = """
        listeners: {push: {enabled: false}, host: {enabled: false}, ops: {enabled: false}, health: {enabled: true}}
        teams: [{id: ABCDE12345, keys: []}]
        policies: [{name: mine, rare: 10, typical: 20, frequent: 30}]
        apps:
          - bundleID: com.example.scores
            team: ABCDE12345
            budget: mine
            kinds: [{kind: scores, parameters: [{name: team, type: string}]}]
        """

    /// The text of the configuration file.
    private final class File: Sendable {
        let text: Mutex<String>

        init(_ text: String) { self.text = Mutex(text) }

        func read() throws -> GatewayConfiguration {
            try ConfigurationFile.parse(self.text.withLock { $0 }).configuration
        }

        func change(_ old: String, _ new: String) { self.text.withLock { $0 = $0.replacing(old, with: new) } }
    }

    private static func started() async throws -> (OwnerScene, ConfigurationReload, File) {
        let file = File(Self.text)
        let scene = try await OwnerScene.started(partitions: 2)
        let configuration = try file.read()
        _ = try await scene.log.appendToAll(.settings(EngineSettings(configuration)))
        let live = ConfigurationReload(
            LiveSettings(configuration),
            source: { try file.read() },
            log: scene.log,
            clock: scene.time.makeClock(),
            feed: OperatorFeed(epoch: 1),
            logs: .none
        )
        return (scene, live, file)
    }

    private static func typical(_ scene: OwnerScene) async throws -> [Int?] {
        try await scene.log.askAll(InForceQuestion()).map { $0.settings?.apps.first?.kinds.first?.budget.typical }
    }

    @Test func `a changed policy is in force in every partition at once`() async throws {
        let (scene, live, file) = try await Self.started()
        #expect(try await Self.typical(scene) == [20, 20])
        file.change("typical: 20", "typical: 25")
        let report = try await live.reload()
        #expect(report.faults == [])
        #expect(report.applied == ["policies[0].typical"])
        #expect(report.restartNeeded == [])
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(live.inForce == (try file.read()))
    }

    @Test func `what is unchanged is not logged again`() async throws {
        let (scene, live, _) = try await Self.started()
        let before = await scene.log.progress().map(\.applied)
        let report = try await live.reload()
        #expect(report.applied == [])
        #expect(await scene.log.progress().map(\.applied) == before)
    }

    @Test func `a configuration with a fault is refused whole, and says where`() async throws {
        let (scene, live, file) = try await Self.started()
        file.change("typical: 20", "typical: 25")
        file.change("type: string", "type: strong")
        let report = try await live.reload()
        #expect(report.faults.map(\.path) == ["apps[0].kinds[0].parameters[0].type"])
        guard case .file(_, let line, _) = report.faults.first?.place else {
            Issue.record("no line: \(report.faults)")
            return
        }
        #expect(line == 8)
        #expect(try await Self.typical(scene) == [20, 20])
        #expect(live.report == report)
        file.change("type: strong", "type: string")
        #expect(try await live.reload().faults == [])
        #expect(try await Self.typical(scene) == [25, 25])
    }

    @Test func `what needs a restart is named and not in force`() async throws {
        let (scene, live, file) = try await Self.started()
        file.change("typical: 20", "typical: 25")
        file.change("health: {enabled: true}", "health: {enabled: true, port: 9999}")
        file.change("kinds: [{kind: scores,", "developerMode: true\n    kinds: [{kind: scores,")
        let report = try await live.reload()
        #expect(report.applied == ["apps[0].developerMode", "policies[0].typical"])
        #expect(report.restartNeeded == ["listeners.health.port"])
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(live.inForce.listeners.health.port == 9080)
        #expect(
            try await scene.log.askAll(InForceQuestion()).map { $0.settings?.apps.first?.developerMode } == [
                true, true,
            ]
        )
    }

    @Test func `what reading it again would change is told, and nothing of it is taken`() async throws {
        let (scene, live, file) = try await Self.started()
        try await scene.register("a", instances: 2)
        let same = try await live.compare()
        #expect(same.changes.isEmpty && same.faults.isEmpty && same.orphaned == 0)
        file.change("typical: 20", "typical: 25")
        file.change("health: {enabled: true}", "health: {enabled: true, port: 9999}")
        file.change("name: team, type: string", "name: team, type: int")
        let before = await scene.log.progress().map(\.applied)
        let difference = try await live.compare()
        #expect(difference.changes.map(\.key).contains("policies[0].typical"))
        let typical = difference.changes.first { $0.key == "policies[0].typical" }
        #expect(typical?.old == .int(20) && typical?.new == .int(25) && typical?.takesRestart == false)
        #expect(difference.changes.filter(\.takesRestart).map(\.key) == ["listeners.health.port"])
        #expect(difference.orphaned == 2)
        #expect(await scene.log.progress().map(\.applied) == before)
        #expect(try await Self.typical(scene) == [20, 20])
        // The reload has the result that the comparison foretold.
        #expect(try await live.reload().orphaned == 2)
        #expect(try await live.compare().orphaned == 0)
        file.change("type: int", "type: strong")
        #expect(try await live.compare().faults.map(\.path) == ["apps[0].kinds[0].parameters[0].type"])
    }

    @Test func `a kind whose schema changed has it at once, and says whom it does not fit any more`() async throws {
        let (scene, live, file) = try await Self.started()
        try await scene.register("a", instances: 2)
        file.change("name: team, type: string", "name: team, type: int")
        let report = try await live.reload()
        #expect(report.applied == ["apps[0].kinds[0].parameters[0].type"])
        #expect(report.restartNeeded == [])
        #expect(report.orphaned == 2)
    }

    @Test func `apps and kinds that come and go are the engines' at once`() async throws {
        let (scene, live, file) = try await Self.started()
        func apps() async throws -> [[String]] {
            try await scene.log.askAll(InForceQuestion()).map { inForce in
                inForce.settings?.apps.map { app in
                    "\(app.app.rawValue): \(app.kinds.map(\.schema.kind.rawValue).joined(separator: " "))"
                } ?? []
            }
        }
        let text = file.text.withLock { $0 }
        file.text.withLock { $0 += "\n  - {bundleID: com.example.news, team: ABCDE12345, kinds: [{kind: headlines}]}" }
        #expect(try await live.reload().restartNeeded == [])
        let both = ["com.example.scores: scores", "com.example.news: headlines"]
        #expect(try await apps() == [both, both])
        file.text.withLock { $0 = text }
        #expect(try await live.reload().restartNeeded == [])
        #expect(try await apps() == [["com.example.scores: scores"], ["com.example.scores: scores"]])
        #expect(live.inForce == (try file.read()))
    }

    @Test func `who makes a kind's timelines is in force at once`() async throws {
        let (_, live, file) = try await Self.started()
        file.change("{kind: scores,", "{kind: scores, timelineProvider: {url: \"http://127.0.0.1:1/t\"},")
        let report = try await live.reload()
        #expect(report.applied.contains("apps[0].kinds[0].timelineProvider.url"))
        #expect(report.restartNeeded == [])
        #expect(live.inForce.apps.first?.kinds.first?.timelineProvider?.url.port == 1)
    }

    @Test(arguments: [
        "limits: {maxConnections: 7, maxHeaderBytes: 4096, maxInFlightPushes: 9, maxTags: 3}",
        "limits: {hosts: {perApp: 7, perTeam: 8}, instances: {perApp: 9, perTeam: 10}}", "http2: {maxResets: 7}",
        "timeouts: {idle: 7m, drain: 1s}", "streams: {maxStreams: 7, heartbeat: 7s}", "feed: {maxReaders: 7}",
        "rateLimits: {perApp: {rate: 7/s}, perKey: {rate: 7/s}, perToken: {rate: 7/m}, maxTokens: 64}",
        "deliveries: {maxConnections: 7, request: 7s, tokenAge: 20m}",
        "timelines: {maxContentBytes: 1MiB, galleryAge: 7s}", "snapshots: {interval: 7m, history: 7h}",
        "storage: {maxBytes: 7GiB, minFree: 7%, memoryMax: 7GiB}", "dryRun: {decidedMax: 7}",
        "freshness: {goal: 99.5% within 2h}",
    ])
    func `bounds are in force at once`(section: String) async throws {
        let (_, live, file) = try await Self.started()
        let used = Mutex<GatewayConfiguration?>(nil)
        live.settings.followReadings { merged in used.withLock { $0 = merged } }
        file.change("listeners:", "\(section)\nlisteners:")
        let report = try await live.reload()
        #expect(report.restartNeeded == [])
        #expect(!report.applied.isEmpty)
        #expect(used.withLock { $0 } == (try file.read()))
    }

    @Test func `of a listener the place needs a restart, and its certificate does not`() async throws {
        let (_, live, file) = try await Self.started()
        let before = live.inForce
        file.change("push: {enabled: false}", "push: {enabled: true, tls: {certificate: other.pem, key: other.key}}")
        let merged = try file.read().withStartSettings(of: before)
        #expect(merged.listeners.push.tls?.certificate == "other.pem")
        #expect(!merged.listeners.push.isEnabled)
    }

    @Test func `files are read again with the configuration, and none if it is refused`() async throws {
        let (_, live, file) = try await Self.started()
        let reads = Mutex(0)
        live.settings.followReadings { _ in reads.withLock { $0 += 1 } }
        _ = try await live.reload()
        file.change("typical: 20", "typical: none")
        #expect(try await !live.reload().faults.isEmpty)
        #expect(reads.withLock { $0 } == 1)
    }

    @Test func `levels of log messages are in force at once, their format after a restart`() async throws {
        let logs = GatewayLogs.none
        let (_, live, file) = try await Self.started()
        live.settings.followReadings { logs.applySettings($0.log) }
        let section = "log: {level: warning, levels: {http: debug}, format: human, maxRepeats: 8}"
        file.change("listeners:", "\(section)\nlisteners:")
        let report = try await live.reload()
        #expect(report.applied == ["log.level", "log.levels.http", "log.maxRepeats"])
        #expect(report.restartNeeded == ["log.format"])
        #expect(logs.views.map(\.level) == LogSubsystem.allCases.map { $0 == .http ? .debug : .warning })
    }

    @Test func `a part is told of what is its own, and only when that has changed`() async throws {
        let (_, live, file) = try await Self.started()
        let told = Mutex<[Interval]>([])
        live.settings.follow(\.timeouts.idle) { idle in told.withLock { $0.append(idle) } }
        file.change("listeners:", "timeouts: {idle: 7m, drain: 3s}\nlisteners:")
        _ = try await live.reload()
        _ = try await live.reload()
        file.change("drain: 3s", "drain: 4s")
        _ = try await live.reload()
        #expect(told.withLock { $0 } == [.minutes(7)])
        #expect(live.settings.inForce.timeouts.drain == .seconds(4))
    }

    @Test func `without a file there is nothing to read`() async throws {
        let scene = try await OwnerScene.started()
        let live = ConfigurationReload(
            LiveSettings(GatewayConfiguration()),
            source: nil,
            log: scene.log,
            clock: scene.time.makeClock(),
            feed: OperatorFeed(epoch: 1),
            logs: .none
        )
        await #expect(throws: Problem.self) { _ = try await live.reload() }
    }
}

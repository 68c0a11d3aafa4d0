import APNSWire
import Engine
import IntentMatching
import Journaling
import OperatorAPI
import Partitions
import Settings
import Synchronization
import Testing
import Timelines
import WidgetModel

/// Two gateways that share a log, each with its own file: the log's settings are in force.
@Suite struct SharedSettingsTests {
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
    /// One more policy.
    private static let withMine = "frequent: 30}, {name: mine, rare: 1, typical: 2, frequent: 3}"
    private static let night = OperatorSource(caller: "night", address: "203.0.113.7", request: "r-1")
    private static let day = OperatorSource(caller: "day", address: "203.0.113.8", request: "r-2")
    private static let news = AmendedEntry.app(BundleID("com.example.news"))

    /// A gateway's part in it.
    private struct Node {
        let reloading: ConfigurationReload
        let file: File

        /// - Parameter meanwhile: Called while a change or a reading is looked at, before the log has anything of it.
        init(_ scene: OwnerScene, meanwhile: @escaping @Sendable () -> Void = {}) throws {
            let file = File(SharedSettingsTests.text)
            self.file = file
            self.reloading = ConfigurationReload(
                LiveSettings(try file.read()),
                source: { try file.read() },
                checkFiles: { _ in meanwhile() },
                log: scene.log,
                clock: scene.time.makeClock(),
                feed: OperatorFeed(epoch: 1),
                logs: .none
            )
        }

        /// Whether partitions decide by its settings, as it knows then.
        func follows() async -> Bool {
            await self.reloading.followLog()
            return self.reloading.isDecidedBy
        }

        var bundles: [String] { self.reloading.inForce.apps.map(\.bundleID.rawValue) }
    }

    private final class File: Sendable {
        private let text: Mutex<String>

        init(_ text: String) { self.text = Mutex(text) }

        func read() throws -> GatewayConfiguration {
            try ConfigurationFile.parse(self.text.withLock { $0 }).configuration
        }

        func change(_ old: String, _ new: String) { self.text.withLock { $0 = $0.replacing(old, with: new) } }
    }

    private static func started() async throws -> (OwnerScene, Node, Node) {
        let scene = try await OwnerScene.started(partitions: 2)
        let nodes = (try Node(scene), try Node(scene))
        _ = try await scene.log.appendToAll(.settings(EngineSettings(nodes.0.reloading.inForce)))
        return (scene, nodes.0, nodes.1)
    }

    /// Another gateway's records, which come into the log when they are asked for, so often.
    private final class Others: Sendable {
        private let records: Mutex<[[Record]]> = Mutex([])
        private let journal: MemoryJournal

        init(_ scene: OwnerScene) { self.journal = scene.journal }

        func plan(_ records: [[Record]]) { self.records.withLock { $0 = records } }

        func append() {
            let next = self.records.withLock { $0.isEmpty ? [] : $0.removeFirst() }
            for record in next {
                var records = PackedRecords()
                records.append { record.encode(into: &$0) }
                self.journal.appendToAll(SubmissionToAll(records), whenDurable: { _ in }, whenPlaced: { _ in })
            }
        }
    }

    private static func key(_ text: String) throws -> JSONValue {
        try json(#"{"publicKey":"-----BEGIN PUBLIC KEY-----\n\#(text)\n-----END PUBLIC KEY-----\n"}"#)
    }

    private static func typical(_ scene: OwnerScene) async throws -> [Int?] {
        try await scene.log.askAll(InForceQuestion()).map { $0.settings?.apps.first?.kinds.first?.budget.typical }
    }

    @Test func `a gateway knows that another one has put other settings in force, until its file says them, too`()
        async throws
    {
        let (scene, one, other) = try await Self.started()
        #expect(other.reloading.digests.inForce == nil, "not asked yet")
        #expect(await other.follows())
        let before = other.reloading.digests
        #expect(before.inForce == before.own && before.own == one.reloading.digests.own)
        one.file.change("typical: 20", "typical: 25")
        _ = try await one.reloading.reload()
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(await one.follows())
        #expect(await !other.follows())
        #expect(other.reloading.digests.own == before.own && one.reloading.digests.own != before.own)
        #expect(
            [one, other].map(\.reloading.digests.inForce) == [one.reloading.digests.own, one.reloading.digests.own]
        )
        other.file.change("typical: 20", "typical: 25")
        #expect(await !other.follows())
        #expect(try await other.reloading.reload().faults == [])
        #expect(await other.follows())
        #expect(try await Self.typical(scene) == [25, 25])
    }

    @Test func `a reload puts a gateway's file in force, whatever another one did before`() async throws {
        let (scene, one, other) = try await Self.started()
        one.file.change("typical: 20", "typical: 25")
        _ = try await one.reloading.reload()
        #expect(try await other.reloading.reload().applied == [])
        #expect(try await Self.typical(scene) == [20, 20])
        #expect(await other.follows())
        #expect(await !one.follows())
    }

    @Test func `a change by a request to one gateway is in force in the other one, until it is taken back`()
        async throws
    {
        let (_, one, other) = try await Self.started()
        let body = try json(#"{"team":"ABCDE12345"}"#)
        #expect(try await one.reloading.amend(Self.news, .put(body), by: Self.night).difference.faults == [])
        #expect(other.bundles == ["com.example.scores"])
        #expect(await other.follows())
        #expect(other.bundles == ["com.example.scores", "com.example.news"])
        _ = try await other.reloading.amend(Self.news, .revert, by: Self.night)
        #expect(await one.follows())
        #expect(one.bundles == ["com.example.scores"])
    }

    @Test func `a change by a request keeps those to another gateway, though this one has not followed them yet`()
        async throws
    {
        let (_, one, other) = try await Self.started()
        let team = AmendedEntry.team(TeamID("ABCDE12345"))
        let key = try json(#"{"publicKey":"-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"}"#)
        _ = try await one.reloading.amend(team, .putPart("FIRSTKEY01", key), by: Self.night)
        _ = try await other.reloading.amend(team, .putPart("SECONDKEY1", key), by: Self.night)
        #expect(other.reloading.inForce.teams.first?.keys.map(\.id.rawValue) == ["FIRSTKEY01", "SECONDKEY1"])
        _ = try await one.reloading.amend(team, .endPart("FIRSTKEY01"), by: Self.night)
        #expect(one.reloading.inForce.teams.first?.keys.map(\.id.rawValue) == ["SECONDKEY1"])

        _ = try await one.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        let kind = try json("{}")
        let amended = try await other.reloading.amend(Self.news, .putPart("headlines", kind), by: Self.night)
        #expect(amended.difference.faults == [])
        #expect(other.reloading.inForce.apps.last?.kinds.map(\.schema.kind.rawValue) == ["headlines"])
    }

    @Test func `two changes of an entry at one moment both stand, and that of one gateway is worked out anew`()
        async throws
    {
        let scene = try await OwnerScene.started(partitions: 2)
        let others = Others(scene)
        let (one, other) = (try Node(scene, meanwhile: { others.append() }), try Node(scene))
        _ = try await scene.log.appendToAll(.settings(EngineSettings(one.reloading.inForce)))
        let team = AmendedEntry.team(TeamID("ABCDE12345"))
        let first =
            #"{"id":"ABCDE12345","keys":[{"id":"FIRSTKEY01","publicKey":"-----BEGIN PUBLIC KEY-----\nMFkw\n"}]}"#
        others.plan([[.amend(Amendment(.put(first), team, by: Self.day))]])
        let amended = try await one.reloading.amend(team, .putPart("SECONDKEY1", Self.key("MFkw")), by: Self.night)
        #expect(amended.difference.faults == [])
        #expect(one.reloading.inForce.teams.first?.keys.map(\.id.rawValue) == ["FIRSTKEY01", "SECONDKEY1"])
        #expect(await other.follows())
        #expect(other.reloading.inForce == one.reloading.inForce)
        #expect(try await other.reloading.amendments().map(\.source) == [Self.night])
    }

    @Test func `a change as the client does not know it is refused, though it came at the same moment`() async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        let others = Others(scene)
        let one = try Node(scene, meanwhile: { others.append() })
        _ = try await scene.log.appendToAll(.settings(EngineSettings(one.reloading.inForce)))
        let body = #"{"bundleID":"com.example.news","team":"ABCDE12345"}"#
        others.plan([[.amend(Amendment(.put(body), Self.news, by: Self.day))]])
        await #expect(throws: Problem.self) {
            try await one.reloading.amend(
                Self.news,
                .put(try json(body)),
                by: Self.night,
                if: ConfigurationReload.Condition(ifNoneMatch: "*")
            )
        }
        let standing = try await one.reloading.amendments()
        #expect(standing.map(\.source) == [Self.day])
    }

    @Test func `a change that others overtake again and again is refused, and they stand`() async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        let others = Others(scene)
        let one = try Node(scene, meanwhile: { others.append() })
        _ = try await scene.log.appendToAll(.settings(EngineSettings(one.reloading.inForce)))
        var standing: StandingAmendment?
        var steps: [[Record]] = []
        for number in 0..<4 {
            let source = OperatorSource(caller: "day", address: "203.0.113.8", request: "r-\(number)")
            let body = ##"{"bundleID":"com.example.news","team":"ABCDE12345","kinds":[{"kind":"k\##(number)"}]}"##
            steps.append([.amend(Amendment(.put(body), Self.news, replacing: standing, by: source))])
            standing = StandingAmendment(entry: Self.news, value: body, since: .epoch, source: source)
            // Following that one looks at files, too.
            steps.append([])
        }
        others.plan(steps)
        await #expect {
            try await one.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        } throws: { error in
            (error as? Problem)?.code == .tooMany
        }
        let stands = try await one.reloading.amendments()
        #expect(stands.map(\.source.request) == ["r-3"])
        _ = try await one.reloading.amend(Self.news, .putPart("headlines", try json("{}")), by: Self.night)
        #expect(one.reloading.inForce.apps.last?.kinds.map(\.schema.kind.rawValue) == ["k3", "headlines"])
    }

    @Test func `a change whose gateway died before its settings is in force when the request is sent again`()
        async throws
    {
        let (scene, one, _) = try await Self.started()
        let body = try json(#"{"team":"ABCDE12345"}"#)
        let entry = try one.reloading.file.reading(Self.news.named(body), as: Self.news)
        let put = Amendment.Action.put(String(decoding: entry.jsonText, as: UTF8.self))
        _ = try await scene.log.appendToAll(.amend(Amendment(put, Self.news, by: Self.day)))
        _ = try await one.reloading.amend(Self.news, .put(body), by: Self.night)
        let own = EngineSettings(one.reloading.inForce)
        let decided = try await scene.log.askAll(InForceQuestion()).map { $0.settings == own }
        #expect(decided == [true, true] && one.bundles == ["com.example.scores", "com.example.news"])
        let stands = try await one.reloading.amendments()
        #expect(stands.map(\.source) == [Self.day], "it was logged again")
    }

    @Test func `settings that undid another gateway's change of another entry are made anew with it`() async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        let others = Others(scene)
        let (one, other) = (try Node(scene, meanwhile: { others.append() }), try Node(scene))
        let file = EngineSettings(one.reloading.inForce)
        _ = try await scene.log.appendToAll(.settings(file))
        let weather = AmendedEntry.app(BundleID("com.example.weather"))
        let body = #"{"bundleID":"com.example.weather","team":"ABCDE12345"}"#
        // Logged before this one's, with settings that its own then replace.
        others.plan([[.amend(Amendment(.put(body), weather, by: Self.day)), .settings(file)]])
        _ = try await one.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        #expect(Set(one.bundles) == ["com.example.scores", "com.example.weather", "com.example.news"])
        let decided = try await scene.log.askAll(InForceQuestion()).map {
            Set($0.settings?.apps.map(\.app.rawValue) ?? [])
        }
        #expect(decided == [Set(one.bundles), Set(one.bundles)])
        #expect(await other.follows())
    }

    @Test func `a change that does not go with a gateway's file leaves that as it is, until the file is mended`()
        async throws
    {
        let (_, one, other) = try await Self.started()
        let body = try json(#"{"team":"ABCDE12345","budget":"mine"}"#)
        other.file.change("name: mine", "name: other")
        other.file.change("budget: mine", "budget: other")
        _ = try await other.reloading.reload()
        one.file.change("name: mine", "name: other")
        one.file.change("budget: mine", "budget: other")
        one.file.change("frequent: 30}", Self.withMine)
        _ = try await one.reloading.reload()
        _ = try await one.reloading.amend(Self.news, .put(body), by: Self.night)
        #expect(await !other.follows())
        #expect(other.bundles == ["com.example.scores"])
        other.file.change("frequent: 30}", Self.withMine)
        #expect(try await other.reloading.reload().faults == [])
        #expect(await other.follows())
        #expect(other.bundles == ["com.example.scores", "com.example.news"])
    }

    @Test func `a gateway whose settings are not in force takes no change by a request`() async throws {
        let (scene, one, other) = try await Self.started()
        one.file.change("typical: 20", "typical: 25")
        _ = try await one.reloading.reload()
        let body = try json(#"{"team":"ABCDE12345"}"#)
        await #expect(throws: Problem.self) {
            try await other.reloading.amend(Self.news, .put(body), by: Self.night)
        }
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(try await scene.log.askAnyPresent(InForceQuestion()).amendments == [])
    }
}

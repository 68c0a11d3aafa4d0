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
            try self.init(scene.log, scene.time, meanwhile: meanwhile)
        }

        init(_ log: CommandLog, _ time: FakeTime, meanwhile: @escaping @Sendable () -> Void = {}) throws {
            let file = File(SharedSettingsTests.text)
            self.file = file
            self.reloading = ConfigurationReload(
                LiveSettings(try file.read()),
                source: { try file.read() },
                checkFiles: { _ in meanwhile() },
                log: log,
                clock: time.makeClock(),
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

    /// Another gateway's changes, which come into the log while this one's is looked at, one each time.
    private final class Others: Sendable {
        private let changes: Mutex<[SettingsChange?]> = Mutex([])
        private let journal: MemoryJournal

        init(_ scene: OwnerScene) { self.journal = scene.journal }

        func plan(_ changes: [SettingsChange?]) { self.changes.withLock { $0 = changes } }

        func append() {
            guard let next = self.changes.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
            var records = PackedRecords()
            records.append { Record.configure(next).encode(into: &$0) }
            self.journal.appendToAll(SubmissionToAll(records), whenDurable: { _ in }, whenPlaced: { _ in })
        }
    }

    /// A gateway with the same file, which is changed by a request while another one looks at a change.
    private static func startedAtOneMoment() async throws -> (OwnerScene, Node, Others) {
        let scene = try await OwnerScene.started(partitions: 2)
        let others = Others(scene)
        let node = try Node(scene, meanwhile: { others.append() })
        _ = try await scene.log.appendToAll(.settings(EngineSettings(node.reloading.inForce)))
        return (scene, node, others)
    }

    /// The change by a request to another gateway, with all that it puts in force.
    ///
    /// - Parameter number: The version that it is worked out from.
    private static func change(
        _ entry: AmendedEntry,
        _ value: String,
        at node: Node,
        from number: Int = 0,
        by source: OperatorSource = Self.day
    ) throws -> SettingsChange {
        let standing = StandingAmendment(entry: entry, value: value, since: .epoch, source: source)
        return SettingsChange(
            EngineSettings(try node.reloading.file.amended(by: [standing])),
            from: number,
            with: Amendment(.put(value), entry, by: source)
        )
    }

    private static func decided(_ scene: OwnerScene) async throws -> [EngineSettings?] {
        try await scene.log.askAll(InForceQuestion()).map(\.settings)
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
        let (scene, one, others) = try await Self.startedAtOneMoment()
        let other = try Node(scene)
        let team = AmendedEntry.team(TeamID("ABCDE12345"))
        let first =
            #"{"id":"ABCDE12345","keys":[{"id":"FIRSTKEY01","publicKey":"-----BEGIN PUBLIC KEY-----\nMFkw\n"}]}"#
        others.plan([try Self.change(team, first, at: one)])
        let amended = try await one.reloading.amend(team, .putPart("SECONDKEY1", Self.key("MFkw")), by: Self.night)
        #expect(amended.difference.faults == [])
        #expect(one.reloading.inForce.teams.first?.keys.map(\.id.rawValue) == ["FIRSTKEY01", "SECONDKEY1"])
        #expect(await other.follows())
        #expect(other.reloading.inForce == one.reloading.inForce)
        #expect(try await other.reloading.amendments().map(\.source) == [Self.night])
    }

    @Test func `a change as the client does not know it is refused, though it came at the same moment`() async throws {
        let (_, one, others) = try await Self.startedAtOneMoment()
        let body = #"{"bundleID":"com.example.news","team":"ABCDE12345"}"#
        others.plan([try Self.change(Self.news, body, at: one)])
        await #expect {
            try await one.reloading.amend(
                Self.news,
                .put(try json(body)),
                by: Self.night,
                if: ConfigurationReload.Condition(ifNoneMatch: "*")
            )
        } throws: { error in
            (error as? Problem)?.code == .preconditionFailed
        }
        let standing = try await one.reloading.amendments()
        #expect(standing.map(\.source) == [Self.day])
    }

    @Test func `a change that others overtake again and again is refused, and they stand`() async throws {
        let (_, one, others) = try await Self.startedAtOneMoment()
        var steps: [SettingsChange?] = []
        for number in 0..<4 {
            let source = OperatorSource(caller: "day", address: "203.0.113.8", request: "r-\(number)")
            let body = ##"{"bundleID":"com.example.news","team":"ABCDE12345","kinds":[{"kind":"k\##(number)"}]}"##
            // Following that one looks at files, too.
            steps += [try Self.change(Self.news, body, at: one, from: number, by: source), nil]
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

    @Test func `changes of two entries at one moment are both in force`() async throws {
        let (scene, one, others) = try await Self.startedAtOneMoment()
        let other = try Node(scene)
        let weather = AmendedEntry.app(BundleID("com.example.weather"))
        others.plan([try Self.change(weather, #"{"bundleID":"com.example.weather","team":"ABCDE12345"}"#, at: one)])
        _ = try await one.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        #expect(one.bundles == ["com.example.scores", "com.example.weather", "com.example.news"])
        let own = EngineSettings(one.reloading.inForce)
        #expect(try await Self.decided(scene) == [own, own])
        #expect(await other.follows())
    }

    @Test func `a reading of the file keeps a change at another gateway at the same moment`() async throws {
        let (scene, one, others) = try await Self.startedAtOneMoment()
        one.file.change("typical: 20", "typical: 25")
        others.plan([try Self.change(Self.news, #"{"bundleID":"com.example.news","team":"ABCDE12345"}"#, at: one)])
        let report = try await one.reloading.reload()
        #expect(report.faults == [] && report.applied.contains("policies[0].typical"))
        #expect(one.bundles == ["com.example.scores", "com.example.news"])
        let own = EngineSettings(one.reloading.inForce)
        #expect(try await Self.decided(scene) == [own, own])
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(await one.follows())
    }

    @Test func `a change by a request is refused if another gateway reads another file at the same moment`()
        async throws
    {
        let (scene, one, others) = try await Self.startedAtOneMoment()
        let other = try Node(scene)
        other.file.change("typical: 20", "typical: 25")
        others.plan([SettingsChange(EngineSettings(try other.file.read()), from: 0)])
        await #expect {
            try await one.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        } throws: { error in
            (error as? Problem)?.code == .preconditionFailed
        }
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(try await one.reloading.amendments() == [])
    }

    @Test func `a reading that others come before again and again is refused, and theirs are in force`() async throws {
        let (scene, one, others) = try await Self.startedAtOneMoment()
        one.file.change("typical: 20", "typical: 25")
        others.plan(
            try (0..<4).map { number in
                let body = ##"{"bundleID":"com.example.news","team":"ABCDE12345","kinds":[{"kind":"k\##(number)"}]}"##
                return try Self.change(Self.news, body, at: one, from: number)
            }
        )
        await #expect {
            try await one.reloading.reload()
        } throws: { error in
            (error as? Problem)?.code == .tooMany
        }
        #expect(try await Self.typical(scene) == [20, 20])
        #expect(try await one.reloading.reload().faults == [])
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(one.reloading.inForce.apps.last?.kinds.map(\.schema.kind.rawValue) == ["k3"])
    }

    @Test func `the settings of a start that come late undo no change`() async throws {
        let (scene, one, _) = try await Self.started()
        let start = EngineSettings(one.reloading.inForce)
        _ = try await one.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        let own = EngineSettings(one.reloading.inForce)
        #expect(own != start)
        let late = try await scene.log.appendToAll(.settings(start))
        #expect(late == [.settingsOvertaken, .settingsOvertaken])
        #expect(try await Self.decided(scene) == [own, own])
    }

    @Test func `a program with other rules than the partitions' puts no settings in force, and reads its file`()
        async throws
    {
        let time = FakeTime()
        let (journal, nodes) = (MemoryJournal(partitions: 1, clock: { time.wall }), MemoryNodes())
        var limits = OtherNodes.Limits()
        (limits.question, limits.answer) = (.minutes(5), .minutes(5))
        let owner = MemoryNode(1, journal, nodes, time, limits: limits)
        let rules = Engine.version + 1
        let newer = try Node(MemoryNode(2, journal, nodes, time, limits: limits, rules: rules).log, time)
        try await owner.take(PartitionID(0))
        _ = try await owner.log.appendToAll(.settings(EngineSettings(newer.reloading.inForce)))
        let before = await owner.log.progress().map(\.applied)
        #expect(try await newer.reloading.reload().faults == [])
        newer.file.change("typical: 20", "typical: 25")
        await #expect {
            try await newer.reloading.reload()
        } throws: { error in
            (error as? Problem)?.code == .preconditionFailed
        }
        await #expect {
            try await newer.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        } throws: { error in
            (error as? Problem)?.code == .preconditionFailed
        }
        #expect(await owner.log.progress().map(\.applied) == before)
    }

    @Test func `the record of a changed key has no settings, which may be many`() async throws {
        let (scene, one, _) = try await Self.started()
        func last() async throws -> SettingsChange? {
            let position = try #require(await scene.log.progress().first?.applied)
            let entry = try #require(try scene.journal.read(PartitionID(0), from: position, entriesMax: 1).first)
            let range = try #require(entry.records.first { _ in true })
            var reader = ByteReader(entry.bytes, in: range)
            guard case .configure(let change) = try Record(from: &reader) else { return nil }
            return change
        }
        let team = AmendedEntry.team(TeamID("ABCDE12345"))
        _ = try await one.reloading.amend(team, .putPart("FIRSTKEY01", Self.key("MFkw")), by: Self.night)
        let key = try #require(try await last())
        #expect(key.settings == nil && key.amendment?.entry == team)
        _ = try await one.reloading.amend(Self.news, .put(try json(#"{"team":"ABCDE12345"}"#)), by: Self.night)
        let app = try #require(try await last())
        #expect(app.settings == EngineSettings(one.reloading.inForce) && app.base == 1)
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
        await #expect {
            try await other.reloading.amend(Self.news, .put(body), by: Self.night)
        } throws: { error in
            (error as? Problem)?.code == .preconditionFailed
        }
        #expect(try await Self.typical(scene) == [25, 25])
        #expect(try await scene.log.askAnyPresent(InForceQuestion()).amendments == [])
    }
}

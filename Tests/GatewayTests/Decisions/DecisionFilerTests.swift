import Engine
import History
import Journaling
import Logging
import Partitions
import Settings
import TestSupport
import Testing
import WidgetModel

/// Decisions that engines have no room for: written, told by the operators' routes, and made again where they are lost.
@Suite(.timeLimit(.minutes(60))) struct DecisionFilerTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let route = "/v1/instances/com.example.scores/host-1:a0"
    private static let partition = PartitionID(0)

    /// A gateway whose engine keeps so many decisions, and a widget.
    private static func scene(
        keeping kept: Int,
        archive: MemoryArchive = MemoryArchive(),
        bytesMax: Int = 1_000_000,
        questionsMax: Int = 2
    ) async throws -> OperatorScene {
        let scene = try await OperatorScene(partitions: 1) { log, history, clock in
            var settings = GatewayConfiguration.Decisions()
            settings.bytesMax = bytesMax
            history.setLimit(concurrentMax: questionsMax)
            let store = DecisionStore(archive: archive, partitions: 1, settings: settings, logger: Self.logger)
            return DecisionFiler(store, log: log, history: history, clock: clock, logger: Self.logger)
        }
        var settings = Sports.settings
        settings.limits.decisionsRetainedMax = kept
        _ = try await scene.scene.log.appendToAll(.settings(settings))
        try await scene.scene.register("host-1")
        return scene
    }

    private static func push(_ numbers: ClosedRange<UInt64>, _ scene: OperatorScene) async throws {
        for number in numbers {
            _ = try await scene.scene.log.append(.push(Sports.push(number, to: "host-1")), for: HostKey("host-1"))
            scene.scene.time.pass(.minutes(1))
        }
    }

    private static func decisions(_ scene: OperatorScene, _ query: String = "?decisions=1000") async throws
        -> [JSONValue]
    {
        guard case .array(let rows)? = try await scene.send("GET", Self.route + query).json["decisions"] else {
            return []
        }
        return rows
    }

    private static func made(_ scene: OperatorScene) async throws -> Int {
        Int(try await scene.scene.log.ask(Self.partition, KeptDecisionsQuestion()).count)
    }

    private static func isWhole(_ scene: OperatorScene) async throws -> Bool {
        try await scene.send("GET", Self.route).json["ledger"]?["isWhole"] == .bool(true)
    }

    @Test func `an instance's decisions and day go back further than its engine`() async throws {
        let scene = try await Self.scene(keeping: 20)
        let filer = try #require(scene.filer)
        #expect(await filer.load())
        for first in [1, 11, 21] as [UInt64] {
            try await Self.push(first...(first + 9), scene)
            await filer.file()
        }
        let made = try await Self.made(scene)
        #expect(made > 30)
        let all = try await Self.decisions(scene)
        #expect(all.count == made)
        #expect(all.last?["cause"] == .string("added"))
        #expect(try await Self.decisions(scene, "?decisions=25").count == 25)
        #expect(try await Self.isWhole(scene))
        guard case .array(let entries)? = try await scene.send("GET", Self.route).json["ledger"]?["entries"] else {
            Issue.record("no entries")
            return
        }
        #expect(entries.first?["cause"] == .string("added"))
        let stats = try await scene.send("GET", "/v1/stats").json["decisionStore"]
        #expect(stats?["decisions"] == .int(Int64(made)) && stats?["leftOut"] == .int(0))
    }

    @Test func `what a push came to is told from there, a page at a time`() async throws {
        let scene = try await Self.scene(keeping: 20)
        let filer = try #require(scene.filer)
        try await Self.push(1...10, scene)
        await filer.file()
        try await Self.push(11...40, scene)
        await filer.file()
        let id = Sports.push(1, to: "").id
        var found: [JSONValue] = []
        var cursor: String? = ""
        while let place = cursor {
            let query = place.isEmpty ? "?limit=1" : "?limit=1&cursor=\(place)"
            let page = try await scene.send("GET", "/v1/pushes/\(id)/decisions\(query)").json
            if case .array(let rows)? = page["decisions"] { found += rows }
            if case .string(let next)? = page["next"] { cursor = next } else { cursor = nil }
        }
        #expect(!found.isEmpty && found.allSatisfy { $0["push"] == .string(id.description) })
        #expect(Set(found.map { "\($0)" }).count == found.count)
        #expect(found.first?["instance"] == .string("com.example.scores/host-1:a0"))
    }

    @Test func `what is made faster than it is written is left out, counted, and no day is whole then`() async throws {
        let scene = try await Self.scene(keeping: 5)
        let filer = try #require(scene.filer)
        await filer.file()
        let before = try await Self.made(scene)
        try await Self.push(1...20, scene)
        await filer.file()
        let made = try await Self.made(scene)
        #expect(filer.store.counts.leftOut == UInt64(made - 5 - before))
        #expect(filer.store.counts.decisions == before + 5)
        #expect(try await !Self.isWhole(scene))
        #expect(try await Self.decisions(scene).count == 5)
    }

    @Test func `a replay that is asked for makes again what is left out`() async throws {
        let scene = try await Self.scene(keeping: 5)
        let filer = try #require(scene.filer)
        try await Self.push(1...20, scene)
        await filer.file()
        #expect(try await !Self.isWhole(scene))
        #expect(try await scene.send("GET", Self.route).json["replay"] == nil)
        let begun = try await scene.send("GET", "\(Self.route)?replay=true").json["replay"]
        #expect(begun?["isRunning"] != nil)
        while filer.progress(Self.partition)?.isRunning == true { await Task.yield() }
        #expect(filer.progress(Self.partition)?.fault == nil)
        #expect(try await Self.decisions(scene).count == Self.made(scene))
        #expect(try await Self.isWhole(scene))
        // Stored decisions are not made twice.
        let count = filer.store.counts.decisions
        filer.replay(Self.partition)
        while filer.progress(Self.partition)?.isRunning == true { await Task.yield() }
        #expect(filer.store.counts.decisions == count)
    }

    @Test func `a replay that ended early says why in every answer after it`() async throws {
        let scene = try await Self.scene(keeping: 5, questionsMax: 0)
        let filer = try #require(scene.filer)
        _ = try await scene.send("GET", "\(Self.route)?replay=true")
        while filer.progress(Self.partition)?.isRunning == true { await Task.yield() }
        let replay = try await scene.send("GET", Self.route).json["replay"]
        #expect(replay?["isRunning"] == .bool(false))
        guard case .string(let fault)? = replay?["fault"] else {
            Issue.record("no fault")
            return
        }
        #expect(fault.contains("limits.maxHistoryQuestions"))
    }

    @Test func `where the file is lost, it is made again by itself`() async throws {
        let scene = try await Self.scene(keeping: 5)
        let filer = try #require(scene.filer)
        try await Self.push(1...20, scene)
        #expect(await filer.load())
        #expect(filer.progress(Self.partition) != nil)
        while filer.progress(Self.partition)?.isRunning == true { await Task.yield() }
        await filer.file()
        #expect(try await Self.decisions(scene).count == Self.made(scene))
    }

    @Test func `what is kept of another log is removed`() async throws {
        let archive = MemoryArchive()
        let long = try await Self.scene(keeping: 50, archive: archive)
        try await Self.push(1...20, long)
        await long.filer?.file()
        let other = try await Self.scene(keeping: 50, archive: archive)
        #expect(await other.filer?.load() == true)
        await other.filer?.file()
        #expect(try await other.filer?.store.counts.decisions == Self.made(other))
    }

    @Test func `with no bytes for them, nothing is written and nothing asked`() async throws {
        let scene = try await Self.scene(keeping: 5, bytesMax: 0)
        let filer = try #require(scene.filer)
        #expect(await filer.load())
        try await Self.push(1...20, scene)
        await filer.file()
        filer.replay(Self.partition)
        #expect(filer.progress(Self.partition) == nil && filer.store.counts.decisions == 0)
    }
}

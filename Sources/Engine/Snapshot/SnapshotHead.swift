import IntentMatching
import Storage
import Timelines
import WidgetModel

/// The part of a snapshot before any row: everything that is small.
struct SnapshotHead: Sendable {
    var version: UInt64 = 0
    var engineVersion: UInt64 = 0
    var partition: UInt64 = 0
    var partitions: UInt64 = 0
    var position = LogPosition.start
    var time = Instant.epoch
    var runningHash: UInt64 = 0
    var settings: EngineSettings?
    var teams: [String] = []
    var apps: [Catalogue.App] = []
    var kinds: [Catalogue.Kind] = []
    var pauses: [StandingOrder] = []
    var accounts: [SenderCounts] = []
    var counters = EngineStats()
    var pushes = PushTable.Sums()
    var repeatCapacity = 1
    var repeatOldest = 0
    var decisionCapacity = 1
    var decisionCount: UInt64 = 0
    /// How many rows each table ever had: hosts, instances, rolling days, matches, reloads, pushes.
    var ends = InlineArray<6, UInt32>(repeating: 0)
    var settingsVersion = 0
    var amendments: [StandingAmendment] = []

    init() {}

    init(_ engine: borrowing Engine) {
        self.version = EngineSnapshot.version
        self.engineVersion = UInt64(engine.rules)
        self.partition = UInt64(engine.partition.rawValue)
        self.partitions = UInt64(engine.partitions)
        self.position = engine.position
        self.time = engine.time
        self.runningHash = engine.runningHash
        self.settings = engine.settings
        self.teams = engine.catalogue.teams
        self.apps = engine.catalogue.apps
        self.kinds = engine.catalogue.kinds
        self.pauses = engine.standing
        self.accounts = engine.ledger.accounts.accounts
        self.counters = engine.counters
        self.pushes = engine.ledger.pushes.sums
        self.repeatCapacity = engine.ledger.repeats.capacity
        self.repeatOldest = engine.ledger.repeats.oldest
        self.decisionCapacity = engine.ledger.decisions.capacity
        self.decisionCount = engine.ledger.decisions.count
        self.ends[0] = UInt32(engine.registry.hosts.rows.end)
        self.ends[1] = UInt32(engine.registry.instances.rows.end)
        self.ends[2] = UInt32(engine.schedule.days.end)
        self.ends[3] = UInt32(engine.reloads.matches.end)
        self.ends[4] = UInt32(engine.reloads.table.rows.end)
        self.ends[5] = UInt32(engine.ledger.pushes.rows.end)
        self.settingsVersion = engine.settingsVersion
        self.amendments = engine.amendments
    }
}

extension SnapshotHead {
    /// Room is made beforehand for so many rows at most: a number that is damaged must not ask for all memory.
    static let expectedMax = 4_194_304

    /// For how many rows of a table room is made beforehand.
    func expectedRows(_ table: Int) -> Int { min(Int(self.ends[table]), Self.expectedMax) }

    /// Refuses versions that this program does not read.
    ///
    /// - Parameter rules: By which it goes on; nil for any, where it may be a state that other rules led to.
    func checkVersions(rules: Int?) throws(SnapshotError) {
        guard self.version == EngineSnapshot.version else { throw .otherFormat(version: self.version) }
        guard rules.map({ self.engineVersion == UInt64($0) }) ?? true else {
            throw .otherEngine(version: self.engineVersion)
        }
    }
}

extension SnapshotHead: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> SnapshotHead {
        var head = SnapshotHead()
        // Any version says these first, so that another version can be named.
        head.version = try coder.number(self.version)
        head.engineVersion = try coder.number(self.engineVersion)
        guard head.version == EngineSnapshot.version else { return head }
        head.partition = try coder.number(self.partition)
        head.partitions = try coder.number(self.partitions)
        head.position = try coder.position(self.position)
        head.time = try coder.instant(self.time)
        head.runningHash = try coder.fixed(self.runningHash)
        head.settings = try coder.value(self.settings)
        head.teams = try coder.value(self.teams)
        head.apps = try coder.list(self.apps, .blank)
        head.kinds = try coder.list(self.kinds, .blank)
        head.pauses = try coder.value(self.pauses)
        head.accounts = try coder.list(self.accounts, SenderCounts())
        head.counters = try self.counters.coded(by: &coder)
        head.pushes.complete.first = try coder.slot(self.pushes.complete.first)
        head.pushes.complete.last = try coder.slot(self.pushes.complete.last)
        head.pushes.completeCount = try coder.number(self.pushes.completeCount)
        head.pushes.matched = try coder.number(self.pushes.matched)
        head.pushes.totals = try coder.counters(self.pushes.totals)
        head.pushes.failures = try coder.counters(self.pushes.failures)
        head.repeatCapacity = try coder.number(self.repeatCapacity)
        head.repeatOldest = try coder.number(self.repeatOldest)
        head.decisionCapacity = try coder.number(self.decisionCapacity)
        head.decisionCount = try coder.number(self.decisionCount)
        head.ends = try coder.counters(self.ends)
        // Where no settings were changed, it is as before there were such changes.
        guard coder.goesOn(self.settingsVersion > 0) else { return head }
        head.settingsVersion = try coder.number(self.settingsVersion)
        head.amendments = try coder.value(self.amendments)
        return head
    }
}

extension Catalogue.App: Coded {
    static let blank = Catalogue.App(
        id: BundleID(""),
        team: .none,
        defaultExpiration: .zero,
        defaultPriority: .normal,
        developerMode: false,
        environment: .production
    )

    func coded(by coder: inout some StateCoder) throws(ByteError) -> Catalogue.App {
        Catalogue.App(
            id: BundleID(try coder.text(self.id.rawValue)),
            team: try coder.number(self.team),
            defaultExpiration: try coder.interval(self.defaultExpiration),
            defaultPriority: try coder.choice(self.defaultPriority),
            developerMode: try coder.flag(self.developerMode),
            environment: try coder.choice(self.environment),
            isConfigured: try coder.flag(self.isConfigured),
            kinds: try coder.value(self.kinds)
        )
    }
}

extension Catalogue.Kind: Coded {
    static let blank: Catalogue.Kind = {
        do throws(SchemaError) {
            let schema = try KindSchema(kind: WidgetKind("blank"))
            return Catalogue.Kind(app: .none, KindSettings(schema: schema))
        } catch {
            preconditionFailure("a schema without parameters: \(error)")
        }
    }()

    func coded(by coder: inout some StateCoder) throws(ByteError) -> Catalogue.Kind {
        var kind = Catalogue.Kind(
            app: try coder.number(self.app),
            try coder.value(KindSettings(schema: self.schema, budget: self.budget, usesLocation: self.usesLocation))
        )
        kind.replaced = try coder.list(self.replaced, .blank)
        kind.isConfigured = try coder.flag(self.isConfigured)
        return kind
    }
}

extension Catalogue.Replaced: Coded {
    static let blank = Catalogue.Replaced(budget: .widgetkit, at: .epoch)

    func coded(by coder: inout some StateCoder) throws(ByteError) -> Catalogue.Replaced {
        Catalogue.Replaced(budget: try coder.value(self.budget), at: try coder.instant(self.at))
    }
}

extension SenderCounts: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> SenderCounts {
        var counts = self
        for member in Self.members { counts[keyPath: member] = try coder.number(self[keyPath: member]) }
        return counts
    }
}

extension EngineStats: Coded {
    /// Only the counts that go on from record to record; the rest is computed when asked for.
    func coded(by coder: inout some StateCoder) throws(ByteError) -> EngineStats {
        var stats = EngineStats()
        for stat in EngineStat.all where stat.isCounted {
            stats[keyPath: stat.member] = try coder.number(self[keyPath: stat.member])
        }
        stats.reloadsExempt = try coder.counters(self.reloadsExempt)
        stats.reloadsByCause = try coder.counters(self.reloadsByCause)
        stats.freshness = try coder.value(self.freshness)
        stats.acknowledgement = try coder.value(self.acknowledgement)
        return stats
    }
}

import Engine
import History
import IntentMatching
import Journaling
import ReportPages
import Simulation
import TestSupport
import Testing
import Timelines
import WidgetModel

/// A log run again under another policy.
@Suite("what if") struct WhatIfTests {
    private static let app = BundleID("com.example.scores")
    private static let team = TeamID("ABCDE12345")
    private static let start = Instant(seconds: 1_793_638_800)
    private static let hosts = 6

    private static let tight: BudgetPolicy = {
        var policy = BudgetPolicy.widgetkit
        policy.name = "tight"
        (policy.rare, policy.typical, policy.frequent) = (4, 4, 4)
        return policy
    }()

    private static func settings(_ policy: BudgetPolicy) throws -> EngineSettings {
        let schema = try KindSchema(kind: WidgetKind("scores"), parameters: [ParameterSchema("team", .string)])
        let kind = KindSettings(schema: schema, budget: policy)
        return EngineSettings(apps: [AppSettings(app: Self.app, team: Self.team, kinds: [kind])])
    }

    /// A log as a gateway under a policy would have written it: pushes, answers, and ticks where timers were due.
    private struct Traffic: ~Copyable {
        private(set) var entries: [LogEntry] = []
        private(set) var engine = Engine(partition: PartitionID(0), partitions: 1)
        private(set) var now = WhatIfTests.start
        private var waiting: [(at: Instant, record: Record)] = []

        mutating func append(_ record: Record) throws {
            var packed = PackedRecords()
            packed.append(record.bytes)
            let entry = LogEntry(position: self.engine.position.next, logTime: self.now, packed: packed)
            self.entries.append(entry)
            var output = EngineOutput()
            try self.engine.apply(
                record.bytes,
                in: record.bytes.indices,
                recordIndex: 0,
                at: entry.position,
                logTime: entry.logTime,
                into: &output
            )
            for case .reload(let reload) in output.effects {
                let at = self.now + .seconds(3)
                let timeline = Timeline(entries: [TimelineEntry(date: at)], policy: .after(at + .hours(2)))
                let id = reload.address
                let report = TimelineReport(
                    host: id.host,
                    instance: id.instance,
                    reload: reload.id,
                    timeline: timeline
                )
                self.waiting.append((at, .timeline(report)))
            }
        }

        mutating func pass(_ interval: Interval) throws {
            let end = self.now + interval
            while true {
                let timer = self.engine.nextTimer.map { max($0, self.now) } ?? .distantFuture
                let answer = self.waiting.first?.at ?? .distantFuture
                guard min(timer, answer) <= end else { break }
                self.now = min(timer, answer)
                try self.append(timer <= answer ? .tick : self.waiting.removeFirst().record)
            }
            self.now = end
        }
    }

    /// - Parameter hasChanges: Whether settings change twice: a third of the pushes later of nothing, then to developer mode.
    private static func traffic(
        _ policy: BudgetPolicy,
        seed: UInt64 = 3,
        pushes: Int = 300,
        hasChanges: Bool = false
    ) throws -> Traffic {
        var traffic = Traffic()
        var random = SplitMix64(seed: seed)
        try traffic.append(.settings(try Self.settings(policy)))
        for number in 0..<Self.hosts {
            let instance = InstanceRegistration(
                id: InstanceID("w1"),
                kind: WidgetKind("scores"),
                family: .systemSmall,
                configuration: Configuration([.init(name: "team", value: .string("seahawks"))])
            )
            try traffic.append(
                .register(
                    HostRegistration(
                        host: HostKey("host-\(number)"),
                        token: DeviceToken(bytes: [1, UInt8(number)]),
                        revision: 1,
                        instances: [instance]
                    )
                )
            )
        }
        for count in 0..<pushes {
            try traffic.pass(.seconds(Int64(random.next() % 1200)))
            let push = PushRecord(
                id: PushID(high: 0, low: UInt64(count)),
                team: Self.team,
                contentHash: UInt64(count),
                priority: random.chance(1, in: 3) ? .high : .normal,
                target: .host(HostKey("host-\(random.next() % UInt64(Self.hosts))"), nil)
            )
            try traffic.append(.push(push))
            if hasChanges, count == pushes / 3 { try traffic.append(.configure(SettingsChange(nil, from: 0))) }
            if hasChanges, count == 2 * pushes / 3 {
                var settings = try Self.settings(policy)
                settings.apps[0].developerMode = true
                try traffic.append(.configure(SettingsChange(settings, from: 1)))
            }
        }
        try traffic.pass(.hours(1))
        return traffic
    }

    private static func state(behind entries: ArraySlice<LogEntry>) throws -> Engine {
        var engine = HistoryStart.empty(of: PartitionID(0), among: 1)
        var output = EngineOutput()
        for entry in entries {
            for (index, range) in entry.records.enumerated() {
                try engine.apply(
                    entry.bytes,
                    in: range,
                    recordIndex: index,
                    at: entry.position,
                    logTime: entry.logTime,
                    into: &output
                )
            }
        }
        return engine
    }

    private static func run(
        _ traffic: borrowing Traffic,
        _ policy: BudgetPolicy,
        since: Instant = Instant(milliseconds: .min)
    ) throws -> TwinRun.Result {
        var run = try TwinRun(
            HistoryStart.empty(of: PartitionID(0), among: 1),
            PolicyRewrite(policy),
            since: max(since, Self.start),
            starvedAfter: .hours(4)
        )
        for entry in traffic.entries { try run.applyEntry(entry) }
        return try run.finish()
    }

    @Test(arguments: Seeds.from(1, count: 6))
    func `under the same policy nothing would have been different`(seed: UInt64) throws {
        let traffic = try Self.traffic(.widgetkit, seed: seed)
        let run = try Self.run(traffic, .widgetkit)
        #expect(run.actual.all == run.other.all, "seed \(seed)")
        #expect(run.actual.senders == run.other.senders, "seed \(seed)")
        #expect(run.actual.starvedCount == run.other.starvedCount, "seed \(seed)")
        for outcome in PushOutcome.allCases {
            #expect(run.actual.outcomes[outcome] == run.other.outcomes[outcome], "seed \(seed), \(outcome)")
        }
        #expect(run.answersEstimated == 0, "seed \(seed)")
        #expect(run.answersKept > 100, "seed \(seed)")
        // And the measures of the actual run equal the engine's own counts.
        let stats = traffic.engine.stats()
        #expect(run.actual.all.issued == stats.reloadsIssued, "seed \(seed)")
        #expect(run.actual.all.charged == stats.reloadsCharged, "seed \(seed)")
    }

    @Test(arguments: Seeds.from(1, count: 6))
    func `from a state in the middle it measures what it does from the beginning`(seed: UInt64) throws {
        let traffic = try Self.traffic(.widgetkit, seed: seed)
        let middle = traffic.entries.count / 2
        let engine = try Self.state(behind: traffic.entries[..<middle])
        let since = traffic.entries[middle].logTime
        // Reloads that were out, and have their answers behind the middle, are the same in both runs.
        #expect(traffic.entries[middle...].contains { $0.logTime > since })
        var first = try TwinRun(engine.duplicate(), PolicyRewrite(.widgetkit), since: since, starvedAfter: .hours(4))
        var second = try TwinRun(engine, PolicyRewrite(Self.tight), since: since, starvedAfter: .hours(4))
        for entry in traffic.entries[middle...] {
            try first.applyEntry(entry)
            try second.applyEntry(entry)
        }
        let (same, tight) = (try first.finish(), try second.finish())
        let whole = try Self.run(traffic, .widgetkit, since: since)
        // A widget that waited already begins to wait with the next push: its wait is measured from there.
        func counts(_ run: TwinRun.Result) -> [Int] {
            [run.actual.all.issued, run.actual.all.charged, run.actual.all.exempt, run.actual.all.pushesServed]
        }
        #expect(counts(same) == counts(whole), "seed \(seed)")
        #expect(same.actual.all == same.other.all, "seed \(seed)")
        #expect(same.actual.senders == same.other.senders, "seed \(seed)")
        #expect(same.answersEstimated == 0, "seed \(seed)")
        #expect(counts(tight) == counts(whole), "seed \(seed)")
        #expect(tight.other.all.issued < tight.actual.all.issued, "seed \(seed)")
    }

    @Test func `settings that change behind others change in the other run, too`() throws {
        let traffic = try Self.traffic(.widgetkit, hasChanges: true)
        let change = Record.configure(SettingsChange(nil, from: 0)).bytes
        let middle = try #require(traffic.entries.firstIndex { $0.packed == PackedRecords(change) }) + 1
        let engine = try Self.state(behind: traffic.entries[..<middle])
        var renamed = BudgetPolicy.widgetkit
        renamed.name = "renamed"
        let since = traffic.entries[middle].logTime
        var run = try TwinRun(engine, PolicyRewrite(renamed), since: since, starvedAfter: .hours(4))
        for entry in traffic.entries[middle...] { try run.applyEntry(entry) }
        let result = try run.finish()
        #expect(result.actual.all == result.other.all)
        #expect(result.actual.all.exempt > 0)
    }

    @Test(arguments: Seeds.from(11, count: 4))
    func `under a tighter policy it is as if the gateway had had that policy`(seed: UInt64) throws {
        // Timelines that depend on nothing but when they are asked for: the estimate can be exact.
        let run = try Self.run(try Self.traffic(.widgetkit, seed: seed), Self.tight)
        let truth = try Self.traffic(Self.tight, seed: seed).engine.stats()
        #expect(run.other.all.issued < run.actual.all.issued, "seed \(seed)")
        #expect(run.other.all.charged == truth.reloadsCharged, "seed \(seed)")
        #expect(run.other.all.issued == truth.reloadsIssued, "seed \(seed)")
        #expect(run.other.starvedCount >= run.actual.starvedCount, "seed \(seed)")
        #expect(run.answersEstimated > 0, "seed \(seed)")
    }

    @Test func `only what came since is measured`() throws {
        let traffic = try Self.traffic(.widgetkit)
        let middle = traffic.entries[traffic.entries.count / 2].logTime
        let whole = try Self.run(traffic, Self.tight)
        let half = try Self.run(traffic, Self.tight, since: middle)
        #expect(half.actual.all.issued < whole.actual.all.issued)
        #expect(half.actual.senders[0].pushes < whole.actual.senders[0].pushes)
        let late = try Self.run(traffic, Self.tight, since: traffic.now + .days(1))
        #expect(late.actual.all.issued == 0)
    }

    @Test func `a rewrite is of one kind of one app, if it says so`() throws {
        let traffic = try Self.traffic(.widgetkit, pushes: 60)
        var run = try TwinRun(
            HistoryStart.empty(of: PartitionID(0), among: 1),
            PolicyRewrite(Self.tight, kind: WidgetKind("weather")),
            since: Self.start,
            starvedAfter: .hours(4)
        )
        for entry in traffic.entries { try run.applyEntry(entry) }
        let result = try run.finish()
        #expect(result.actual.all == result.other.all)
    }

    @Test func `the report says both, the difference, and what is estimated`() throws {
        let run = try Self.run(try Self.traffic(.widgetkit), Self.tight)
        let report = WhatIfReport(PolicyRewrite(Self.tight), since: Self.start, starvedAfter: .hours(4), [run])
        #expect(report.text.contains("policy tight"))
        #expect(report.text.contains("are estimated from the nearest earlier one"))
        #expect(report.text.contains("sender \(Self.team.rawValue)"))
        let page = report.page.text(chartScript: nil)
        #expect(page.contains("<title>What if: tight – Freshet</title>"))
        let json = String(decoding: report.jsonText, as: UTF8.self)
        #expect(json.hasPrefix(#"{"schema":1,"policy":"tight""#))
        #expect(json.contains(#""estimated":\#(run.answersEstimated)"#))
    }
}

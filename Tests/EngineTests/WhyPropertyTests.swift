import Engine
import History
import Journaling
import TestSupport
import Testing
import Timelines
import WidgetModel

/// `why` tells the engine's acts: for random days, for every widget there ever was.
@Suite("why") struct WhyPropertyTests {
    @Test(arguments: Seeds.from(7001, count: 12))
    func `it tells of every push that matched once, with the outcome that the ledger has`(seed: UInt64) throws {
        let schedule = Self.schedule(seed)
        let traces = try Self.traces(of: schedule)
        let stats = schedule.scene.engine.stats()
        let pushes = traces.flatMap(\.pushes)
        #expect(pushes.count == stats.matched, "seed \(seed)")
        var outcomes = OutcomeCounts()
        for push in pushes {
            let outcome = try #require(push.outcome, "seed \(seed): push \(push.record.id) has no outcome")
            outcomes[outcome] += 1
        }
        for outcome in PushOutcome.allCases {
            #expect(outcomes[outcome] == stats.outcomes[outcome], "seed \(seed), \(outcome)")
        }
        for view in Set(pushes.map(\.record.id)).flatMap({ schedule.scene.engine.push($0) }) {
            let matched = pushes.count {
                $0.record.id == view.id && $0.record.contentHash == view.contentHash && $0.position == view.position
            }
            #expect(matched == view.matched, "seed \(seed), push \(view.id)")
        }
        #expect(stats.matched > 100, "seed \(seed)")
    }

    @Test(arguments: Seeds.from(7101, count: 12))
    func `its charges add up to what the engine has charged`(seed: UInt64) throws {
        let schedule = Self.schedule(seed)
        let steps = try Self.traces(of: schedule).flatMap(\.steps)
        let stats = schedule.scene.engine.stats()
        // Decisions of its own, and collateral that the budget allowed.
        let charges = steps.flatMap(\.decisions).count {
            $0.outcome == .issued && ($0.reason == .conforms || $0.reason == .collateral)
        }
        #expect(charges == stats.reloadsCharged + stats.reloadsCollateral, "seed \(seed)")
        let reloads = steps.compactMap { $0.reload.map { Self.withoutNumbers($0.id) } }
        #expect(reloads.count == Set(reloads).count, "seed \(seed)")
        #expect(Set(reloads) == Set(schedule.scene.reloads.map { Self.withoutNumbers($0.id) }), "seed \(seed)")
    }

    @Test(arguments: Seeds.from(7201, count: 12))
    func `leaving out what cannot concern a widget changes nothing of it`(seed: UInt64) throws {
        let schedule = Self.schedule(seed)
        var skipped = 0
        for trace in try Self.traces(of: schedule) {
            let last = schedule.scene.engine.instance(trace.address)
            #expect(Self.withoutNumbers(trace.last) == Self.withoutNumbers(last), "seed \(seed), \(trace.address)")
            skipped += trace.work.records - trace.work.applied
        }
        #expect(skipped > 500, "seed \(seed)")
    }

    @Test(arguments: Seeds.from(7501, count: 3))
    func `a question about the whole partition leaves nothing out`(seed: UInt64) throws {
        let schedule = Self.schedule(seed, limitsMatches: true)
        let entries = Self.entries(of: schedule)
        for address in Self.addresses(of: schedule).prefix(3) {
            let trace = try Self.trace(address, entries, since: Instant(milliseconds: .min), isWhole: true)
            #expect(trace.work.applied >= trace.work.records, "seed \(seed), \(address)")
            #expect(trace.last == schedule.scene.engine.instance(address), "seed \(seed), \(address)")
        }
    }

    @Test(arguments: Seeds.from(7301, count: 6))
    func `from the middle on it tells the same as from the beginning`(seed: UInt64) throws {
        let schedule = Self.schedule(seed)
        let entries = Self.entries(of: schedule)
        let middle = entries[entries.count / 2].logTime
        for address in Self.addresses(of: schedule) {
            let whole = try Self.trace(address, entries, since: Instant(milliseconds: .min))
            let half = try Self.trace(address, entries, since: middle)
            let expected = whole.steps.filter { $0.at >= middle }.map { "\($0.at) \($0.decisions)" }
            #expect(half.steps.map { "\($0.at) \($0.decisions)" } == expected, "seed \(seed), \(address)")
        }
    }

    @Test(arguments: Seeds.from(7401, count: 6))
    func `from a snapshot's one host on it tells the same as from all of it`(seed: UInt64) throws {
        let schedule = Self.schedule(seed)
        let entries = Self.entries(of: schedule)
        let middle = entries.count / 2
        var engine = HistoryStart.empty(of: PartitionID(0), among: 1)
        let position = entries[middle - 1].position
        for entry in schedule.scene.log where entry.at <= position {
            var output = EngineOutput()
            try engine.apply(entry, into: &output)
        }
        var encoder = EngineSnapshotEncoder()
        var frames: [[UInt8]] = []
        while let frame = encoder.next(engine) { frames.append(frame) }
        var known = 0
        for address in Self.addresses(of: schedule) {
            var decoder = EngineSnapshotDecoder(partition: PartitionID(0), partitions: 1, only: address.host)
            for frame in frames { try decoder.takeFrame(frame) }
            let alone = try decoder.finish()
            let (there, here) = (
                Self.withoutNumbers(engine.instance(address)), Self.withoutNumbers(alone.instance(address))
            )
            #expect(here == there, "seed \(seed), \(address)")
            #expect(alone.stats().hosts == (engine.host(address.host) == nil ? 0 : 1), "seed \(seed), \(address)")
            known += alone.stats().hosts
            let trace = try Self.trace(address, entries[middle...], since: engine.time, from: alone)
            let whole = try Self.trace(address, entries, since: Instant(milliseconds: .min))
            let last = Self.withoutNumbers(schedule.scene.engine.instance(address))
            #expect(Self.withoutNumbers(trace.last) == last, "seed \(seed), \(address)")
            let told = Self.text(of: whole.steps.filter { $0.position > position })
            #expect(Self.text(of: trace.steps) == told, "seed \(seed), \(address)")
            #expect(
                trace.pushes.map { Self.text(of: $0) }
                    == whole.pushes.filter { $0.position > position }.map { Self.text(of: $0) },
                "seed \(seed), \(address)"
            )
        }
        #expect(known > 3, "seed \(seed)")
    }

    // MARK: -

    /// Steps as text, without budgets, which are told as of the last record that was applied.
    private static func text(of steps: [TraceStep]) -> [String] {
        steps.map {
            let reload = Self.withoutNumbers($0.reload)
            return "\($0.at) \($0.position) \($0.decisions) \(reload) \($0.served) \(Self.withoutNumbers($0.ended))"
        }
    }

    private static func text(of push: TracedPush) -> String {
        "\(push.position) \(push.record.id) \(Self.withoutNumbers(push.changes))"
    }

    /// A value as text, without the numbers of instances in the ids of its reloads: those are the gateway's, and are
    /// looked up in its outputs. And without those of decisions, of which there are fewer where there is one host.
    private static func withoutNumbers(_ value: some Any) -> String {
        String(describing: value).replacing(/\b(0-[0-9]+)-[0-9]+-([0-9a-f]{8})\b/) { "\($0.1)-\($0.2)" }
            .replacing(/earlierDecision: [^,]+,/, with: "")
    }

    /// - Parameter limitsMatches: Whether a push may match too many, which hangs on every host: in most of these tests one alone is replayed.
    private static func schedule(_ seed: UInt64, limitsMatches: Bool = false) -> RandomSchedule {
        var schedule = RandomSchedule(
            seed: seed,
            deliveries: seed.isMultiple(of: 3) ? [.apns, .apns, .stream] : [.stream],
            limitsMatches: limitsMatches
        )
        schedule.scene.checks = false
        schedule.run(steps: 500)
        return schedule
    }

    private static func entries(of schedule: RandomSchedule) -> [LogEntry] {
        var entries: [LogEntry] = []
        var packed = PackedRecords()
        let log = schedule.scene.log
        for (index, logged) in log.enumerated() {
            packed.append(logged.record.bytes)
            if index + 1 < log.count, log[index + 1].at == logged.at { continue }
            entries.append(LogEntry(position: logged.at, logTime: logged.time, packed: packed.takeAll()))
        }
        return entries
    }

    private static func addresses(of schedule: RandomSchedule) -> [InstanceAddress] {
        var found: Set<InstanceAddress> = []
        for case .register(let registration) in schedule.scene.log.map(\.record) {
            for instance in registration.instances {
                found.insert(InstanceAddress(host: registration.host, instance: instance.id))
            }
        }
        return found.sorted()
    }

    private static func trace(
        _ address: InstanceAddress,
        _ entries: some Sequence<LogEntry>,
        since: Instant,
        from engine: consuming Engine = HistoryStart.empty(of: PartitionID(0), among: 1),
        isWhole: Bool = false
    ) throws -> InstanceTrace {
        var replay = InstanceReplay(address, from: engine, since: since, isWhole: isWhole)
        for entry in entries { try replay.applyEntry(entry) }
        return try replay.finish()
    }

    private static func traces(of schedule: RandomSchedule) throws -> [InstanceTrace] {
        let entries = Self.entries(of: schedule)
        return try Self.addresses(of: schedule).map {
            try Self.trace($0, entries, since: Instant(milliseconds: .min))
        }
    }
}

import Engine
import IntentMatching
import TestSupport
import Testing
import TimelineProviding
import Timelines
import WidgetModel

/// A hundred thousand widgets that all want their next timeline at six o'clock: smoothing, planner and a provider that
/// counts, in virtual time; and the engine, which smooths like that.
@Suite struct HerdTests {
    private static let app = BundleID("com.example.scores")
    private static let kind = WidgetKind("scores")
    private static let start = Instant(seconds: 1_795_262_400)
    private static let six = Instant(seconds: 1_795_262_400 + 6 * 3600)
    private static let widgets = 100_000
    private static let slotSeconds = 300

    /// An engine that is fed record by record.
    private struct Feed: ~Copyable {
        var engine = Engine(partition: PartitionID(0), partitions: 1, seed: 1)
        var output = EngineOutput()
        var position = LogPosition.start

        mutating func apply(_ record: Record, at now: Instant) throws {
            let bytes = record.bytes
            self.position = self.position.next
            self.output.removeAll()
            try self.engine.apply(
                bytes,
                in: 0..<bytes.count,
                recordIndex: 0,
                at: self.position,
                logTime: now,
                into: &self.output
            )
        }

        var reloads: [ReloadEffect] {
            var reloads: [ReloadEffect] = []
            for case .reload(let reload) in self.output.effects { reloads.append(reload) }
            return reloads
        }
    }

    private static func settled(_ widgets: Int) throws -> Feed {
        var feed = Feed()
        let schema = try KindSchema(kind: Self.kind, parameters: [])
        let app = AppSettings(
            app: Self.app,
            team: TeamID("ABCDE12345"),
            kinds: [KindSettings(schema: schema, budget: .widgetkit)]
        )
        try feed.apply(.settings(EngineSettings(apps: [app])), at: Self.start)
        for number in 0..<widgets {
            let host = HostKey("host-\(number)")
            let instance = InstanceRegistration(
                id: InstanceID("a"),
                kind: Self.kind,
                family: .systemSmall,
                configuration: Configuration([])
            )
            try feed.apply(
                .register(
                    HostRegistration(
                        host: host,
                        token: DeviceToken(bytes: Array("token \(number)".utf8)),
                        revision: 1,
                        instances: [instance]
                    )
                ),
                at: Self.start
            )
            let report = TimelineReport(
                host: host,
                instance: instance.id,
                reload: feed.reloads.first?.id,
                timeline: Timeline(entries: [TimelineEntry(date: Self.start)], policy: .after(Self.six))
            )
            try feed.apply(.timeline(report), at: Self.start)
        }
        return feed
    }

    /// How many timelines the provider is asked for in each second, counted from a minute before six.
    ///
    /// - Parameter reloads: Issued in the second with this number, counted likewise.
    private static func asked(_ reloads: [[FetchItem]], _ limits: FetchLimits) -> [Int] {
        var planner = FetchPlanner(limits: limits, name: "\(Self.app)/\(Self.kind)")
        return reloads.enumerated().map { second, items in
            let now = Self.six + .seconds(Int64(second - 60))
            for item in items { planner.add(item) }
            var count = 0
            while let batch = planner.next(at: now) {
                count += batch.items.count
                planner.succeeded(batch.number, answered: Set(batch.items.map(\.reload)), at: now)
            }
            return count
        }
    }

    private static func item(_ number: Int, _ now: Instant) -> FetchItem {
        FetchItem(
            reload: Fixtures.reload(number),
            address: Fixtures.address(number),
            isVisible: false,
            expiresAt: now + .hours(24),
            priority: .high,
            issuedAt: now
        )
    }

    @Test func `nothing before the date, and in no ten seconds more than 1.1 times the even rate`() {
        var reloads: [[FetchItem]] = Array(repeating: [], count: 60 + Self.slotSeconds + 60)
        for number in 0..<Self.widgets {
            let host = HostKey("host-\(number)")
            let due = Self.six + Smoothing.offset(host: host, date: Self.six, slot: .minutes(5))
            // The engine's timers have whole seconds and are never early.
            let second = Int((due - Self.six).milliseconds + 999) / 1000
            reloads[60 + second].append(Self.item(number, Self.six + .seconds(Int64(second))))
        }
        let asked = Self.asked(reloads, FetchLimits())
        #expect(asked[..<60].allSatisfy { $0 == 0 })
        #expect(asked.reduce(0, +) == Self.widgets)
        let even = Double(Self.widgets) / Double(Self.slotSeconds) * 10
        let most = (0...(asked.count - 10)).map { asked[$0..<($0 + 10)].reduce(0, +) }.max() ?? 0
        #expect(Double(most) <= 1.1 * even, "\(most) in ten seconds, \(even) would be even")
        #expect(asked[(60 + Self.slotSeconds + 1)...].allSatisfy { $0 == 0 })
    }

    @Test func `a provider's own rate spreads them further, and none is lost`() {
        var limits = FetchLimits()
        (limits.rateCount, limits.rateBurst, limits.batchMax) = (2, 2, 10)
        var reloads: [[FetchItem]] = Array(repeating: [], count: 200)
        reloads[60] = (0..<1000).map { Self.item($0, Self.six) }
        let asked = Self.asked(reloads, limits)
        #expect(asked[..<60].allSatisfy { $0 == 0 })
        #expect(asked.allSatisfy { $0 <= 20 })
        #expect(asked.reduce(0, +) == 1000)
    }

    @Test func `the engine reloads each at its own second of the slot, and not before the date`() throws {
        var feed = try Self.settled(500)
        var seconds: [HostKey: Int] = [:]
        for second in -2...(Self.slotSeconds + 1) {
            try feed.apply(.tick, at: Self.six + .seconds(Int64(second)))
            for reload in feed.reloads { seconds[reload.host] = second }
        }
        #expect(seconds.count == 500)
        for (host, second) in seconds {
            let offset = Smoothing.offset(host: host, date: Self.six, slot: .minutes(5)).milliseconds
            #expect(second == Int(offset + 999) / 1000, "\(host)")
        }
    }
}

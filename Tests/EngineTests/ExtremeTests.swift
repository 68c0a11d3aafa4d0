import Foundation
import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Records whose numbers are the ends of their types, at any time of the log: each is taken or refused, the books close, and
/// every question has an answer. Everything that a peer, an operator, a provider or a configuration can say is a
/// record.
@Suite struct ExtremeTests {
    private static let hosts = ["phone", "tablet"]

    /// A schedule of such records, from a seed.
    private struct Schedule {
        var scene: Scene
        private var random: SplitMix64

        init(_ seed: UInt64, sliceUnits: Int) {
            self.scene = Scene()
            self.scene.sliceUnits = sliceUnits
            self.random = SplitMix64(seed: seed)
        }

        private mutating func pick<Element>(_ elements: [Element]) -> Element {
            elements[Int(self.random.next() % UInt64(elements.count))]
        }

        private mutating func chance(_ count: UInt64) -> Bool { self.random.next() % count == 0 }

        private mutating func number() -> Int64 {
            let near = [self.scene.now.milliseconds, self.scene.now.seconds, self.scene.engine.time.milliseconds]
            return self.chance(3)
                ? self.pick(near) &+ self.pick([-1, 0, 1, 60_000, 86_400_000]) : self.pick(Extremes.integers)
        }

        private mutating func instant() -> Instant { Instant(milliseconds: self.number()) }
        private mutating func interval() -> Interval { Interval(milliseconds: self.number()) }
        private mutating func length() -> Interval { max(.zero, self.interval()) }
        private mutating func host() -> HostKey { HostKey(self.pick(ExtremeTests.hosts), of: Scene.sports) }
        private mutating func instance() -> InstanceID { InstanceID(self.pick(["w1", "w2", "c1"])) }

        private mutating func optional<Value>(_ value: Value) -> Value? { self.chance(3) ? nil : value }

        mutating func run(steps: Int) {
            for _ in 0..<steps {
                // Log time is a number of the log, too. Mostly it passes as it does.
                switch self.random.next() % 100 {
                case 0: self.scene.jump(by: self.instant() - self.scene.now)
                case 1...50: self.scene.jump(by: .milliseconds(Int64(self.random.next() % 4_000_000)))
                default: break
                }
                let record = self.record()
                self.scene.apply(record)
                if self.chance(16) { self.ask() }
            }
        }

        private mutating func record() -> Record {
            switch self.random.next() % 16 {
            case 0...4: return .push(self.push())
            case 5...6: return self.registration()
            case 7:
                return .unregister(
                    HostRemoval(
                        host: self.host(),
                        token: self.optional(Scene.token(self.pick(ExtremeTests.hosts))),
                        notRegisteredSince: self.optional(self.instant())
                    )
                )
            case 8...9: return self.timeline()
            case 10: return self.signal()
            case 11: return .order(self.order())
            case 12: return self.settings()
            case 13:
                let host = self.host()
                let reloads = self.scene.engine.outstandingReloads(host: host)
                guard let reload = reloads.first else { return .tick }
                let isRefused = self.chance(2)
                return .delivery(
                    DeliveryReport(
                        host: host,
                        reload: reload.id,
                        result: isRefused ? .refused(reason: "") : .acknowledged
                    )
                )
            case 14: return .appReload(AppReloadRequest(app: Scene.sports, digest: [1]))
            default: return .tick
            }
        }

        private mutating func push() -> PushRecord {
            var push = self.scene.makePush(
                to: self.chance(2) ? self.pick(ExtremeTests.hosts) : nil,
                self.pick([.high, .normal, .low, nil]),
                expiration: self.optional(self.number()),
                notBefore: self.chance(3) ? self.instant() : nil,
                digest: self.chance(4) ? "d" : nil
            )
            push.contentHash = self.pick(Extremes.unsigned)
            if self.chance(4) { push.collapseID = CollapseID(bytes: [1]) }
            let value: ParameterValue = self.chance(2) ? .int(self.number()) : .double(self.pick(Extremes.doubles))
            push.attributes = Configuration([Configuration.Parameter(name: "health", value: value)])
            if self.chance(4) { push.pattern = .field(.parameter("league"), [.numeric(self.range())]) }
            return push
        }

        private mutating func range() -> NumericRange {
            let numbers = [ExactNumber(self.number()), ExactNumber(self.pick(Extremes.unsigned))]
            return NumericRange(
                lower: NumericRange.Bound(self.pick(numbers), isInclusive: self.chance(2)),
                upper: NumericRange.Bound(self.pick(numbers), isInclusive: self.chance(2))
            )
        }

        private mutating func registration() -> Record {
            var instances = [
                Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "kraken", pushEnabled: false),
            ]
            instances[0].when = self.chance(2) ? .field(.parameter("health"), [.numeric(self.range())]) : nil
            let name = self.pick(ExtremeTests.hosts)
            return .register(
                HostRegistration(
                    host: HostKey(name, of: Scene.sports),
                    token: Scene.token(name),
                    registrant: self.pick(Registrant.allCases),
                    revision: self.chance(2) ? 0 : self.pick(Extremes.unsigned),
                    delivery: self.pick([.stream, .apns]),
                    context: HostContext(width: self.pick(Extremes.doubles), height: self.pick(Extremes.doubles)),
                    lease: self.optional(self.interval()),
                    instances: instances
                )
            )
        }

        private mutating func timeline() -> Record {
            let host = self.host()
            let entries = (0..<self.random.next() % 4).map { _ in
                TimelineEntry(
                    date: self.instant(),
                    relevance: EntryRelevance(score: Float(self.pick(Extremes.doubles)), duration: self.interval())
                )
            }
            let reload = self.scene.engine.outstandingReloads(host: host).first
            return .timeline(
                TimelineReport(
                    host: host,
                    instance: reload?.address.instance ?? self.instance(),
                    reload: self.chance(2) ? reload?.id : nil,
                    timeline: Timeline(entries: entries, policy: self.pick([.atEnd, .never, .after(self.instant())])),
                    contentBytes: self.chance(2) ? Int(max(0, self.number())) : nil
                )
            )
        }

        private mutating func signal() -> Record {
            let host = self.host()
            let reload = ReloadID(
                partition: PartitionID(UInt16(truncatingIfNeeded: self.number())),
                position: LogPosition(self.pick(Extremes.unsigned)),
                instance: InstanceNumber(raw: min(.max - 1, UInt32(truncatingIfNeeded: self.number()))),
                check: UInt32(truncatingIfNeeded: self.number())
            )
            let known = self.scene.engine.outstandingReloads(host: host).first?.id ?? reload
            let event: HostSignal.Event = self.pick([
                .entryShown(self.chance(2) ? known : reload, date: self.instant()), .appForeground,
                .widgetVisible(self.instance()), .reloaded(self.instance()), .appIntent(self.instance()),
                .significantLocationChange,
            ])
            return .signal(HostSignal(host: host, event: event))
        }

        private mutating func order() -> OperatorOrder {
            let address = InstanceAddress(host: self.host(), instance: self.instance())
            return self.pick([
                OperatorOrder(.pause(until: self.instant()), .app(Scene.sports)),
                OperatorOrder(.pause(until: self.instant()), .sender(Scene.team)),
                OperatorOrder(.resume, .app(Scene.sports)), OperatorOrder(.resume, .sender(Scene.team)),
                OperatorOrder(.grant(OperatorOrder.grantMax), .instance(address)),
                OperatorOrder(.grant(OperatorOrder.grantMax), .app(Scene.sports)),
                OperatorOrder(.cancel, .host(address.host)), OperatorOrder(.reload, .instance(address)),
            ])
        }

        /// Settings are checked before they are logged; these are what their record can hold.
        private mutating func settings() -> Record {
            var limits = EngineLimits()
            let counts = [0, 1, 2, 1000, 1 << 31]
            limits.instancesPerHostMax = self.pick(counts)
            limits.tokensPerHostMax = self.pick(counts)
            limits.tagsMax = self.pick(counts)
            limits.pendingPerInstanceMax = self.pick(counts)
            limits.pushesRetainedMax = self.pick(counts)
            limits.pushRetention = self.length()
            limits.acknowledgementMax = self.length()
            limits.removedTokenRetention = self.length()
            limits.decisionsRetainedMax = self.pick([0, 1, 2, 1000])
            limits.repeatEntriesMax = self.pick([0, 1, 2, 1000])
            var budget = self.pick([BudgetPolicy.widgetkit, .unlimited, Scene.steady])
            budget.minimumInterval = self.pick([.zero, .minutes(5), .day])
            budget.exemptInterval = self.pick([.zero, .day])
            budget.learning.days = self.pick([0, 365])
            if budget.window != .none, self.chance(2) {
                budget.window = .fixed(length: self.pick([.minutes(1), .days(7)]), anchor: .utc)
            }
            if budget.window != .none, self.chance(3) {
                (budget.rare, budget.typical, budget.frequent) = (1, 1, self.pick([1, BudgetPolicy.allowanceMax]))
            }
            if budget.faults().isEmpty == false { budget = .widgetkit }
            var settings = Scene.settings(budget: budget, limits: limits)
            settings.apps[0].defaultExpiration = self.length()
            return .settings(settings)
        }

        private static func look(
            at list: some EngineList,
            of engine: borrowing Engine,
            from place: UInt64,
            _ limit: Int
        ) {
            _ = list.page(of: engine, ListPart(place: place, limit: limit, scanMax: limit))
        }

        /// Asks everything that can be asked, with the ends of what a question can hold.
        private mutating func ask() {
            let engine = self.scene.engine.duplicate()
            for name in ExtremeTests.hosts {
                let host = HostKey(name, of: Scene.sports)
                _ = engine.stack(of: host, at: self.instant())
                _ = engine.host(host)
                for id in ["w1", "w2"] {
                    _ = engine.instance(
                        InstanceAddress(host: host, instance: InstanceID(id)),
                        decisions: .max,
                        pending: .max
                    )
                }
            }
            for raw in [0, 1, UInt32.max] {
                let (start, place) = (InstanceNumber(raw: raw), UInt64(raw))
                for limit in [0, 1, Int.max] {
                    Self.look(at: InstanceFilter(), of: engine, from: place, limit)
                    Self.look(at: InstanceFilter(state: .waiting), of: engine, from: place, limit)
                    Self.look(at: HostList(of: nil), of: engine, from: place, limit)
                    Self.look(at: RegistrationList(of: Scene.sports), of: engine, from: place, limit)
                    Self.look(at: WidgetList(of: Scene.sports), of: engine, from: place, limit)
                    _ = ReloadsQuestion(.app(Scene.sports), from: start, limit: limit).answer(from: engine)
                    _ = ReloadsQuestion(.undelivered, from: start, limit: limit).answer(from: engine)
                }
                _ = engine.survey(from: self.instant(), at: start, count: .max)
            }
            for number in Extremes.unsigned {
                Self.look(at: PushFilter(), of: engine, from: number, .max)
                Self.look(at: DecisionList(about: self.scene.lastID), of: engine, from: number, .max)
                _ = engine.forEachDecision(from: number) { _ in }
            }
            _ = engine.dryRun(self.push(), decidedMax: 1000)
            _ = (engine.stats(), engine.senders(), engine.nextTimer)
        }
    }

    @Test(arguments: Seeds.from(7001, count: 8))
    func `no number of a record ends the process, and the books close after each`(seed: UInt64) throws {
        var schedule = Schedule(seed, sliceUnits: seed.isMultiple(of: 3) ? 1 : .max)
        schedule.run(steps: 80)
        let engine = schedule.scene.engine.duplicate()
        let frames = SnapshotTests.frames(of: engine)
        let again = try SnapshotTests.engine(of: frames)
        #expect(again.stateDigest() == engine.stateDigest(), "seed \(seed)")
        #expect(again.checkInvariants() == [], "seed \(seed)")
        // And again at each start.
        var replayed = Engine(partition: PartitionID(0), partitions: 1)
        var output = EngineOutput()
        for entry in schedule.scene.log {
            let bytes = entry.record.bytes
            try replayed.apply(
                bytes,
                in: 0..<bytes.count,
                recordIndex: 0,
                at: entry.at,
                logTime: entry.time,
                into: &output
            )
        }
        #expect(replayed.stateDigest() == engine.stateDigest(), "seed \(seed)")
    }

    /// A byte of a record that is another one may be another number: that is a record, too, or none.
    @Test(arguments: Seeds.from(7101, count: 4))
    func `no byte of a record ends the process`(seed: UInt64) {
        var schedule = RandomSchedule(seed: seed, deliveries: [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 120)
        var random = SplitMix64(seed: seed)
        var engine = schedule.scene.engine.duplicate()
        var (taken, position) = (0, engine.position)
        for entry in schedule.scene.log {
            for _ in 0..<6 {
                var bytes = entry.record.bytes
                for _ in 0...random.next() % 2 {
                    let place = Int(random.next() % UInt64(bytes.count))
                    bytes[place] = random.next() % 3 == 0 ? 0xFF : UInt8(truncatingIfNeeded: random.next())
                }
                position = position.next
                var output = EngineOutput()
                engine.prefetch(bytes, in: 0..<bytes.count)
                let isTaken =
                    (try? engine.apply(
                        bytes,
                        in: 0..<bytes.count,
                        recordIndex: 0,
                        at: position,
                        logTime: engine.time + .seconds(Int64(random.next() % 600)),
                        into: &output
                    )) != nil
                engine.finishPrefetch()
                taken += isTaken ? 1 : 0
            }
        }
        #expect(taken > 50, "seed \(seed): some are records all the same")
        #expect(engine.checkInvariants() == [], "seed \(seed)")
    }

    /// Files of snapshots have checksums; this test reads damaged bytes as if there were none.
    @Test(arguments: Seeds.from(7201, count: 4))
    func `no byte of a snapshot ends the process that reads it`(seed: UInt64) {
        var schedule = RandomSchedule(seed: seed, deliveries: [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 60)
        let frames = SnapshotTests.frames(of: schedule.scene.engine)
        var random = SplitMix64(seed: seed)
        var refused = 0
        for frame in frames.indices {
            for _ in 0..<30 {
                var damaged = frames
                let place = Int(random.next() % UInt64(damaged[frame].count))
                damaged[frame][place] = random.next() % 3 == 0 ? 0xFF : UInt8(truncatingIfNeeded: random.next())
                if (try? SnapshotTests.engine(of: damaged)) == nil { refused += 1 }
            }
        }
        #expect(refused > 0, "seed \(seed)")
    }

    /// A clock that is wrong by a century must not make an owner write ticks as fast as it can.
    @Test(arguments: [Int64.min, -1, 0, 4_294_967_293_999, 4_294_967_294_000, 4_294_967_295_000, .max])
    func `at any time of the log time stands still until it passes`(milliseconds: Int64) {
        var scene = Scene()
        scene.jump(by: Instant(milliseconds: milliseconds) - scene.now)
        scene.register("phone", lease: .hours(1), [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        scene.push(to: "phone", notBefore: .distantFuture)
        for _ in 0..<4 { scene.apply(.tick) }
        #expect(scene.engine.nextTimer.map { $0 > scene.engine.time } ?? true)
        #expect(scene.engine.time >= .epoch && scene.engine.time <= Engine.latest)
    }
}

import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Which widgets do not show yet what they should, why, and since when. That the counts are those of all rows the scene checks
/// after every record.
@Suite struct BehindTests {
    private static func phone(_ delivery: HostDelivery = .stream, budget: BudgetPolicy = Scene.steady) -> Scene {
        var scene = Scene(settings: Scene.settings(budget: budget))
        scene.settle("phone", delivery: delivery, [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    private static func counts(_ scene: Scene) -> [BehindReason: Int] {
        guard let kind = scene.engine.behind(longerThan: .zero).first else { return [:] }
        let counts = BehindReason.allCases.map { ($0, kind[$0]) }
        return Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 })
    }

    private static func since(_ scene: Scene, _ id: String = "w1") -> Instant? {
        scene.instance("phone", id)?.behindSince
    }

    @Test(
        arguments: [(.stream, .outToHost), (.apns, .outToUpstream), (.webhook, .outToWebhook)]
            as [(HostDelivery, BehindReason)]
    )
    func `while a reload is out the widget is behind, until that is acknowledged`(
        delivery: HostDelivery,
        reason: BehindReason
    ) {
        var scene = Self.phone(delivery)
        #expect(Self.counts(scene) == [:])
        scene.push(to: "phone")
        #expect(Self.counts(scene) == [reason: 1])
        #expect(Self.since(scene) == scene.now)
        scene.acknowledgeAll("phone")
        #expect(Self.counts(scene) == [:])
        #expect(Self.since(scene) == nil)
    }

    @Test func `what waits for its budget is behind since it came, also once its reload is out`() {
        var scene = Self.phone()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(1))
        let start = scene.now
        scene.push(to: "phone")
        #expect(Self.counts(scene) == [.minimumInterval: 1])
        scene.push(to: "phone", .normal)
        scene.pass(.minutes(4))
        #expect(Self.counts(scene) == [.outToHost: 1])
        #expect(Self.since(scene) == start)
        scene.acknowledgeAll("phone")
        #expect(Self.counts(scene) == [:])
        scene.push(to: "phone", .normal)
        #expect(Self.counts(scene) == [.budget: 1])
    }

    @Test func `an acknowledgement moves the second on to when its reload was issued, if something waits behind it`() {
        var scene = Self.phone()
        let start = scene.now
        scene.push(to: "phone")
        scene.pass(.minutes(2))
        scene.push(to: "phone")
        #expect(Self.counts(scene) == [.outToHost: 1])
        #expect(Self.since(scene) == start)
        scene.pass(.minutes(1))
        scene.acknowledgeAll("phone")
        #expect(Self.counts(scene) == [.minimumInterval: 1])
        #expect(Self.since(scene) == start)
        // The second reload is issued at its fifth minute, and a third push waits behind that.
        scene.pass(.minutes(2))
        #expect(Self.counts(scene) == [.outToHost: 1])
        scene.push(to: "phone")
        scene.pass(.minutes(1))
        scene.acknowledgeAll("phone")
        #expect(Self.since(scene) == start + .minutes(5))
    }

    @Test func `what ends without being shown ends the delay, and moves no second`() {
        var scene = Self.phone()
        let start = scene.now
        scene.push(to: "phone")
        scene.pass(.minutes(1))
        scene.push(to: "phone", .normal)
        for reload in scene.engine.outstandingReloads(host: scene.key("phone")) {
            scene.apply(.delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .refused(reason: ""))))
        }
        #expect(Self.counts(scene) == [.budget: 1])
        #expect(Self.since(scene) == start)
        scene.order(.cancel, .app(Scene.sports))
        #expect(Self.counts(scene) == [:])
        scene.push(to: "phone", .normal, expiration: scene.now.seconds + 60)
        #expect(Self.counts(scene) == [.budget: 1])
        scene.pass(.minutes(2))
        #expect(Self.counts(scene) == [:])
    }

    @Test func `what waits for its date is not behind, and then it is`() {
        var scene = Self.phone()
        let date = scene.now + .hours(1)
        scene.push(to: "phone", notBefore: date)
        #expect(scene.instance("phone", "w1")?.waitsFor == .notBefore)
        #expect(Self.counts(scene) == [:])
        scene.pass(.hours(1))
        #expect(Self.counts(scene) == [.outToHost: 1])
        #expect(Self.since(scene) == date)
    }

    @Test func `priority 1 waits for another reload, and a pause is a reason of its own`() {
        var scene = Self.phone()
        scene.push(to: "phone", .low)
        #expect(Self.counts(scene) == [.anotherReload: 1])
        scene.order(.pause(until: nil), .app(Scene.sports))
        scene.push(to: "phone")
        #expect(Self.counts(scene) == [.paused: 1])
        scene.order(.resume, .app(Scene.sports))
        #expect(Self.counts(scene) == [.outToHost: 1])
    }

    @Test func `a timeline's request of a widget that is not seen is not behind`() {
        var scene = Self.phone()
        scene.checks = false
        scene.apply(ReloadTests.report(scene, ReloadTests.timeline(scene, in: .days(60))))
        scene.signal("phone", .widgetHidden(InstanceID("w1")))
        scene.rest(.days(59))
        scene.pass(.days(1) + .minutes(10))
        #expect(scene.instance("phone", "w1")?.waitsFor == .hidden)
        #expect(Self.counts(scene) == [:])
        scene.signal("phone", .widgetVisible(InstanceID("w1")))
        #expect(Self.counts(scene) == [.outToHost: 1])
        #expect(scene.engine.checkInvariants() == [])
    }

    @Test func `a widget that no push reaches says so`() {
        var scene = Self.phone(.apns)
        scene.order(.pause(until: nil), .app(Scene.sports))
        scene.push(to: "phone")
        scene.register(
            "phone",
            revision: 2,
            delivery: .apns,
            [Scene.scores("w1", team: "seahawks", pushEnabled: false)]
        )
        scene.order(.resume, .app(Scene.sports))
        #expect(Self.counts(scene) == [.unreachable: 1])
        scene.register("phone", revision: 3, delivery: .apns, [])
        #expect(Self.counts(scene) == [:])
    }

    @Test func `a host that is reached in another way from now on is waited for there`() {
        var scene = Self.phone()
        let start = scene.now
        scene.push(to: "phone")
        for (revision, delivery, reason) in [
            (2, .webhook, .outToWebhook), (3, .apns, .outToUpstream), (4, .stream, .outToHost),
        ] as [(UInt64, HostDelivery, BehindReason)] {
            scene.pass(.seconds(10))
            scene.register("phone", revision: revision, delivery: delivery, [Scene.scores("w1", team: "seahawks")])
            #expect(Self.counts(scene) == [reason: 1])
            #expect(Self.since(scene) == start)
        }
    }

    @Test func `ages are told by the minute, the goal included, and beyond a day together`() throws {
        var scene = Self.phone()
        scene.order(.pause(until: nil), .app(Scene.sports))
        scene.jump(by: .minutes(1) - .seconds(scene.now.seconds % 60))
        let start = scene.now
        func late(_ goal: Interval, after age: Interval) throws -> Int {
            try #require(scene.engine.behind(longerThan: goal, now: start + age).first).late
        }
        scene.jump(by: .seconds(20))
        scene.push(to: "phone", expiration: (start + .days(20)).seconds)
        #expect(try #require(scene.engine.behind(longerThan: .zero).first).oldest == scene.now)
        // A widget is late if it has been behind for longer, and so have all widgets of its minute.
        #expect(try late(.minutes(15), after: .minutes(15)) == 0)
        #expect(try late(.minutes(15), after: .minutes(15) + .seconds(59)) == 0)
        #expect(try late(.minutes(15), after: .minutes(16)) == 1)
        #expect(try late(.day, after: .day + .seconds(59)) == 0)
        #expect(try late(.day, after: .day + .minutes(1)) == 1)
        // An answer does not wait for the log's time, and that moves minutes on.
        scene.jump(by: Interval.minutes(Int64(BehindTable.minutes)) - .seconds(30))
        scene.apply(.tick)
        let beside = Scene.scores("w1", team: "seahawks")
        scene.register("tablet", [beside])
        scene.push(to: "tablet", expiration: (scene.now + .days(1)).seconds)
        var kind = try #require(scene.engine.behind(longerThan: .minutes(15)).first)
        #expect((kind.count, kind.late, kind.instances) == (2, 1, 2))
        #expect(kind.oldest == start + .seconds(59))
        scene.jump(by: .days(3))
        scene.apply(.order(OperatorOrder(.cancel, .host(scene.key("tablet")))))
        scene.register("tablet", revision: 2, [])
        kind = try #require(scene.engine.behind(longerThan: .day).first)
        #expect((kind.count, kind.late, kind.instances) == (1, 1, 1))
        #expect(try scene.now - #require(kind.oldest) > Interval.minutes(Int64(BehindTable.minutes)) - .minutes(1))
        scene.order(.cancel, .app(Scene.sports))
        kind = try #require(scene.engine.behind(longerThan: .day).first)
        #expect((kind.count, kind.late, kind.instances) == (0, 0, 1))
        #expect(kind.oldest == nil)
    }

    @Test func `a list of those that are behind looks at no others, and reaches the oldest`() {
        var scene = Scene()
        for number in 0..<20 {
            scene.settle("phone-\(number)", [Scene.scores("w1", team: number < 3 ? "seahawks" : "mariners")])
        }
        scene.push(match: "seahawks")
        let old = scene.now
        scene.pass(.minutes(20))
        scene.push(to: "phone-9")
        func listed(_ filter: InstanceFilter, scanMax: Int = 100) -> [String] {
            let part = ListPart(place: nil, limit: 100, scanMax: scanMax)
            return filter.page(of: scene.engine, part).rows.map(\.address.short)
        }
        // One number is that of all instances at rest.
        #expect(listed(InstanceFilter(state: .behind), scanMax: 5).count == 4)
        #expect(
            listed(InstanceFilter(state: .behind, behindSince: scene.now - .minutes(15))).sorted() == [
                "phone-0:w1", "phone-1:w1", "phone-2:w1",
            ]
        )
        #expect(listed(InstanceFilter(state: .behind, behindSince: old)).count == 3)
        #expect(listed(InstanceFilter(state: .behind, behindSince: old - .seconds(1))) == [])
        #expect(listed(InstanceFilter(behindSince: old)).count == 3)
        let row = PageQuestion(InstanceFilter(state: .behind), limit: 1).answer(in: scene).rows.first
        #expect(row?.behind == .outToHost)
        #expect(row?.behindSince == old)
    }

    @Test(arguments: Seeds.from(2601, count: 16))
    func `random schedules: since when, from what can be seen from outside`(seed: UInt64) throws {
        var schedule = RandomSchedule(
            seed: seed,
            settings: Scene.settings(budget: seed.isMultiple(of: 2) ? .widgetkit : Scene.steady),
            deliveries: [[.stream], [.stream, .webhook], [.apns, .stream]][Int(seed % 3)],
            hasClockSteps: seed.isMultiple(of: 7)
        )
        schedule.scene.checks = false
        schedule.run(steps: 400)
        var engine = Engine(partition: PartitionID(0), partitions: 1)
        var before: [InstanceAddress: InstanceView] = [:]
        var moved = 0
        for entry in schedule.scene.log {
            var output = EngineOutput()
            try engine.apply(entry, into: &output)
            let now = Instant(seconds: engine.time.seconds)
            for address in RandomSchedule.hosts.flatMap({ host in
                ["w1", "w2", "w3", "c1"].map { InstanceAddress(host: HostKey(host), instance: InstanceID($0)) }
            }) {
                let (old, new) = (before[address], engine.instance(address))
                before[address] = new
                guard let new, let since = new.behindSince else { continue }
                let isUntouched = new.decisions.allSatisfy {
                    $0.position != entry.at || $0.outcome == .deferred || $0.outcome == .issued
                }
                if since > now { Issue.record("seed \(seed), \(entry.at): \(address) since later") }
                guard let old, let oldSince = old.behindSince else {
                    if since != now { Issue.record("seed \(seed), \(entry.at): \(address) since \(since), not now") }
                    continue
                }
                let issued = Set(new.outstanding.map(\.id))
                let ended = old.outstanding.filter { !issued.contains($0.id) }
                let isShown = new.decisions.contains { $0.position == entry.at && $0.reason == .acknowledged }
                if since < oldSince { Issue.record("seed \(seed), \(entry.at): \(address) goes back") }
                // An instance that is registered anew, or with another token, begins anew.
                if isUntouched, new.generation == old.generation, since != oldSince {
                    Issue.record("seed \(seed), \(entry.at): \(address) moves")
                }
                if isShown, ended.count == 1, since.seconds < ended[0].issuedAt.seconds {
                    Issue.record("seed \(seed), \(entry.at): \(address) is shown, and stays")
                }
                if since > oldSince { moved += 1 }
            }
        }
        #expect(moved > 0 || seed > 2616, "seed \(seed)")
    }
}

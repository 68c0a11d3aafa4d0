import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// The life of reloads: timelines, exemptions, acknowledgements.
@Suite struct ReloadTests {
    static func timeline(_ scene: Scene, in interval: Interval, digest: String? = nil) -> Timeline {
        Timeline(
            entries: [TimelineEntry(date: scene.now), TimelineEntry(date: scene.now + interval)],
            policy: .atEnd,
            digest: digest.map { Array($0.utf8) }
        )
    }

    static func report(_ scene: Scene, _ timeline: Timeline, reload: ReloadID? = nil) -> Record {
        .timeline(
            TimelineReport(host: HostKey("phone"), instance: InstanceID("w1"), reload: reload, timeline: timeline)
        )
    }

    static func phone() -> Scene {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    @Test func `a widget that is added asks for its first timeline, and that is not charged`() {
        var scene = Scene()
        scene.register("phone", [Scene.scores("w1", team: "seahawks")])
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.added)])
        #expect(scene.issued.map(\.exemption) == [.added])
        #expect(scene.instance("phone", "w1")?.budget.charged == 0)
    }

    @Test func `at the end of its timeline a widget asks for the next one, within the slot`() {
        var scene = Self.phone()
        scene.apply(Self.report(scene, Self.timeline(scene, in: .hours(2))))
        let end = scene.now + .hours(2)
        scene.pass(.hours(2) - .seconds(1))
        #expect(scene.reloads.last?.causes == ReloadCauses(.added))
        scene.pass(.minutes(6))
        let reload = scene.reloads.last
        #expect(reload?.causes == ReloadCauses(.policy))
        #expect(reload?.isCharged == true)
        #expect(reload.map { $0.issuedAt >= end && $0.issuedAt <= end + .minutes(5) + .seconds(1) } == true)
    }

    @Test func `a push never moves the timeline's schedule`() {
        var scene = Self.phone()
        scene.apply(Self.report(scene, Self.timeline(scene, in: .hours(2))))
        let due = scene.instance("phone", "w1")?.timeline?.nextRequest
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        #expect(due != nil && scene.instance("phone", "w1")?.timeline?.nextRequest == due)
    }

    @Test func `a push shortly before a policy reload waits and joins it`() {
        var scene = Self.phone()
        scene.apply(Self.report(scene, Self.timeline(scene, in: .hours(2))))
        guard let due = scene.instance("phone", "w1")?.timeline?.nextRequest else {
            Issue.record("no schedule")
            return
        }
        scene.pass(due - scene.now - .minutes(4))
        let goal = scene.push(to: "phone", .normal)
        #expect(scene.issued == [])
        #expect(scene.lastDecision("phone", "w1")?.reason == .joinsPolicy)
        scene.pass(.minutes(4) + .seconds(1))
        #expect(scene.reloads.last?.causes == [ReloadCauses(.policy), ReloadCauses(.push)])
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(goal) == [.coalesced: 1])
    }

    @Test(arguments: [Priority.high, .normal])
    func `an urgent or short-lived push goes before the policy reload`(priority: Priority) {
        var scene = Self.phone()
        scene.apply(Self.report(scene, Self.timeline(scene, in: .hours(2))))
        guard let due = scene.instance("phone", "w1")?.timeline?.nextRequest else {
            Issue.record("no schedule")
            return
        }
        scene.pass(due - scene.now - .minutes(4))
        scene.push(to: "phone", priority, expiration: priority == .high ? nil : scene.now.seconds + 120)
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.push)])
        #expect(scene.instance("phone", "w1")?.timeline?.nextRequest == due)
    }

    @Test func `while the app is in the foreground reloads are not charged, fifteen seconds apart`() {
        var scene = Self.phone()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        let waiting = scene.push(to: "phone")
        #expect(scene.outcomes(waiting) == [.deferred: 1])
        scene.pass(.minutes(1))
        scene.apply(.signal(HostSignal(host: HostKey("phone"), event: .appForeground)))
        #expect(scene.issued.map(\.exemption) == [.appForeground], "an exemption's start decides anew")
        let second = scene.push(to: "phone")
        #expect(scene.lastDecision("phone", "w1")?.reason == .exemptInterval)
        scene.pass(.seconds(15))
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(waiting) == [.exempt: 1])
        #expect(scene.outcomes(second) == [.exempt: 1])
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
    }

    @Test(arguments: zip(HostSession.allCases, [Exemption.mediaSession, .navigationSession, .locationSession]))
    func `a session lapses after an hour unless it is renewed`(session: HostSession, exemption: Exemption) {
        var scene = Self.phone()
        scene.push(to: "phone")
        scene.apply(.signal(HostSignal(host: HostKey("phone"), event: .sessionStarted(session))))
        scene.pass(.minutes(50))
        scene.apply(.signal(HostSignal(host: HostKey("phone"), event: .sessionStarted(session))))
        scene.pass(.minutes(50))
        scene.push(to: "phone")
        #expect(scene.issued.map(\.exemption) == [exemption])
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        scene.pass(.minutes(20))
        scene.push(to: "phone")
        #expect(scene.issued.map(\.exemption) == [nil])
        #expect(scene.engine.host(HostKey("phone"))?.exemptions == [])
    }

    @Test func `in developer mode nothing is charged`() {
        var scene = Scene(settings: Scene.settings(developerMode: true))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        for _ in 0..<60 {
            scene.push(to: "phone")
            scene.pass(.seconds(20))
        }
        #expect(scene.instance("phone", "w1")?.budget.charged == 0)
        #expect(scene.engine.stats().reloadsExempt[Int(Exemption.developerMode.rawValue)] == 61)
    }

    @Test func `a reload that is not acknowledged in time has failed, and its charge is kept`() {
        var scene = Self.phone()
        let push = scene.push(to: "phone", expiration: scene.now.seconds + 600)
        scene.pass(.minutes(10))
        #expect(scene.outcomes(push) == [.failed: 1])
        #expect(scene.engine.push(push, team: Scene.team).first?.counts[.unacknowledged] == 1)
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        #expect(scene.acknowledge(scene.reloads[1]) == .delivery(known: false))
    }

    @Test func `a reload that is refused gives its count back`() {
        var scene = Self.phone()
        let push = scene.push(to: "phone")
        let refusal = DeliveryReport(
            host: scene.issued[0].host,
            reload: scene.issued[0].id,
            result: .refused(reason: "out of memory")
        )
        #expect(scene.apply(.delivery(refusal)) == .delivery(known: true))
        #expect(scene.outcomes(push) == [.failed: 1])
        #expect(scene.engine.push(push, team: Scene.team).first?.counts[.refused] == 1)
        #expect(scene.instance("phone", "w1")?.budget.charged == 0)
        #expect(scene.apply(.delivery(refusal)) == .delivery(known: false))
    }

    @Test func `reloads that are out are offered again in their order`() {
        var scene = Self.phone()
        scene.push(to: "phone")
        scene.pass(.minutes(6))
        scene.push(to: "phone")
        let out = scene.engine.outstandingReloads(host: HostKey("phone"))
        #expect(out == Array(scene.reloads.suffix(2)))
        scene.acknowledge(out[1])
        #expect(scene.engine.outstandingReloads(host: HostKey("phone")) == [out[0]])
    }

    @Test(arguments: [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 2, 4, 1]])
    func `each of many reloads that are out is found, and no other`(order: [Int]) {
        var scene = Scene(settings: Scene.settings(developerMode: true))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        for _ in 0..<6 {
            scene.push(to: "phone")
            scene.pass(.seconds(20))
        }
        var out = scene.engine.outstandingReloads(host: HostKey("phone")).map(\.id)
        #expect(out.count == 6)
        let ids = out
        let positions = Set(ids.map(\.position.rawValue))
        for ended in order {
            for position in 0..<ids[5].position.rawValue + 3 where !positions.contains(position) {
                let id = ReloadID(
                    partition: ids[0].partition,
                    position: LogPosition(position),
                    instance: ids[0].instance,
                    check: ids[0].check
                )
                #expect(FetchSubject.find(id, in: scene.engine) == nil)
            }
            for id in ids { #expect(FetchSubject.find(id, in: scene.engine)?.reload == (out.contains(id) ? id : nil)) }
            let report = DeliveryReport(host: HostKey("phone"), reload: ids[ended], result: .acknowledged)
            scene.apply(.delivery(report))
            out.removeAll { $0 == ids[ended] }
            #expect(scene.engine.outstandingReloads(host: HostKey("phone")).map(\.id) == out)
        }
    }

    @Test func `a timeline that names its reload acknowledges it`() {
        var scene = Self.phone()
        let push = scene.push(to: "phone")
        let id = scene.issued[0].id
        scene.apply(Self.report(scene, Self.timeline(scene, in: .hours(2), digest: "7:0"), reload: id))
        #expect(scene.outcomes(push) == [.reloaded: 1])
        let again = scene.push(to: "phone", digest: "7:0")
        #expect(scene.outcomes(again) == [.unchanged: 1])
    }

    @Test func `a timeline for a configuration of yesterday is discarded`() {
        var scene = Self.phone()
        scene.push(to: "phone")
        let id = scene.issued[0].id
        scene.pass(.minutes(1))
        scene.register("phone", revision: 2, [Scene.scores("w1", team: "mariners")])
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.configured)])
        let answer = scene.apply(Self.report(scene, Self.timeline(scene, in: .hours(2)), reload: id))
        #expect(answer == .staleGeneration)
        #expect(scene.instance("phone", "w1")?.timeline == nil)
    }

    @Test func `the app's own wish reaches silent widgets and is urgent`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks", pushEnabled: false)])
        let request = AppReloadRequest(
            app: Scene.sports,
            kind: WidgetKind("scores"),
            pattern: Scene.pattern(team: "seahawks")
        )
        #expect(scene.apply(.appReload(request)) == .appReload(matched: 1))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.appRequest)])
        #expect(scene.issued.map(\.isCharged) == [true])
    }

    @Test func `a push accepted after a reload was issued is never taken into it`() {
        var scene = Self.phone()
        let answers = scene.apply([.push(scene.makePush(to: "phone")), .push(scene.makePush(to: "phone"))])
        #expect(answers == [.push(matched: 1, isRepeat: false), .push(matched: 1, isRepeat: false)])
        #expect(scene.issued.map(\.pushCount) == [1])
        #expect(scene.outcomes(scene.lastID) == [.deferred: 1])
    }

    @Test func `the ids of reloads can be read back`() {
        let id = ReloadID(
            partition: PartitionID(3),
            position: LogPosition(4711),
            instance: 17,
            check: 0x00AB_CDEF
        )
        #expect(id.description == "3-4711-17-00abcdef")
        #expect(ReloadID(id.description) == id)
        for text in [
            "3-x-17-00abcdef", "3-4711-17", "3-4711-17-abcdef", "+3-4711-17-00abcdef", "3-04711-17-00abcdef",
            "3-4711-17-00ABCDEF", "3-4711-17-00abcdef-", "3-4711-4294967295-00abcdef", "3-4711-4294967296-00abcdef",
            "70000-1-1-00000000", "",
            "3-+4711-17-00abcdef", "3--4711-17-00abcdef", "03-4711-17-00abcdef", "3-4711-017-00abcdef",
            "3-4711-17-0abcdef", "3-4711-17-000abcdef", "3-4711-17-+0abcdef", "3-4711-17-0x0abcde",
            " 3-4711-17-00abcdef", "3-18446744073709551616-17-00abcdef", "٣-4711-17-00abcdef", "3-4711-17-00abcdeg",
        ] {
            #expect(ReloadID(text) == nil, "\(text)")
        }
    }

    @Test func `the id of a reload at the end of all positions ends nothing`() throws {
        let id = try #require(ReloadID("65535-18446744073709551615-4294967294-ffffffff"))
        #expect(id.position.next == id.position)
        var scene = Self.phone()
        let report = DeliveryReport(host: HostKey("phone"), reload: id, result: .acknowledged)
        #expect(scene.apply(.delivery(report)) == .delivery(known: false))
    }

    @Test func `the id of a reload is about its own instance alone, whatever numbers come again`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "seahawks")])
        scene.settle("pad", [Scene.scores("w1", team: "mariners")])
        scene.push(to: "phone")
        let reloads = scene.issued
        #expect(reloads.map(\.instance.rawValue) == ["w1", "w2"])
        let (first, second) = (reloads[0].id, reloads[1].id)
        // Another's number, another's check, and the right ones told of another host.
        for id in [first.numbered(second.instance), second.numbered(first.instance)] {
            #expect(FetchSubject.find(id, in: scene.engine) == nil)
        }
        let foreign = DeliveryReport(host: HostKey("pad"), reload: first, result: .acknowledged)
        #expect(scene.apply(.delivery(foreign)) == .delivery(known: false))
        let shown = HostSignal(host: HostKey("pad"), event: .entryShown(first, date: scene.now))
        #expect(scene.apply(.signal(shown)) == .unknownReload)
        let timeline = TimelineReport(
            host: HostKey("phone"),
            instance: InstanceID("w1"),
            reload: second,
            timeline: Self.timeline(scene, in: .hours(2))
        )
        #expect(scene.apply(.timeline(timeline)) == .unknownReload)
        #expect(scene.engine.outstandingReloads(host: HostKey("phone")).map(\.id) == [first, second])
        // By the check alone, as where instances have other numbers.
        let own = DeliveryReport(host: HostKey("phone"), reload: first.numbered(99), result: .acknowledged)
        #expect(scene.apply(.delivery(own)) == .delivery(known: true))
        #expect(scene.engine.outstandingReloads(host: HostKey("phone")).map(\.id) == [second])
    }
}

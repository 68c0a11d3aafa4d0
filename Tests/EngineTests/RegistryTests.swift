import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// The instances and the tokens of hosts.
@Suite struct RegistryTests {
    static let seahawks = Scene.scores("w1", team: "seahawks")
    static let mariners = Scene.scores("w2", team: "mariners")

    @Test func `a registration replaces what the host showed, and what is unchanged keeps everything`() {
        var scene = Scene()
        scene.settle("phone", [Self.seahawks, Self.mariners])
        scene.push(to: "phone")
        let answer = scene.register("phone", revision: 2, [Self.seahawks, Scene.scores("w3", team: "kraken")])
        #expect(answer == .registered(RegistrationCounts(added: 1, unchanged: 1, removed: 1)))
        #expect(scene.outcomes(scene.lastID) == [.issued: 1, .removed: 1])
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        #expect(scene.instance("phone", "w2") == nil)
        #expect(scene.engine.host(HostKey("phone"))?.instances.map(\.id.rawValue) == ["w1", "w3"])
    }

    @Test func `an older revision changes nothing`() {
        var scene = Scene()
        scene.register("phone", revision: 7, [Self.seahawks])
        #expect(scene.register("phone", revision: 6, []) == .staleRevision(current: 7))
        #expect(scene.register("phone", revision: 7, [Self.seahawks]) == .registered(RegistrationCounts(unchanged: 1)))
        #expect(scene.output.directory == [])
    }

    @Test func `a changed configuration reloads and takes along what waits`() {
        var scene = Scene()
        scene.settle("phone", [Self.seahawks])
        scene.push(to: "phone")
        let waiting = scene.push(to: "phone")
        scene.pass(.minutes(1))
        let answer = scene.register("phone", revision: 2, [Scene.scores("w1", team: "kraken")])
        #expect(answer == .registered(RegistrationCounts(changed: 1)))
        #expect(scene.issued.map(\.causes) == [[ReloadCauses(.configured), ReloadCauses(.push)]])
        #expect(scene.issued.map(\.exemption) == [.configured])
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(waiting) == [.coalesced: 1])
        let kraken = scene.makePush(match: "kraken")
        #expect(scene.apply(.push(kraken)) == .push(matched: 1, isRepeat: false))
    }

    @Test func `a widget of another family is another widget with the same budget`() {
        var scene = Scene()
        scene.settle("phone", [Self.seahawks])
        let push = scene.push(to: "phone")
        var large = Self.seahawks
        large.family = .systemLarge
        scene.pass(.minutes(1))
        scene.register("phone", revision: 2, [large])
        #expect(scene.outcomes(push) == [.removed: 1])
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.added)])
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
    }

    @Test func `registering again mints no budget`() {
        var scene = Scene()
        scene.settle("phone", [Self.seahawks])
        var charged = 0
        for revision in 0..<400 {
            scene.push(to: "phone", expiration: 0)
            charged += scene.issued.count { $0.isCharged }
            scene.apply(.unregister(HostRemoval(host: HostKey("phone"))))
            scene.register("phone", revision: UInt64(revision), [Self.seahawks])
            charged += scene.issued.count { $0.isCharged }
            scene.pass(.minutes(3))
        }
        // Twenty hours: the burst, what the pace gave, and one.
        #expect(charged <= 8 + 20 * 60 / 45 + 1)
        #expect(scene.reloads.count { !$0.isCharged } <= 20 * 12 + 1, "added is free once in five minutes")
    }

    @Test func `a removed host is forgotten when its budget holds nothing back any more`() {
        var scene = Scene()
        scene.settle("phone", [Self.seahawks, Self.mariners])
        scene.push(to: "phone")
        scene.apply(.unregister(HostRemoval(host: HostKey("phone"))))
        #expect(scene.engine.host(HostKey("phone")) == nil)
        #expect(scene.engine.stats().tombstones == 2)
        scene.pass(.hours(25))
        #expect(scene.engine.stats().tombstones == 0)
        #expect(scene.engine.stats().hosts == 0)
        #expect(scene.apply(.unregister(HostRemoval(host: HostKey("phone")))) == .unknownHost)
    }

    @Test func `an erased host's tokens are not remembered, those of others are`() throws {
        var scene = Scene()
        var control = Scene.scores("c1", team: "mariners")
        control.controlToken = Scene.token("control")
        scene.register("phone", [Self.seahawks, control])
        scene.register("tablet", [Self.seahawks])
        scene.apply(.unregister(HostRemoval(host: HostKey("tablet"))))
        let removal = Record.unregister(HostRemoval(host: HostKey("phone"), purpose: .erasure))
        var reader = ByteReader(removal.bytes)
        let decoded = try Record(from: &reader)
        #expect(decoded == removal)
        #expect(scene.apply(removal) == .unregistered)
        let erased = [Scene.token("phone"), Scene.token("control")]
        #expect(
            scene.output.directory.filter { change in
                if case .forgotten(let token) = change { erased.contains(token) } else { false }
            }.count == 2
        )
        var known: [DeviceToken] = []
        scene.engine.removedTokens { changes in
            for case .removed(let token, _, _, _) in changes { known.append(token) }
        }
        #expect(known == [Scene.token("tablet")])
        #expect(scene.engine.checkInvariants() == [])
    }

    @Test func `the removal of a token that is erased elsewhere is forgotten, and what stands for something stays`() {
        var scene = Scene()
        for host in ["phone", "tablet", "watch"] { scene.register(host, [Self.seahawks]) }
        for host in ["phone", "tablet", "watch"] { scene.apply(.unregister(HostRemoval(host: HostKey(host)))) }
        scene.register("watch", revision: 2, [Self.seahawks])
        func erase(_ token: String) -> [DirectoryChange] {
            let removal = HostRemoval(host: HostKey("elsewhere"), token: Scene.token(token), purpose: .erasure)
            #expect(scene.apply(.unregister(removal)) == .unregistered)
            return scene.output.directory
        }
        #expect(erase("phone") == [.forgotten(Scene.token("phone"))])
        for token in ["phone", "watch", "nobody"] { #expect(erase(token) == [], "\(token)") }
        #expect(scene.engine.stats().removedTokens == 1, "the tablet's")
        #expect(scene.engine.host(HostKey("watch"))?.tokens == [Scene.token("watch")])
        #expect(scene.engine.checkInvariants() == [])
    }

    @Test func `a lease that runs out removes the host`() {
        var scene = Scene()
        scene.register("phone", lease: .hours(2), [Self.seahawks])
        scene.pass(.hours(1))
        scene.register("phone", revision: 2, lease: .hours(2), [Self.seahawks])
        let push = scene.push(to: "phone", .low)
        scene.pass(.hours(1) + .minutes(30))
        #expect(scene.engine.host(HostKey("phone")) != nil)
        scene.pass(.minutes(31))
        #expect(scene.engine.host(HostKey("phone")) == nil)
        #expect(scene.outcomes(push) == [.removed: 1])
        let end = Scene.start + .hours(3)
        #expect(scene.output.directory == [.removed(Scene.token("phone"), app: Scene.sports, .leaseEnded, at: end)])
    }

    @Test func `a token may take another's place, and the old one is remembered for thirty days`() {
        var scene = Scene()
        scene.register("phone", [Self.seahawks])
        let old = Scene.token("phone")
        let new = Scene.token("restored phone")
        var registration = HostRegistration(
            host: HostKey("phone"),
            token: new,
            replacedToken: old,
            revision: 2,
            instances: [Self.seahawks]
        )
        scene.apply(.register(registration))
        #expect(
            scene.output.directory == [
                .bound(new, host: HostKey("phone"), instance: nil),
                .removed(old, app: Scene.sports, .unregistered, at: scene.now),
            ]
        )
        #expect(scene.engine.host(HostKey("phone"))?.tokens == [new])
        let removedAt = scene.now
        scene.pass(.days(30) - .seconds(1))
        #expect(scene.engine.stats().removedTokens == 1)
        scene.pass(.seconds(1))
        #expect(scene.output.directory == [.forgotten(old)])
        #expect(scene.now == removedAt + .days(30))
        registration.revision = 3
        registration.host = HostKey("phone", of: Scene.game)
        registration.instances = []
        #expect(scene.apply(.register(registration)) == .refused(.tokenOfAnotherApp))
        registration.token = Scene.token("another phone")
        registration.replacedToken = nil
        #expect(scene.apply(.register(registration)) == .registered(RegistrationCounts()))
        #expect(scene.engine.host(HostKey("phone"))?.tokens == [new], "two apps may have hosts of one name")
    }

    @Test func `an upstream 410 removes the alias it names, if that is not newer`() {
        var scene = Scene()
        scene.register("phone", [Self.seahawks])
        let stale = HostRemoval(
            host: HostKey("phone"),
            token: Scene.token("phone"),
            notRegisteredSince: scene.now - .hours(1)
        )
        #expect(scene.apply(.unregister(stale)) == .unregistered)
        #expect(scene.engine.host(HostKey("phone")) != nil)
        scene.pass(.hours(2))
        let gone = HostRemoval(host: HostKey("phone"), token: Scene.token("phone"), notRegisteredSince: scene.now)
        #expect(scene.apply(.unregister(gone)) == .unregistered)
        #expect(scene.engine.host(HostKey("phone")) == nil, "the host goes with its last token")
    }

    @Test(arguments: ["phone", "light switch"])
    func `a control's token is neither its host's nor another control's`(taken: String) {
        var scene = Scene()
        var controls = ["c1", "c2"].map { Scene.scores($0, team: "seahawks") }
        controls[0].controlToken = Scene.token("light switch")
        controls[1].controlToken = Scene.token(taken)
        #expect(scene.register("phone", controls) == .refused(.duplicateToken(controls[1].id)))
        #expect(scene.engine.host(HostKey("phone")) == nil)
        controls[1].controlToken = Scene.token("door")
        #expect(scene.register("phone", controls) == .registered(RegistrationCounts(added: 2)))
    }

    @Test func `a control has a token of its own`() {
        var scene = Scene()
        var control = Self.mariners
        control.controlToken = Scene.token("light switch")
        scene.settle("phone", [Self.seahawks, control])
        scene.push(to: "phone")
        #expect(scene.issued.map(\.instance.rawValue) == ["w1"])
        var push = scene.makePush()
        push.target = .host(HostKey("phone"), InstanceID("w2"))
        scene.apply(.push(push))
        #expect(scene.issued.map(\.instance.rawValue) == ["w2"])
        scene.register("phone", revision: 2, [Self.seahawks])
        let token = Scene.token("light switch")
        #expect(scene.output.directory == [.removed(token, app: Scene.sports, .unregistered, at: scene.now)])
    }

    @Test func `what does not fit is refused and changes nothing`() {
        var limits = EngineLimits()
        limits.instancesPerHostMax = 2
        limits.tagsMax = 1
        var scene = Scene(settings: Scene.settings(limits: limits))
        var tagged = Self.seahawks
        tagged.tags = ["a", "b"]
        var kindless = Self.seahawks
        kindless.kind = WidgetKind("weather")
        var misfit = Self.seahawks
        misfit.configuration = Configuration([Configuration.Parameter(name: "team", value: .int(12))])
        let cases: [([InstanceRegistration], RegistrationError)] = [
            ([tagged], .tooManyTags(InstanceID("w1"), max: 1)),
            ([kindless], .unknownKind(WidgetKind("weather"))),
            ([misfit], .configuration(InstanceID("w1"))),
            ([Self.seahawks, Self.seahawks], .duplicateInstance(InstanceID("w1"))),
            ([Self.seahawks, Self.mariners, Scene.scores("w3", team: "x")], .tooManyInstances(max: 2)),
        ]
        for (instances, refusal) in cases {
            #expect(scene.register("phone", instances) == .refused(refusal))
            #expect(scene.engine.host(HostKey("phone")) == nil)
        }
        #expect(
            scene.register("phone", app: BundleID("com.example.none"), [])
                == .refused(.unknownApp(BundleID("com.example.none")))
        )
    }

    @Test func `a changed schema marks the widgets that no longer fit it`() {
        var scene = Scene()
        scene.settle("phone", [Self.seahawks])
        var settings = Scene.settings()
        settings.apps[0].kinds[0].schema = Scene.schema("scores", ["league"])
        #expect(scene.apply(.settings(settings)) == .settings(orphaned: 1))
        #expect(scene.instance("phone", "w1")?.isOrphaned == true)
        #expect(scene.apply(.settings(Scene.settings())) == .settings(orphaned: 0))
        settings.engineVersion = Engine.version + 1
        #expect(scene.apply(.settings(settings)) == .settingsTooNew(engineVersion: Engine.version + 1))
    }

    @Test func `a stricter policy holds at once, a more generous one from the next window`() {
        var scene = Scene()
        scene.settle("phone", [Self.seahawks])
        var strict = Scene.steady
        strict.typical = 10
        scene.apply(.settings(Scene.settings(budget: strict)))
        #expect(scene.instance("phone", "w1")?.budget.allowance == 10)
        scene.apply(.settings(Scene.settings()))
        #expect(scene.instance("phone", "w1")?.budget.allowance == 10)
        scene.pass(.hours(25))
        scene.apply(.tick)
        #expect(scene.instance("phone", "w1")?.budget.allowance == 40)
    }

    @Test func `the widgets of an app are listed page by page`() {
        var scene = Scene()
        for host in ["c", "a", "b"] { scene.register(host, [Self.mariners, Self.seahawks]) }
        scene.register("d", app: Scene.game, [Scene.character("w1", "spouty")])
        var seen: [String] = []
        var start: UInt64? = 0
        while let from = start {
            let part = ListPart(place: from, limit: 4, scanMax: 3)
            let page = WidgetList(of: Scene.sports).page(of: scene.engine, part)
            #expect(page.rows.count <= 3)
            seen += page.rows.map { "\($0.host.id):\($0.registration.id)" }
            start = page.next
        }
        #expect(seen == ["c:w1", "c:w2", "a:w1", "a:w2", "b:w1", "b:w2"])
        let mariners = Scene.pattern(team: "mariners")
        let list = WidgetList(of: Scene.sports, kind: WidgetKind("scores"), matching: mariners)
        let fans = PageQuestion(list, limit: 10).answer(in: scene)
        #expect(fans.rows.map(\.registration.id.rawValue) == ["w2", "w2", "w2"])
    }
}

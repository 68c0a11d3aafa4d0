import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// The signals of hosts, and the effect of each.
@Suite struct SignalTests {
    private static let phone = HostKey("phone")
    private static let widget = InstanceID("w1")

    private static func scene(usesLocation: Bool = false) -> Scene {
        var settings = Scene.settings()
        settings.apps[0].kinds[0].usesLocation = usesLocation
        var scene = Scene(settings: settings)
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        return scene
    }

    @Test(
        arguments: [
            (.locale, .localeChanged, .localeChanged), (.dynamicType, .dynamicTypeChanged, .dynamicTypeChanged),
            (.accessibility, .accessibilityChanged, .accessibilityChanged),
            (.appearance, .appearanceChanged, .appearanceChanged),
        ] as [(SystemChange, ReloadCause, Exemption)]
    )
    func `a system change reloads every widget of the host, not charged`(
        change: SystemChange,
        cause: ReloadCause,
        exemption: Exemption
    ) {
        var scene = Self.scene()
        scene.signal("phone", .systemChange(change))
        #expect(scene.issued.map(\.instance.rawValue) == ["w1", "w2"])
        #expect(scene.issued.allSatisfy { $0.causes == ReloadCauses(cause) && $0.exemption == exemption })
        #expect(scene.instance("phone", "w1")?.budget.charged == 0)
    }

    @Test func `the app's wish shortly after a system change is met by that change's reload`() {
        var scene = Self.scene()
        scene.signal("phone", .systemChange(.locale))
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(5))
        #expect(scene.apply(.appReload(AppReloadRequest(app: Scene.sports))) == .appReload(matched: 2))
        #expect(scene.issued == [])
        let decision = scene.lastDecision("phone", "w1")
        #expect(decision?.outcome == .coalesced && decision?.reason == .systemChange)
        scene.pass(.milliseconds(1))
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.appRequest), ReloadCauses(.appRequest)])
    }

    @Test func `the app's wish in StandBy is decided and charged as ever`() {
        var scene = Self.scene()
        scene.signal("phone", .standBy(true))
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.appRequest), ReloadCauses(.appRequest)])
        #expect(scene.issued.allSatisfy { $0.isCharged })
        scene.acknowledgeAll("phone")
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        #expect(scene.issued == [])
        #expect(scene.lastDecision("phone", "w1")?.reason == .minimumInterval)
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
    }

    @Test func `two system changes at once are one reload that names both, fifteen seconds on`() {
        var scene = Self.scene()
        scene.signal("phone", .systemChange(.locale))
        scene.signal("phone", .systemChange(.appearance))
        scene.signal("phone", .systemChange(.accessibility))
        #expect(scene.issued == [])
        scene.pass(.seconds(15))
        #expect(
            scene.issued.map(\.causes)
                == Array(repeating: [ReloadCauses(.accessibilityChanged), ReloadCauses(.appearanceChanged)], count: 2)
        )
    }

    @Test func `a tap reloads its widget alone, at once and not charged, and takes along what waits`() {
        var scene = Self.scene()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(1))
        let waiting = scene.push(to: "phone")
        scene.signal("phone", .appIntent(Self.widget))
        #expect(scene.issued.map(\.instance) == [Self.widget])
        #expect(scene.issued.map(\.causes) == [[ReloadCauses(.appIntent), ReloadCauses(.push)]])
        #expect(scene.issued.map(\.exemption) == [.appIntent])
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(waiting) == [.coalesced: 1, .deferred: 1])
    }

    @Test func `a significant change of location reloads what uses it when it is looked at next`() {
        var scene = Self.scene(usesLocation: true)
        scene.signal("phone", .widgetVisible(InstanceID("w2")))
        scene.signal("phone", .significantLocationChange)
        #expect(scene.issued.map(\.instance.rawValue) == ["w2"], "it is being looked at")
        scene.pass(.hours(7))
        #expect(scene.reloads.last?.instance.rawValue == "w2")
        scene.signal("phone", .widgetVisible(Self.widget))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.significantLocationChange)])
        #expect(scene.issued.map(\.exemption) == [.significantLocationChange])
        scene.pass(.hours(2))
        scene.signal("phone", .widgetVisible(Self.widget))
        #expect(scene.issued == [], "once a change")
    }

    @Test func `a kind that does not use the location does not reload for it`() {
        var scene = Self.scene()
        scene.signal("phone", .significantLocationChange)
        scene.signal("phone", .widgetVisible(Self.widget))
        #expect(scene.issued == [])
    }

    @Test func `animations, StandBy and low power are never reloads`() {
        var scene = Self.scene()
        let before = scene.reloads.count
        scene.signal("phone", .animation(Self.widget))
        scene.signal("phone", .standBy(true))
        scene.signal("phone", .lowPower(true))
        #expect(scene.reloads.count == before)
        #expect(scene.engine.host(Self.phone)?.isInStandBy == true)
        #expect(scene.engine.host(Self.phone)?.isInLowPower == true)
        scene.signal("phone", .standBy(false))
        #expect(scene.engine.host(Self.phone)?.isInStandBy == false)
    }

    @Test func `a reload that the host did by itself uses budget, and is not decided`() {
        var scene = Self.scene()
        let decisions = scene.instance("phone", "w1")?.decisions.count
        scene.signal("phone", .reloaded(Self.widget))
        scene.pass(.seconds(14))
        scene.signal("phone", .reloaded(Self.widget))
        let budget = scene.instance("phone", "w1")?.budget
        #expect(budget?.charged == 1 && budget?.observedReloads == 1, "two reports within 15 s are one reload")
        #expect(scene.instance("phone", "w1")?.decisions.count == decisions)
        scene.push(to: "phone")
        #expect(scene.lastDecision("phone", "w1")?.reason == .minimumInterval)
    }

    @Test func `what a host refreshes in StandBy or in the foreground is not booked`() {
        var scene = Self.scene()
        scene.signal("phone", .standBy(true))
        scene.signal("phone", .reloaded(Self.widget))
        scene.signal("phone", .standBy(false))
        scene.pass(.minutes(1))
        scene.signal("phone", .appForeground)
        scene.signal("phone", .reloaded(Self.widget))
        #expect(scene.instance("phone", "w1")?.budget.charged == 0)
        #expect(scene.instance("phone", "w1")?.budget.observedReloads == 2)
    }

    @Test func `a timeline that no reload brought is a reload of the host's own`() {
        var scene = Self.scene()
        let timeline = ReloadTests.timeline(scene, in: .hours(3))
        scene.apply(ReloadTests.report(scene, timeline))
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        scene.apply(ReloadTests.report(scene, timeline))
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
    }

    @Test func `an entry that is shown is evidence for its reload, and later ones are taken, too`() throws {
        var scene = Self.scene()
        let goal = scene.push(to: "phone", match: "seahawks")
        let reload = try #require(scene.issued.first)
        scene.signal("phone", .entryShown(reload.id, date: scene.now))
        #expect(scene.outcomes(goal) == [.reloaded: 1])
        let next = scene.now + .hours(1)
        scene.pass(.hours(1))
        #expect(scene.signal("phone", .entryShown(reload.id, date: next)) == .signalled)
        #expect(scene.instance("phone", "w1")?.shownEntry == next)
    }

    @Test func `signals about what is not there change nothing`() {
        var scene = Self.scene()
        #expect(scene.signal("tablet", .appForeground) == .unknownHost)
        #expect(scene.signal("phone", .widgetVisible(InstanceID("w9"))) == .unknownInstance)
    }
}

extension Scene {
    /// Lets time pass, and the engine know of it.
    mutating func rest(_ interval: Interval) {
        self.pass(interval)
        self.apply(.tick)
    }

    @discardableResult
    mutating func signal(_ host: String, _ event: HostSignal.Event) -> RecordAnswer.Result {
        self.apply(.signal(HostSignal(host: HostKey(host), event: event)))
    }
}

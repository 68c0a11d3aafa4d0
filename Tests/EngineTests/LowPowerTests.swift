import Engine
import Testing
import Timelines
import WidgetModel

/// Timelines of hosts in low power: their own reloads are further apart, and nothing else is.
@Suite struct LowPowerTests {
    /// A widget whose timeline asks again, on a host in low power; its pace is one in 45 minutes.
    ///
    /// - Parameters:
    ///   - interval: How long after its start the timeline asks.
    ///   - offset: How far behind a whole second everything happens. Timers have whole seconds.
    private static func scene(
        factor: BudgetPolicy.Share,
        isOn: Bool = true,
        askingIn interval: Interval = .hours(1),
        offset: Interval = .zero
    ) -> Scene {
        var policy = Scene.steady
        (policy.lowPower, policy.smoothing) = (factor, .zero)
        var scene = Scene(settings: Scene.settings(budget: policy))
        scene.jump(by: offset)
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        scene.acknowledgeAll("phone")
        scene.signal("phone", .lowPower(isOn))
        scene.apply(ReloadTests.report(scene, ReloadTests.timeline(scene, in: interval)))
        return scene
    }

    /// How long after the start of its timeline the widget reloads by itself.
    private static func delay(_ scene: inout Scene) -> Interval? {
        let (start, before) = (scene.now, scene.reloads.count)
        scene.pass(.hours(24))
        guard scene.reloads.count > before else { return nil }
        #expect(scene.reloads[before].causes == ReloadCauses(.policy))
        return scene.reloads[before].issuedAt - start
    }

    @Test(
        arguments: [
            (.init(1, of: 1), .hours(1)), (.init(4, of: 3), .hours(1)), (.init(2, of: 1), .minutes(90)),
            (.init(3, of: 1), .minutes(135)),
        ] as [(BudgetPolicy.Share, Interval)]
    )
    func `the timeline's own reload is so many times its pace after the last reload`(
        factor: BudgetPolicy.Share,
        delay: Interval
    ) throws {
        var scene = Self.scene(factor: factor)
        let found = try #require(Self.delay(&scene))
        #expect(found >= delay && found <= delay + .seconds(1), "\(found)")
    }

    @Test func `what is held says why, and until when`() throws {
        var scene = Self.scene(factor: .init(2, of: 1))
        let start = scene.now
        scene.pass(.minutes(70))
        let view = try #require(scene.instance("phone", "w1"))
        #expect(view.pending.map(\.cause) == [.policy])
        #expect(view.waitsFor == .lowPower)
        #expect(view.decidesAt == start + .minutes(90))
        let decision = try #require(view.decisions.first)
        #expect(decision.cause == .policy && decision.outcome == .deferred && decision.reason == .lowPower)
        #expect(decision.until == start + .minutes(90))
    }

    @Test func `the end of low power lets go what it held, and a host that is not in it is not slowed`() throws {
        var scene = Self.scene(factor: .init(3, of: 1))
        let before = scene.reloads.count
        scene.pass(.minutes(70))
        #expect(scene.reloads.count == before)
        scene.signal("phone", .lowPower(false))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.policy)])
        var other = Self.scene(factor: .init(3, of: 1), isOn: false)
        let delay = try #require(Self.delay(&other))
        #expect(delay <= .hours(1) + .seconds(1))
    }

    @Test(arguments: [Priority.high, .normal])
    func `a push is not slowed, and takes along what is held`(priority: Priority) {
        var scene = Self.scene(factor: .init(3, of: 1))
        scene.pass(.minutes(70))
        scene.push(to: "phone", priority)
        #expect(scene.issued.map(\.causes) == [[ReloadCauses(.policy), ReloadCauses(.push)]])
    }

    @Test(arguments: [(false, PushOutcome.issued), (true, .expired)])
    func `a push that is now or never does not go with a reload that is due, and held`(isOn: Bool, end: PushOutcome) {
        var scene = Self.scene(
            factor: .init(3, of: 1),
            isOn: isOn,
            askingIn: .minutes(30),
            offset: .milliseconds(500)
        )
        // It asks now, and its timer comes half a second later.
        scene.jump(by: .minutes(30))
        let push = scene.push(to: "phone", .normal, expiration: 0)
        #expect(scene.outcomes(push) == [end: 1])
    }

    @Test func `a look does not let go what low power holds`() {
        var scene = Self.scene(factor: .init(3, of: 1))
        scene.pass(.minutes(70))
        scene.signal("phone", .widgetVisible(InstanceID("w1")))
        #expect(scene.issued == [])
        #expect(scene.instance("phone", "w1")?.waitsFor == .lowPower)
    }

    @Test func `a policy without a budget has no pace that could be slowed`() throws {
        var policy = BudgetPolicy.unlimited
        (policy.lowPower, policy.smoothing) = (.init(9, of: 1), .zero)
        var scene = Scene(settings: Scene.settings(budget: policy))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.signal("phone", .lowPower(true))
        scene.apply(ReloadTests.report(scene, ReloadTests.timeline(scene, in: .hours(1))))
        let delay = try #require(Self.delay(&scene))
        #expect(delay <= .hours(1) + .seconds(1))
    }
}

import Engine
import Testing
import Timelines
import WidgetModel

/// A budget that follows whether and when its widget is looked at.
@Suite struct VisibilityTests {
    private static let widget = InstanceID("w1")

    private static func scene(_ budget: BudgetPolicy = Scene.steady) -> Scene {
        var scene = Scene(settings: Scene.settings(budget: budget))
        scene.checks = false
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    /// Days on which the widget is looked at so often, each time for a minute, an hour apart from 8:00 UTC on.
    private static func live(_ scene: inout Scene, days: Int, looks: Int) {
        for _ in 0..<days {
            let midnight = Instant(seconds: (scene.now.seconds / 86_400 + 1) * 86_400)
            scene.rest(midnight + .hours(8) - scene.now)
            for _ in 0..<looks {
                scene.signal("phone", .widgetVisible(Self.widget))
                scene.rest(.minutes(1))
                scene.signal("phone", .widgetHidden(Self.widget))
                scene.rest(.minutes(29))
            }
        }
    }

    private static func budget(_ scene: Scene) -> BudgetView? { scene.instance("phone", "w1")?.budget }

    @Test func `without a word about visibility the allowance stays typical`() {
        var scene = Self.scene()
        scene.rest(.days(40))
        #expect(Self.budget(scene)?.allowance == 40)
    }

    @Test func `a widget that is looked at all the time gets more, one that is never seen less`() {
        var scene = Self.scene()
        Self.live(&scene, days: 30, looks: 20)
        #expect(Self.budget(scene)?.allowance == 69)
        scene.rest(.days(60))
        #expect(Self.budget(scene)?.allowance == 10)
        #expect(Self.budget(scene)?.viewRate == 7)
    }

    @Test func `the allowance is fixed when the window opens`() {
        var scene = Self.scene()
        scene.rest(.days(2))
        let before = Self.budget(scene)
        for _ in 0..<5 {
            scene.signal("phone", .widgetVisible(Self.widget))
            scene.signal("phone", .widgetHidden(Self.widget))
            scene.rest(.minutes(6))
        }
        #expect(Self.budget(scene)?.windowStart == before?.windowStart)
        #expect(Self.budget(scene)?.allowance == before?.allowance)
        scene.rest(.days(1))
        #expect(Self.budget(scene)?.viewRate == 4 * 256 - 128 + 5 * 32)
    }

    @Test func `looks nearer than five minutes are one view, and so is looking on`() {
        var scene = Self.scene()
        scene.rest(.days(2))
        for _ in 0..<100 {
            scene.signal("phone", .widgetVisible(Self.widget))
            scene.signal("phone", .widgetHidden(Self.widget))
            scene.rest(.seconds(1))
        }
        for _ in 0..<20 {
            scene.rest(.minutes(10))
            scene.signal("phone", .widgetVisible(Self.widget))
        }
        scene.rest(.days(1))
        #expect(Self.budget(scene)?.viewRate == 4 * 256 - 128 + 2 * 32)
    }

    @Test func `a host's first days are more generous`() {
        var scene = Self.scene(.widgetkit)
        #expect(Self.budget(scene)?.isLearning == true)
        scene.rest(.days(2))
        #expect(Self.budget(scene)?.allowance == 60)
        scene.rest(.days(2))
        #expect(Self.budget(scene)?.isLearning == false)
        #expect(Self.budget(scene)?.allowance == 40)
    }

    @Test func `windows go to the hour at which the host is not looked at, an hour a day`() throws {
        var scene = Self.scene()
        let first = try #require(Self.budget(scene)?.windowStart)
        // Looked at around the clock but for the third hour of the day.
        for _ in 0..<(24 * 20) {
            if scene.now.seconds / 3600 % 24 != 3 {
                scene.signal("phone", .widgetVisible(Self.widget))
                scene.signal("phone", .widgetHidden(Self.widget))
            }
            scene.rest(.hours(1))
        }
        let budget = try #require(Self.budget(scene))
        #expect(budget.windowStart.seconds / 3600 % 24 == 3)
        #expect(budget.windowStart.seconds % 3600 == first.seconds % 3600)
    }

    @Test func `opening windows late or in time makes no difference`() {
        var late = Self.scene(.widgetkit)
        var early = late
        Self.live(&late, days: 12, looks: 3)
        Self.live(&early, days: 12, looks: 3)
        let end = late.now + .days(9)
        while early.now + .hours(5) < end {
            // A push of priority 1 opens the window and reloads nothing.
            early.push(to: "phone", .low, expiration: 1)
            early.rest(.hours(5))
        }
        early.rest(end - early.now)
        late.rest(end - late.now)
        #expect(Self.budget(early) == Self.budget(late))
    }

    // MARK: Thinning

    private static func unseen() -> Scene {
        var scene = Self.scene()
        Self.live(&scene, days: 1, looks: 1)
        scene.rest(.days(20))
        scene.apply(ReloadTests.report(scene, ReloadTests.timeline(scene, in: .hours(2))))
        return scene
    }

    @Test func `the timeline's reload of a widget that is hardly ever seen is held`() throws {
        var scene = Self.unseen()
        let before = scene.reloads.count
        let due = try #require(scene.instance("phone", "w1")?.timeline?.nextRequest)
        scene.rest(due - scene.now + .seconds(2))
        #expect(scene.reloads.count == before)
        let view = try #require(scene.instance("phone", "w1"))
        #expect(view.pending.map(\.cause) == [.policy])
        #expect(view.decidesAt == due + view.budget.interval * 4)
        #expect(view.waitsFor == .hidden)
        let decision = try #require(view.decisions.first)
        #expect(decision.cause == .policy && decision.outcome == .deferred && decision.reason == .hidden)
        #expect(decision.until == view.decidesAt)
        scene.rest(view.budget.interval * 4)
        #expect(scene.reloads.last?.causes == ReloadCauses(.policy))
    }

    @Test func `a held reload is done when the widget becomes visible, and is charged`() throws {
        var scene = Self.unseen()
        scene.rest(.hours(3))
        scene.signal("phone", .widgetVisible(Self.widget))
        #expect(scene.issued.map(\.causes) == [[ReloadCauses(.becameVisible), ReloadCauses(.policy)]])
        #expect(scene.issued.map(\.isCharged) == [true])
        scene.signal("phone", .widgetHidden(Self.widget))
        scene.signal("phone", .widgetVisible(Self.widget))
        #expect(scene.issued == [], "nothing is held any more")
    }

    @Test(arguments: [Priority.high, .normal])
    func `a push is not held, and takes the held reload along`(priority: Priority) {
        var scene = Self.unseen()
        scene.rest(.hours(3))
        scene.push(to: "phone", priority)
        #expect(scene.issued.map(\.causes) == [[ReloadCauses(.policy), ReloadCauses(.push)]])
        #expect(scene.instance("phone", "w1")?.pending == [])
    }

    @Test func `what is seen, or may be for all that is known, is not held`() {
        var silent = Self.scene()
        silent.rest(.days(20))
        silent.apply(ReloadTests.report(silent, ReloadTests.timeline(silent, in: .hours(2))))
        silent.rest(.hours(2) + .minutes(6))
        #expect(silent.reloads.last?.causes == ReloadCauses(.policy))
        var seen = Self.unseen()
        seen.rest(.hours(1) + .minutes(30))
        seen.signal("phone", .widgetVisible(Self.widget))
        seen.rest(.minutes(36))
        #expect(seen.reloads.last?.causes == ReloadCauses(.policy))
    }

    @Test func `a new timeline takes the place of a held reload`() {
        var scene = Self.unseen()
        scene.rest(.hours(3))
        scene.apply(ReloadTests.report(scene, ReloadTests.timeline(scene, in: .hours(5))))
        #expect(scene.instance("phone", "w1")?.pending == [])
        scene.signal("phone", .widgetVisible(Self.widget))
        #expect(scene.issued == [])
    }
}

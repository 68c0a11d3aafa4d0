import Engine
import Testing
import Timelines
import WidgetModel

/// Policies that become others, in cases that random schedules have found.
@Suite struct PolicyChangeTests {
    private static func policy(_ allowance: Int, _ window: BudgetPolicy.Window) -> BudgetPolicy {
        var policy = Scene.steady
        (policy.rare, policy.typical, policy.frequent) = (allowance, allowance, allowance)
        (policy.window, policy.burstDivisor) = (window, 6)
        return policy
    }

    /// Days have passed in fixed windows, so that the host's tuned ones are still to be opened: not as if the pace had
    /// been that of the new policy in them.
    private static func scene(standings: BudgetPolicy? = nil) -> Scene {
        let fixed = Self.policy(9, .fixed(length: .day, anchor: .utc))
        var scene = Scene(settings: Scene.settings(budget: fixed, standings: standings))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.pass(.days(2))
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(5))
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(5))
        return scene
    }

    @Test func `what was used stays used where windows come to be tuned`() throws {
        var scene = Self.scene()
        let before = try #require(scene.instance("phone", "w1")?.budget)
        scene.apply(.settings(Scene.settings(budget: Self.policy(12, .tuned))))
        let after = try #require(scene.instance("phone", "w1")?.budget)
        #expect(after.interval == before.interval)
        #expect(after.nextHigh == before.nextHigh)
        #expect(after.nextNormal == before.nextNormal)
    }

    @Test func `what was used stays used by a widget of another kind, whose windows are tuned`() throws {
        var scene = Self.scene(standings: Self.policy(12, .tuned))
        var same = Self.scene(standings: Self.policy(9, .tuned))
        let before = try #require(scene.instance("phone", "w1")?.budget)
        let widget = Scene.scores("w1", kind: "standings", team: "seahawks")
        scene.register("phone", revision: 2, [widget])
        same.register("phone", revision: 2, [widget])
        // Nine a day as before leave TAT where it is, and twelve bring it nearer in intervals, once.
        #expect(same.instance("phone", "w1")?.budget.nextNormal == before.nextNormal)
        let after = try #require(scene.instance("phone", "w1")?.budget)
        let used = (before.nextNormal - scene.now).milliseconds * after.interval.milliseconds
        let left = (after.nextNormal - scene.now).milliseconds
        #expect(left == (used + before.interval.milliseconds - 1) / before.interval.milliseconds)
    }

    /// A policy whose allowance follows from how often a widget is viewed.
    private static func viewed(_ window: BudgetPolicy.Window, scope: BudgetPolicy.Scope = .instance) -> BudgetPolicy {
        var policy = Self.policy(48, window)
        if scope == .instance { (policy.rare, policy.typical, policy.frequent) = (8, 24, 48) }
        policy.scope = scope
        (policy.minimumInterval, policy.burstDivisor) = (.zero, 2)
        return policy
    }

    @Test func `a replaced policy keeps the numbers with which its window opened, whatever is seen since`() throws {
        var scene = Scene(settings: Scene.settings(budget: Self.viewed(.fixed(length: .day, anchor: .utc))))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.pass(.days(2))
        scene.signal("phone", .widgetVisible(InstanceID("w1")))
        scene.signal("phone", .widgetHidden(InstanceID("w1")))
        scene.pass(.days(1))
        scene.apply(.settings(Scene.settings(budget: Self.viewed(.fixed(length: .hours(1), anchor: .utc)))))
        let before = try #require(scene.instance("phone", "w1")?.budget)
        #expect(before.windowEnd == before.windowStart + .days(1))
        var rounds = 0
        while scene.now + .hours(2) < before.windowEnd {
            scene.pass(.hours(1))
            let now = try #require(scene.instance("phone", "w1")?.budget)
            #expect(now.allowance == before.allowance)
            #expect(now.interval == before.interval)
            rounds += 1
        }
        #expect(rounds > 3)
        scene.pass(.hours(3))
        scene.push(to: "phone")
        #expect(try #require(scene.instance("phone", "w1")).budget.interval < before.interval)
    }

    /// In the window in which each still had a budget of its own, a widget that was seldom seen has the slower pace: a
    /// longer interval, but no more of them before TAT than the others.
    @Test func `a slower pace makes no more of a shared budget's burst`() throws {
        let day = BudgetPolicy.Window.fixed(length: .day, anchor: .utc)
        var scene = Scene(settings: Scene.settings(budget: Self.viewed(day)))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        for _ in 0..<8 {
            scene.pass(.days(1))
            for _ in 0..<4 {
                scene.signal("phone", .widgetVisible(InstanceID("w2")))
                scene.signal("phone", .widgetHidden(InstanceID("w2")))
                scene.pass(.minutes(10))
            }
        }
        scene.apply(.settings(Scene.settings(budget: Self.viewed(day, scope: .host))))
        let slow = try #require(scene.instance("phone", "w1")?.budget)
        let fast = try #require(scene.instance("phone", "w2")?.budget)
        #expect(slow.interval > fast.interval)
        var charged = 0
        while let next = scene.instance("phone", "w2")?.budget.nextHigh, next <= scene.now {
            scene.push(to: "phone", match: "mariners")
            scene.acknowledgeAll("phone")
            scene.pass(.minutes(1))
            charged += 1
            try #require(charged < 99)
        }
        #expect(charged == fast.burst + 1)
        let left = try #require(scene.instance("phone", "w1")).budget
        let ahead = fast.interval * Int64(fast.burst + 1 - left.burst)
        #expect(left.nextHigh >= scene.now + ahead - .minutes(Int64(charged)))
    }

    @Test func `a removed widget's budget is remembered as long as a policy that came since holds it back`() throws {
        let hour = BudgetPolicy.Window.fixed(length: .hours(1), anchor: .utc)
        var lax = Self.policy(12, hour)
        lax.minimumInterval = .minutes(1)
        var strict = lax
        strict.minimumInterval = .hours(3)
        var scene = Scene(settings: Scene.settings(budget: lax))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.pass(.hours(1))
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        let charged = scene.now
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        scene.register("phone", revision: 2, [])
        scene.apply(.settings(Scene.settings(budget: strict)))
        scene.pass(.hours(2))
        scene.register("phone", revision: 3, [Scene.scores("w1", team: "seahawks")])
        #expect(scene.instance("phone", "w1")?.budget.nextHigh == charged + .hours(3))
        scene.register("phone", revision: 4, [])
        scene.pass(.hours(4))
        #expect(scene.engine.stats().tombstones == 0, "and no longer")
    }
}

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
}

import Engine
import Testing
import Timelines
import WidgetModel

/// Budgets that all instances of a host share.
@Suite struct SharedBudgetTests {
    private static func policy(_ allowance: Int, scope: BudgetPolicy.Scope = .host) -> BudgetPolicy {
        var policy = BudgetPolicy.homeAssistant
        (policy.rare, policy.typical, policy.frequent) = (allowance, allowance, allowance)
        policy.scope = scope
        return policy
    }

    private static func scene(_ policy: BudgetPolicy) -> Scene {
        var scene = Scene(settings: Scene.settings(budget: policy))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        return scene
    }

    @Test func `two instances of a host use one budget, those of another host another`() {
        var scene = Self.scene(Self.policy(40))
        scene.settle("tablet", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone", match: "seahawks")
        scene.push(to: "phone", match: "mariners")
        #expect(scene.instance("phone", "w1")?.budget.charged == 2)
        #expect(scene.instance("phone", "w2")?.budget.charged == 2)
        #expect(scene.instance("tablet", "w1")?.budget.charged == 0)
    }

    @Test func `both reload at once while the burst lasts, then the pace holds back both`() {
        var scene = Self.scene(Self.policy(8))
        scene.push(to: "phone")
        #expect(scene.issued.count == 2)
        scene.pass(.minutes(1))
        scene.push(to: "phone")
        #expect(scene.issued == [])
        #expect(scene.lastDecision("phone", "w1")?.reason == .pace)
        #expect(scene.lastDecision("phone", "w2")?.reason == .pace)
    }

    @Test func `what one instance gives back the other gets at once`() throws {
        var policy = Self.policy(1)
        policy.burstDivisor = 2
        var scene = Self.scene(policy)
        let goal = scene.push(to: "phone", expiration: scene.now.seconds + 86_400 * 2)
        let reload = try #require(scene.issued.first)
        #expect(scene.instance("phone", "w2")?.budget.charged == 1)
        scene.apply(.delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .refused(reason: ""))))
        #expect(scene.instance("phone", "w2")?.budget.charged == 0)
        #expect(scene.outcomes(goal) == [.failed: 1, .deferred: 1], "the pace is not given back")
    }

    @Test func `coming to share a budget, and having one's own again, mints nothing`() {
        var scene = Self.scene(Self.policy(10, scope: .instance))
        scene.push(to: "phone", match: "seahawks")
        scene.push(to: "phone", match: "mariners")
        scene.acknowledgeAll("phone")
        scene.apply(.settings(Scene.settings(budget: Self.policy(10))))
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        scene.pass(.minutes(1))
        scene.push(to: "phone", match: "mariners")
        #expect(scene.instance("phone", "w1")?.budget.charged == 2)
        scene.apply(.settings(Scene.settings(budget: Self.policy(10, scope: .instance))))
        #expect(scene.instance("phone", "w1")?.budget.charged == 2)
        #expect(scene.instance("phone", "w2")?.budget.charged == 2)
    }

    /// One waits for its turn in the new window when it comes to share a budget that its neighbour has just used.
    @Test func `no widget reloads before all have come to share the budget`() {
        var policy = Self.policy(4, scope: .instance)
        policy.window = .fixed(length: .hours(1), anchor: .utc)
        policy.burstDivisor = 2
        policy.minimumInterval = .minutes(10)
        var scene = Self.scene(policy)
        for _ in 0..<4 {
            scene.push(to: "phone", match: "seahawks")
            scene.pass(.minutes(10))
        }
        #expect(scene.instance("phone", "w1")?.budget.charged == 4)
        scene.push(to: "phone", match: "seahawks")
        scene.pass(.minutes(18))
        scene.push(to: "phone", match: "mariners")
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(2) + .seconds(1))
        #expect(scene.instance("phone", "w1")?.pendingCount == 1)
        policy.scope = .host
        scene.apply(.settings(Scene.settings(budget: policy)))
        #expect(scene.issued == [])
        #expect(scene.instance("phone", "w1")?.decidesAt == scene.now + .minutes(7) + .seconds(59))
    }

    @Test func `removing and adding the widgets again leaves the host's budget as it is`() {
        var scene = Self.scene(Self.policy(10))
        scene.push(to: "phone")
        scene.register("phone", revision: 2, [])
        scene.register("phone", revision: 3, [Scene.scores("w9", team: "seahawks")])
        #expect(scene.instance("phone", "w9")?.budget.charged == 2)
    }
}

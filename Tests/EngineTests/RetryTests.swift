import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Failed reloads: one that a timeline or the system wanted is asked for again, one for a push or the app is not.
@Suite struct RetryTests {
    private static func fail(_ reload: ReloadEffect, _ scene: inout Scene, refuses: Bool) {
        if refuses {
            scene.apply(
                .delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .refused(reason: "busy")))
            )
        } else {
            scene.pass(reload.expiresAt - scene.now + .seconds(1))
        }
        #expect(scene.engine.outstandingReloads(host: HostKey("phone")) == [])
    }

    @Test(arguments: [true, false])
    func `a first timeline that failed is asked for again a quarter of an hour later, by policy`(refuses: Bool) throws {
        var scene = Scene()
        scene.register("phone", [Scene.scores("w1", team: "seahawks")])
        let first = try #require(scene.reloads.last)
        #expect(first.causes == ReloadCauses(.added))
        Self.fail(first, &scene, refuses: refuses)
        let failedAt = scene.now
        scene.pass(.minutes(15) - .seconds(2))
        #expect(scene.reloads.count == 1)
        scene.pass(.seconds(3))
        let again = try #require(scene.reloads.dropFirst().first)
        #expect(again.causes == ReloadCauses(.policy))
        #expect(again.isCharged && again.id != first.id)
        #expect(again.issuedAt - failedAt <= .minutes(15) + .seconds(1))
    }

    /// After a change of the system, the shown content is no longer as it should be.
    @Test(
        arguments: [
            (.locale, .localeChanged), (.dynamicType, .dynamicTypeChanged), (.accessibility, .accessibilityChanged),
            (.appearance, .appearanceChanged),
        ] as [(SystemChange, ReloadCause)]
    )
    func `a reload after a change of the system that failed is asked for again`(
        change: SystemChange,
        cause: ReloadCause
    ) throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.signal("phone", .systemChange(change))
        try Self.expectAgain(ReloadCauses(cause), &scene)
    }

    @Test func `a reload after the user's tap that failed is asked for again`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.signal("phone", .appIntent(InstanceID("w1")))
        try Self.expectAgain(ReloadCauses(.appIntent), &scene)
    }

    private static func expectAgain(_ causes: ReloadCauses, _ scene: inout Scene) throws {
        let later = try Self.failLast(causes, &scene, refuses: true, waiting: .minutes(20))
        #expect(later.first?.causes == ReloadCauses(.policy))
    }

    /// Lets the last reload fail, which has these causes, and returns those that come after it.
    private static func failLast(
        _ causes: ReloadCauses,
        _ scene: inout Scene,
        refuses: Bool,
        waiting interval: Interval
    ) throws -> [ReloadEffect] {
        let reload = try #require(scene.reloads.last)
        #expect(reload.causes == causes)
        let count = scene.reloads.count
        Self.fail(reload, &scene, refuses: refuses)
        scene.pass(interval)
        return Array(scene.reloads.dropFirst(count))
    }

    @Test func `a wish of the app whose reload failed is answered, and not tried again`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        let later = try Self.failLast(ReloadCauses(.appRequest), &scene, refuses: true, waiting: .hours(2))
        #expect(later == [])
    }

    @Test(arguments: [true, false])
    func `a push whose reload failed is answered, and not tried again`(refuses: Bool) throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.apply(.push(scene.makePush(to: "phone")))
        let later = try Self.failLast(ReloadCauses(.push), &scene, refuses: refuses, waiting: .hours(2))
        #expect(later == [])
        #expect(scene.engine.stats().outcomes[.failed] == 1)
    }
}

import Engine
import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// Instances with a `when`: a push reaches them only when what it brings fulfils it.
@Suite struct ConditionTests {
    static func low(_ id: String, below health: Int64) throws -> InstanceRegistration {
        var registration = Scene.scores(id, team: "bears")
        registration.when = try MatchPattern.condition(
            from: .object([
                JSONValue.Member(
                    name: "health",
                    value: .object([JSONValue.Member(name: "numeric", value: .array([.string("<"), .int(health)]))])
                )
            ])
        )
        return registration
    }

    static func health(_ value: Int64) -> Configuration {
        Configuration([Configuration.Parameter(name: "health", value: .int(value))])
    }

    @Test(arguments: [(10, 3), (20, 2), (50, 1)], [nil, "phone"])
    func `a push reaches who has no condition, and those whose condition it fulfils`(
        reached: (health: Int64, matched: Int),
        host: String?
    ) throws {
        var scene = Scene()
        scene.settle(
            "phone",
            [try Self.low("a", below: 50), try Self.low("b", below: 20), Scene.scores("c", team: "bears")]
        )
        var push = scene.makePush(to: host)
        push.attributes = Self.health(reached.health)
        #expect(scene.engine.dryRun(push, decidedMax: 1000).matched == reached.matched)
        #expect(scene.apply(.push(push)) == .push(matched: reached.matched, isRepeat: false))
    }

    @Test(arguments: [nil, "phone"])
    func `a push that brings nothing fulfils no condition on a value`(host: String?) throws {
        var scene = Scene()
        scene.settle("phone", [try Self.low("a", below: 50)])
        #expect(scene.apply(.push(scene.makePush(to: host))) == .push(matched: 0, isRepeat: false))
    }

    @Test func `a changed condition holds from then on, without a reload of its own`() throws {
        var scene = Scene()
        scene.settle("phone", [try Self.low("a", below: 50)])
        scene.register("phone", revision: 2, [try Self.low("a", below: 10)])
        #expect(scene.issued == [])
        var push = scene.makePush()
        push.attributes = Self.health(20)
        #expect(scene.apply(.push(push)) == .push(matched: 0, isRepeat: false))
        scene.register("phone", revision: 3, [Scene.scores("a", team: "bears")])
        #expect(scene.apply(.push(scene.makePush())) == .push(matched: 1, isRepeat: false))
    }

    @Test func `records with a condition and attributes are read as they were written`() throws {
        let registration = try Self.low("a", below: 50)
        var writer = ByteWriter()
        registration.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try InstanceRegistration(from: &reader) == registration)
        var scene = Scene()
        var push = scene.makePush(match: "seahawks")
        push.attributes = Self.health(7)
        var second = ByteWriter()
        push.encode(into: &second)
        var again = ByteReader(second.bytes)
        #expect(try PushRecord(from: &again) == push)
    }

    @Test func `a dry run says how the instances were found, and some of them`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("a", team: "bears"), Scene.scores("b", team: "lions")])
        let view = scene.engine.dryRun(scene.makePush(match: "bears"), decidedMax: 1000)
        #expect(view.sample == [InstanceAddress(host: HostKey("phone"), instance: InstanceID("a"))])
        let plan = try #require(view.plans.first { $0.kind == WidgetKind("scores") })
        #expect(plan.rows == 2)
        #expect(plan.touched.matched == 1)
    }
}

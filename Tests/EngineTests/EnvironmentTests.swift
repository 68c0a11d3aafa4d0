import Engine
import TestSupport
import Testing
import WidgetModel

/// Push tokens belong to one of APNs' environments.
@Suite struct EnvironmentTests {
    private static func settings(_ environment: PushEnvironment) -> EngineSettings {
        var settings = Scene.settings()
        settings.apps[0].environment = environment
        return settings
    }

    private static var widgets: [InstanceRegistration] {
        var control = Scene.scores("c1", team: "kraken")
        control.controlToken = Scene.token("control")
        return [control, Scene.scores("w1", team: "seahawks")]
    }

    @Test func `a push goes to the service that knows the token`() {
        var scene = Scene(settings: Self.settings(.development))
        scene.settle("phone", delivery: .apns, Self.widgets)
        scene.push()
        #expect(scene.tokenPushes.map(\.environment) == [.development, .development])
    }

    @Test func `tokens of the other environment are unknown until they are registered again`() {
        var scene = Scene()
        scene.settle("phone", delivery: .apns, Self.widgets)
        scene.apply(.settings(Self.settings(.development)))
        #expect(scene.directory == [.forgotten(Scene.token("phone")), .forgotten(Scene.token("control"))])
        let goal = scene.push()
        #expect(scene.tokenPushes == [])
        #expect(scene.lastDecision("phone", "w1")?.reason == .otherEnvironment)
        scene.pass(.minutes(1))
        scene.register("phone", revision: 2, delivery: .apns, Self.widgets)
        #expect(scene.directory.count == 2, "both stand for something again")
        #expect(scene.tokenPushes.map(\.environment) == [.development, .development])
        #expect(scene.outcomes(goal) == [.issued: 2])
    }

    @Test func `a change that is taken back leaves everything as it was`() {
        var scene = Scene()
        scene.settle("phone", delivery: .apns, Self.widgets)
        scene.apply(.settings(Self.settings(.development)))
        let goal = scene.push()
        scene.pass(.minutes(1))
        scene.apply(.settings(Self.settings(.production)))
        #expect(
            scene.directory == [
                .bound(Scene.token("phone"), host: HostKey("phone"), instance: nil),
                .bound(Scene.token("control"), host: HostKey("phone"), instance: InstanceID("c1")),
            ]
        )
        #expect(scene.outcomes(goal) == [.issued: 2])
    }

    @Test func `hosts on a stream do not ask which environment their tokens are of`() {
        var scene = Scene()
        scene.settle("desk", Self.widgets)
        scene.apply(.settings(Self.settings(.development)))
        scene.push()
        #expect(scene.issued.count == 2)
    }
}

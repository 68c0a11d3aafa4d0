import Engine
import Testing
import WidgetModel

/// An instance's timer is armed for when the instance is due: no later, and no earlier than the second needs.
///
/// Pushes that bring no expiration expire four hours after they were accepted, between two seconds, and timers come on
/// the second. A push in between finds them expired before their timer has come.
@Suite struct WakeUpTests {
    private static let widget = Scene.scores("w1", team: "seahawks")

    /// Two pushes of priority 1 wait, an hour apart, and the first has expired two tenths of a second ago.
    private static func scene(_ delivery: HostDelivery, isPaused: Bool = false) -> Scene {
        var scene = Scene()
        scene.settle("phone", delivery: delivery, [Self.widget])
        if isPaused { scene.order(.pause(until: nil), .app(Scene.sports)) }
        scene.pass(.milliseconds(500))
        scene.push(to: "phone", .low)
        scene.pass(.hours(1))
        scene.push(to: "phone", .low)
        scene.pass(.hours(3) + .milliseconds(200))
        return scene
    }

    @Test(arguments: [HostDelivery.stream, .apns])
    func `a push that joins waiting ones wakes no host for pushes that have just expired`(delivery: HostDelivery) {
        var scene = Self.scene(delivery)
        let due = scene.now + .minutes(60) + .milliseconds(300)
        let push = scene.push(to: "phone", .low)
        #expect(scene.outcomes(push) == [.deferred: 1])
        #expect(scene.engine.nextTimer == due)
    }

    @Test(arguments: [HostDelivery.stream, .apns])
    func `a push that ends at once wakes no host for pushes that have just expired`(delivery: HostDelivery) {
        var scene = Self.scene(delivery, isPaused: true)
        let due = scene.now + .minutes(60) + .milliseconds(300)
        let push = scene.push(to: "phone", expiration: 0)
        #expect(scene.outcomes(push) == [.expired: 1])
        #expect(scene.engine.nextTimer == due)
    }

    @Test(arguments: [HostDelivery.stream, .apns])
    func `a push whose content is shown wakes no host for pushes that have just expired`(delivery: HostDelivery) {
        var scene = Scene()
        scene.settle("phone", delivery: delivery, [Self.widget])
        scene.push(to: "phone", digest: "1-0")
        scene.acknowledgeAll("phone")
        scene.pass(.milliseconds(500))
        scene.push(to: "phone", .low)
        scene.pass(.hours(4) + .milliseconds(200))
        let push = scene.push(to: "phone", digest: "1-0")
        #expect(scene.outcomes(push) == [.unchanged: 1])
        #expect(scene.engine.nextTimer == nil)
    }
}

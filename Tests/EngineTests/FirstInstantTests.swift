import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// An instance that waits does so for the first instant at which one of its causes may reload: by an exemption or by the
/// budget, whichever comes first.
@Suite struct FirstInstantTests {
    /// A widget of which two reloads are charged a day.
    private static func phone() -> Scene {
        var budget = Scene.steady
        (budget.rare, budget.typical, budget.frequent) = (2, 2, 2)
        var scene = Scene(settings: Scene.settings(budget: budget))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    private static func reconfigure(_ scene: inout Scene, revision: UInt64) {
        let teams = ["kraken", "mariners", "sounders"]
        let configured = Scene.scores("w1", team: teams[Int(revision) % teams.count])
        scene.register("phone", revision: revision, [configured])
    }

    private static func addAnew(_ scene: inout Scene, revision: UInt64) {
        scene.register("phone", revision: revision, [])
        scene.register("phone", revision: revision + 1, [Scene.scores("w1", team: "seahawks")])
    }

    /// With the budget used up, the second of two within five minutes waits until those are over, not until a window opens.
    @Test(arguments: [ReloadCause.configured, .added])
    func `a widget that is set up again within five minutes reloads after them, not charged`(cause: ReloadCause) {
        let setUp = cause == .added ? Self.addAnew : Self.reconfigure
        var scene = Self.phone()
        for _ in 0..<2 {
            scene.push(to: "phone")
            #expect(scene.issued.map(\.isCharged) == [true])
            scene.acknowledgeAll("phone")
            scene.pass(.minutes(6))
        }
        setUp(&scene, 10)
        #expect(scene.issued.map(\.exemption) == [cause == .added ? .added : .configured])
        scene.acknowledgeAll("phone")
        let first = scene.now
        scene.pass(.minutes(1))
        setUp(&scene, 20)
        #expect(scene.issued == [])
        #expect(scene.lastDecision("phone", "w1")?.outcome != .issued)
        let issued = scene.reloads.count
        scene.pass(.minutes(4) - .milliseconds(1))
        #expect(scene.reloads.count == issued)
        scene.pass(.milliseconds(1))
        #expect(scene.now == first + .minutes(5))
        #expect(scene.reloads.dropFirst(issued).map(\.causes) == [ReloadCauses(cause)])
        #expect(scene.reloads.last?.isCharged == false)
        #expect(scene.instance("phone", "w1")?.budget.charged == 2)
    }

    /// Where the budget has room, it is not made to wait for what costs nothing.
    @Test func `set up again with budget left, it reloads at once and is charged`() {
        var scene = Self.phone()
        Self.reconfigure(&scene, revision: 10)
        #expect(scene.issued.map(\.exemption) == [.configured])
        scene.pass(.minutes(1))
        Self.reconfigure(&scene, revision: 20)
        #expect(scene.issued.map(\.isCharged) == [true])
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.configured)])
    }

    /// The fifteen seconds would outlast the push; the budget lets it through before it expires.
    @Test func `a push that expires within the fifteen seconds is charged as soon as it may be`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        let charged = scene.now
        scene.acknowledgeAll("phone")
        scene.pass(.seconds(290))
        scene.apply(.signal(HostSignal(host: HostKey("phone"), event: .appForeground)))
        scene.push(to: "phone")
        #expect(scene.issued.map(\.exemption) == [.appForeground])
        scene.acknowledgeAll("phone")
        scene.pass(.seconds(1))
        let push = scene.push(to: "phone", expiration: scene.now.seconds + 12)
        #expect(scene.outcomes(push) == [.deferred: 1])
        #expect(scene.lastDecision("phone", "w1")?.reason == .minimumInterval)
        scene.pass(.seconds(9))
        #expect(scene.now == charged + .minutes(5))
        #expect(scene.reloads.last?.isCharged == true)
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(push) == [.reloaded: 1])
    }

    /// It would expire before either: it ends, and nothing is charged for it.
    @Test func `a push that expires before any instant comes is not charged for`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.pass(.seconds(290))
        scene.apply(.signal(HostSignal(host: HostKey("phone"), event: .appForeground)))
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.pass(.seconds(1))
        let push = scene.push(to: "phone", expiration: scene.now.seconds + 5)
        #expect(scene.lastDecision("phone", "w1")?.reason == .exemptInterval)
        scene.pass(.minutes(1))
        #expect(scene.outcomes(push) == [.expired: 1])
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
    }
}

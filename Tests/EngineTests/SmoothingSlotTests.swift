import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// The slot of a policy, over which timelines' reloads are spread.
@Suite struct SmoothingSlotTests {
    private static func policy(_ slot: Interval) -> BudgetPolicy {
        var policy = Scene.steady
        policy.smoothing = slot
        return policy
    }

    private static let hosts = (0..<200).map { "phone-\($0)" }

    private static func scene(_ slot: Interval, hosts: [String] = Self.hosts) -> Scene {
        var scene = Scene(settings: Scene.settings(budget: Self.policy(slot)))
        scene.checks = false
        for host in hosts {
            scene.register(host, [Scene.scores("w1", team: "seahawks")])
            scene.acknowledgeAll(host)
        }
        scene.pass(.hours(1))
        return scene
    }

    /// Every host reports that it wants its next timeline at a date.
    private static func report(_ scene: inout Scene, after date: Instant, hosts: [String] = Self.hosts) {
        let timeline = Timeline(entries: [TimelineEntry(date: scene.now)], policy: .after(date))
        for host in hosts {
            let report = TimelineReport(host: HostKey(host), instance: InstanceID("w1"), timeline: timeline)
            scene.apply(.timeline(report))
        }
    }

    /// How much later than a date each host's next request is.
    private static func offsets(_ scene: Scene, _ date: Instant) -> [Interval] {
        Self.hosts.compactMap { scene.instance($0, "w1")?.timeline?.nextRequest.map { $0 - date } }
    }

    @Test(arguments: [.zero, .milliseconds(1), .seconds(1), .minutes(5), .hours(1)] as [Interval])
    func `what timelines ask for comes within the slot from its date on, and never before`(slot: Interval) {
        var scene = Self.scene(slot)
        let date = scene.now + .hours(3)
        Self.report(&scene, after: date)
        let offsets = Self.offsets(scene, date)
        #expect(offsets.count == Self.hosts.count)
        #expect(offsets.allSatisfy { $0 >= .zero && ($0 < slot || $0 == .zero) }, "\(offsets)")
        // Of 200 in an even spread the last is in the last tenth.
        #expect((offsets.max() ?? .zero) >= slot - .milliseconds(slot.milliseconds / 10 + 1))
    }

    @Test func `widgets of one host that want the same date reload together`() {
        var scene = Scene(settings: Scene.settings(budget: Self.policy(.hours(1))))
        let widgets = [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "kraken")]
        scene.register("phone", widgets)
        scene.acknowledgeAll("phone")
        scene.pass(.hours(1))
        let date = scene.now + .hours(3)
        let timeline = Timeline(entries: [TimelineEntry(date: scene.now)], policy: .after(date))
        for widget in widgets {
            scene.apply(.timeline(TimelineReport(host: HostKey("phone"), instance: widget.id, timeline: timeline)))
        }
        scene.pass(.hours(5))
        let together = scene.reloads.filter { $0.causes == ReloadCauses(.policy) }
        #expect(together.map(\.instance) == widgets.map(\.id))
        #expect(Set(together.map(\.issuedAt)).count == 1)
        #expect(together.allSatisfy { $0.issuedAt >= date })
    }

    @Test func `without a slot the reload is issued at its date`() {
        var scene = Self.scene(.zero, hosts: ["phone"])
        let date = Instant(seconds: scene.now.milliseconds / 1000) + .hours(3)
        Self.report(&scene, after: date, hosts: ["phone"])
        scene.pass(.hours(4))
        #expect(scene.reloads.last?.causes == ReloadCauses(.policy))
        #expect(scene.reloads.last?.issuedAt == date)
    }

    @Test(arguments: [(Interval.hours(1), Interval.zero), (.zero, .hours(1)), (.minutes(5), .seconds(1))])
    func `another slot leaves what has been asked for, and holds for what is asked for then`(
        before: Interval,
        after: Interval
    ) {
        var scene = Self.scene(before)
        let first = scene.now + .hours(3)
        Self.report(&scene, after: first)
        let offsets = Self.offsets(scene, first)
        scene.apply(.settings(Scene.settings(budget: Self.policy(after))))
        #expect(Self.offsets(scene, first) == offsets)
        #expect(offsets.allSatisfy { $0 >= .zero && $0 <= before })

        let second = first + .hours(1)
        Self.report(&scene, after: second)
        let later = Self.offsets(scene, second)
        #expect(later.count == Self.hosts.count)
        #expect(later.allSatisfy { $0 >= .zero && $0 <= after })
    }

    @Test func `a host that runs its own timelines is not smoothed, whatever the slot`() {
        var scene = Scene(settings: Scene.settings(budget: Self.policy(.hours(1))))
        scene.settle("phone", delivery: .apns, [Scene.scores("w1", team: "seahawks")])
        let date = scene.now + .hours(3)
        Self.report(&scene, after: date, hosts: ["phone"])
        #expect(scene.instance("phone", "w1")?.timeline?.nextRequest == date)
    }

    @Test func `a snapshot keeps the slot`() throws {
        var scene = Self.scene(.minutes(7))
        Self.report(&scene, after: scene.now + .hours(3))
        let engine = try SnapshotTests.engine(of: SnapshotTests.frames(of: scene.engine))
        #expect(engine.stateDigest() == scene.engine.stateDigest())
        #expect(engine.settings == scene.engine.settings)
        #expect(engine.settings?.apps.first?.kinds.first?.budget.smoothing == .minutes(7))
    }
}

import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Hosts behind APNs: one push to a token reloads all widgets that share it, and their timelines are the phone's own.
@Suite struct TokenPushTests {
    private static let widgets = [
        Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners"), Scene.scores("w3", team: "kraken"),
    ]

    private static func scene(_ widgets: [InstanceRegistration] = Self.widgets) -> Scene {
        var scene = Scene()
        scene.settle("phone", delivery: .apns, widgets)
        return scene
    }

    private static func names(_ push: TokenPush?) -> [String] {
        push.map { $0.members.map(\.reload.instance.rawValue) } ?? []
    }

    private static func reason(_ scene: Scene, _ id: String) -> DecisionReason? {
        scene.lastDecision("phone", id)?.reason
    }

    @Test(arguments: [1, 2, 300])
    func `no push to a token takes more bytes than its host's registration says`(count: Int) {
        let names = (app: "com.example.\(String(repeating: "a", count: 200))", host: String(repeating: "h", count: 128))
        let instances = (0..<count).map { number in
            InstanceRegistration(
                id: InstanceID("\(number)-\(String(repeating: "w", count: 120))"),
                kind: WidgetKind(String(repeating: "k", count: 255)),
                family: .systemSmall
            )
        }
        let host = HostKey(app: BundleID(names.app), id: HostID(names.host))
        let token = Scene.token("phone")
        let registration = HostRegistration(host: host, token: token, revision: .max, instances: instances)
        let last = Instant(milliseconds: .max)
        let members = instances.map { instance in
            TokenPush.Member(
                reload: ReloadEffect(
                    id: ReloadID(
                        partition: PartitionID(.max),
                        position: LogPosition(.max),
                        instance: InstanceNumber(raw: .max),
                        check: .max
                    ),
                    address: InstanceAddress(host: host, instance: instance.id),
                    kind: instance.kind,
                    family: .systemSmall,
                    delivery: .apns,
                    causes: ReloadCauses(rawValue: .max),
                    exemption: Exemption(rawValue: 1),
                    issuedAt: last,
                    expiresAt: Instant(milliseconds: .min),
                    pushCount: .max,
                    push: PushID(high: .max, low: .max)
                ),
                collateral: .over
            )
        }
        let push = TokenPush(
            token: token,
            environment: .production,
            isControl: true,
            priority: .high,
            members: members
        )
        var writer = ByteWriter()
        Effect.push(push).encode(into: &writer)
        #expect(writer.bytes.count <= TokenPush.bytesMax(for: registration))
        // And the bound is no guess.
        #expect(writer.bytes.count * 10 > TokenPush.bytesMax(for: registration) * 8)
    }

    // MARK: One push for all

    @Test func `however many widgets match, one push goes to the token`() throws {
        var scene = Self.scene()
        let goal = scene.push(to: "phone", digest: "1-0")
        let push = try #require(scene.tokenPushes.first)
        #expect(scene.tokenPushes.count == 1)
        #expect(Self.names(push) == ["w1", "w2", "w3"])
        #expect(push.members.map(\.collateral) == [nil, nil, nil])
        #expect(push.token == Scene.token("phone"))
        #expect(push.priority == .high)
        #expect(scene.outcomes(goal) == [.issued: 3])
        scene.apply(.delivery(DeliveryReport(host: push.host, reload: push.id, result: .acknowledged)))
        #expect(scene.outcomes(goal) == [.reloaded: 3])
        scene.push(to: "phone", digest: "1-0")
        #expect(scene.tokenPushes == [], "all of them show that already")
    }

    @Test func `a push for one widget is charged to all that share its token`() throws {
        var scene = Self.scene()
        let goal = scene.push(match: "mariners")
        let push = try #require(scene.tokenPushes.first)
        #expect(Self.names(push) == ["w2", "w1", "w3"])
        #expect(push.members.map(\.collateral) == [nil, .conforming, .conforming])
        #expect(["w1", "w2", "w3"].map { scene.instance("phone", $0)?.budget.charged } == [1, 1, 1])
        #expect(["w1", "w2", "w3"].map { scene.instance("phone", $0)?.budget.collateralReloads } == [1, 0, 1])
        #expect(Self.reason(scene, "w1") == .collateral)
        #expect(Self.reason(scene, "w2") == .conforms)
        #expect(scene.outcomes(goal) == [.issued: 1], "the others did not match")
        let stats = scene.engine.stats()
        #expect([stats.reloadsCharged, stats.reloadsCollateral, stats.reloadsCollateralOver] == [1, 2, 0])
        #expect(stats.tokenPushes == 1)
        let sender = try #require(scene.engine.senders().first)
        #expect([sender.charged, sender.collateral, sender.collateralOver] == [1, 2, 0])
    }

    @Test func `a sibling that may not reload does not hold the push back, and is booked apart`() throws {
        var scene = Self.scene()
        scene.push(match: "seahawks")
        scene.acknowledgeAll("phone")
        // A widget that comes now has not reloaded: it alone is five minutes away from no other reload.
        scene.register("phone", revision: 2, delivery: .apns, Self.widgets + [Scene.scores("w4", team: "sounders")])
        scene.pass(.minutes(1))
        scene.push(match: "sounders")
        let push = try #require(scene.tokenPushes.first)
        #expect(Self.names(push) == ["w4", "w1", "w2", "w3"])
        #expect(push.members.map(\.collateral) == [nil, .over, .over, .over])
        let budget = try #require(scene.instance("phone", "w1")?.budget)
        #expect([budget.charged, budget.collateralReloads, budget.collateralOverReloads] == [2, 0, 1])
        #expect(budget.lastReload == scene.now)
        #expect(budget.nextHigh == scene.now + .minutes(5), "the distance starts again")
        #expect(Self.reason(scene, "w1") == .collateralOver)
        let stats = scene.engine.stats()
        #expect([stats.reloadsCharged, stats.reloadsCollateral, stats.reloadsCollateralOver] == [2, 2, 3])
    }

    @Test func `what waits for a sibling is taken along and ends with that push`() {
        var scene = Self.scene()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(6))
        // Priority 5 keeps the pace; the push for another widget does not wait for it.
        let slow = scene.push(to: "phone", .normal, match: "mariners")
        #expect(scene.outcomes(slow) == [.deferred: 1])
        let goal = scene.push(to: "phone", .high, match: "seahawks")
        #expect(scene.outcomes(slow) == [.issued: 1])
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(goal) == [.reloaded: 1])
        #expect(scene.outcomes(slow) == [.coalesced: 1])
        #expect(scene.instance("phone", "w2")?.pending == [])
    }

    @Test func `a push that is now or never reaches all it matches if one of them may reload`() {
        var scene = Self.scene()
        scene.push(match: "seahawks")
        scene.acknowledgeAll("phone")
        scene.register("phone", revision: 2, delivery: .apns, Self.widgets + [Scene.scores("w4", team: "sounders")])
        scene.pass(.minutes(1))
        let goal = scene.push(to: "phone", expiration: 0)
        #expect(Self.names(scene.tokenPushes.first) == ["w4", "w1", "w2", "w3"])
        #expect(scene.outcomes(goal) == [.issued: 4])
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(1))
        let late = scene.push(to: "phone", expiration: 0)
        #expect(scene.tokenPushes == [])
        #expect(scene.outcomes(late) == [.expired: 4])
    }

    @Test func `an app's request is one push, and passes by what pushes do not reach`() {
        var scene = Self.scene(Self.widgets + [Scene.scores("w4", team: "sounders", pushEnabled: false)])
        let answer = scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        #expect(answer == .appReload(matched: 3))
        #expect(scene.tokenPushes.count == 1)
        #expect(Self.names(scene.tokenPushes.first) == ["w1", "w2", "w3"])
        #expect(scene.engine.senders() == [], "on no sender's account")
    }

    @Test func `a control is alone with its token`() throws {
        var control = Scene.scores("c1", team: "seahawks")
        control.controlToken = Scene.token("control")
        var scene = Self.scene(Self.widgets + [control])
        let goal = scene.push(match: "seahawks")
        #expect(scene.tokenPushes.map { Self.names($0) } == [["w1", "w2", "w3"], ["c1"]])
        #expect(scene.tokenPushes.map(\.isControl) == [false, true])
        #expect(scene.tokenPushes.map(\.token) == [Scene.token("phone"), Scene.token("control")])
        let out = ReloadsQuestion(.undelivered).answer(in: scene).reloads
        #expect(Set(out) == Set(scene.tokenPushes.flatMap { $0.members.map(\.reload) }))
        let push = try #require(scene.tokenPushes.last)
        scene.apply(.delivery(DeliveryReport(host: push.host, reload: push.id, result: .acknowledged)))
        #expect(scene.outcomes(goal) == [.reloaded: 1, .issued: 1])
    }

    @Test func `while the app is in the foreground nothing of a push is charged`() {
        var scene = Self.scene()
        scene.signal("phone", .appForeground)
        scene.push(match: "mariners")
        #expect(scene.issued.map(\.exemption) == [.appForeground, .appForeground, .appForeground])
        #expect(["w1", "w2", "w3"].map { scene.instance("phone", $0)?.budget.charged } == [0, 0, 0])
    }

    // MARK: Outcomes

    @Test func `a refusal gives every count back, and no pace`() throws {
        var scene = Self.scene()
        let goal = scene.push(match: "mariners")
        let push = try #require(scene.tokenPushes.first)
        let before = try #require(scene.instance("phone", "w1")?.budget)
        let report = DeliveryReport(host: push.host, reload: push.id, result: .refused(reason: "BadDeviceToken"))
        #expect(scene.apply(.delivery(report)) == .delivery(known: true))
        #expect(["w1", "w2", "w3"].map { scene.instance("phone", $0)?.budget.charged } == [0, 0, 0])
        #expect(scene.instance("phone", "w1")?.budget.nextNormal == before.nextNormal)
        #expect(scene.outcomes(goal) == [.failed: 1])
        #expect(scene.apply(.delivery(report)) == .delivery(known: false))
        #expect(ReloadsQuestion(.undelivered).answer(in: scene).reloads == [])
    }

    @Test func `what is booked beyond the allowance is not given back twice`() throws {
        var policy = Scene.steady
        (policy.rare, policy.typical, policy.frequent) = (2, 2, 2)
        policy.pushShare = BudgetPolicy.Share(1, of: 1)
        var scene = Scene(settings: Scene.settings(budget: policy))
        scene.settle("phone", delivery: .apns, [Scene.scores("w1", team: "seahawks")])
        // Two are all that w1 may have; w2 comes later and has its own two.
        for _ in 0..<2 {
            scene.push(match: "seahawks")
            scene.acknowledgeAll("phone")
            scene.pass(.hours(1))
        }
        let used = try #require(scene.instance("phone", "w1")?.budget.charged)
        scene.register(
            "phone",
            revision: 2,
            delivery: .apns,
            [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")]
        )
        scene.pass(.minutes(1))
        scene.push(match: "mariners")
        let push = try #require(scene.tokenPushes.first)
        #expect(push.members.map(\.collateral) == [nil, .over])
        scene.apply(
            .delivery(DeliveryReport(host: push.host, reload: push.id, result: .refused(reason: "TopicDisallowed")))
        )
        #expect(scene.instance("phone", "w1")?.budget.charged == used)
        #expect(scene.instance("phone", "w2")?.budget.charged == 0)
    }

    @Test func `a report is about all of them, also when the one that it names is gone`() throws {
        var scene = Self.scene()
        let goal = scene.push(to: "phone")
        let push = try #require(scene.tokenPushes.first)
        scene.register("phone", revision: 2, delivery: .apns, Array(Self.widgets.dropFirst()))
        #expect(scene.outcomes(goal) == [.removed: 1, .issued: 2])
        scene.apply(.delivery(DeliveryReport(host: push.host, reload: push.id, result: .acknowledged)))
        #expect(scene.outcomes(goal) == [.removed: 1, .reloaded: 2])
    }

    @Test func `once the host has a stream, a report is about the one reload that it names`() throws {
        var scene = Self.scene()
        let goal = scene.push(to: "phone")
        let push = try #require(scene.tokenPushes.first)
        #expect(push.members.map(\.reload.instance.rawValue) == ["w1", "w2", "w3"])
        scene.register("phone", revision: 2, delivery: .stream, Self.widgets)
        // The stream offers each of them by itself.
        let refusal = DeliveryReport(
            host: push.host,
            reload: push.members[1].reload.id,
            result: .refused(reason: "busy")
        )
        #expect(scene.apply(.delivery(refusal)) == .delivery(known: true))
        #expect(scene.outcomes(goal) == [.issued: 2, .failed: 1])
        #expect(["w1", "w2", "w3"].map { scene.instance("phone", $0)?.budget.charged } == [1, 0, 1])
        #expect(scene.apply(.delivery(refusal)) == .delivery(known: false), "and the others are as they were")
        scene.acknowledge(push.members[0].reload)
        #expect(scene.outcomes(goal) == [.reloaded: 1, .issued: 1, .failed: 1])
        scene.register("phone", revision: 3, delivery: .stream, Array(Self.widgets.dropFirst()))
        scene.acknowledge(push.members[2].reload)
        #expect(scene.outcomes(goal) == [.reloaded: 2, .failed: 1])
    }

    @Test func `without a report it is given up, and the charge is kept`() {
        var scene = Self.scene()
        let goal = scene.push(to: "phone", expiration: scene.now.seconds + 60)
        scene.pass(.minutes(2))
        #expect(scene.outcomes(goal) == [.failed: 3])
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
    }

    @Test func `a dry run says that one push reloads them all`() {
        var scene = Self.scene()
        scene.push(match: "seahawks")
        scene.acknowledgeAll("phone")
        scene.register("phone", revision: 2, delivery: .apns, Self.widgets + [Scene.scores("w4", team: "sounders")])
        scene.pass(.minutes(1))
        scene.apply(.tick)
        let rows = scene.engine.dryRun(scene.makePush(to: "phone"), decidedMax: 1000).rows
        #expect(rows.map(\.decision) == [.reload])
        #expect(rows.map(\.count) == [4])
    }

    @Test func `one that is no longer push-enabled waits in vain`() {
        var scene = Self.scene()
        scene.push(to: "phone")
        let late = scene.push(to: "phone", match: "mariners")
        scene.acknowledgeAll("phone")
        let silent = Scene.scores("w2", team: "mariners", pushEnabled: false)
        scene.register("phone", revision: 2, delivery: .apns, [Self.widgets[0], silent, Self.widgets[2]])
        scene.pass(.hours(1))
        #expect(scene.outcomes(late) == [.deferred: 1])
        #expect(scene.instance("phone", "w2")?.decidesAt == nil)
        scene.pass(.hours(4))
        #expect(scene.outcomes(late) == [.expired: 1])
    }
}

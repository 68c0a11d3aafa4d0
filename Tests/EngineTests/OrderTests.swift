import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Orders of operators, and senders' cancellations.
@Suite struct OrderTests {
    private static let scores = WidgetKind("scores")

    private static func scene(_ budget: BudgetPolicy = Scene.steady) -> Scene {
        var scene = Scene(settings: Scene.settings(budget: budget))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        return scene
    }

    private static func address(_ instance: String) -> InstanceAddress {
        InstanceAddress(host: HostKey("phone"), instance: InstanceID(instance))
    }

    @Test(
        arguments: [.app(Scene.sports), .kind(Scene.sports, Self.scores), .sender(Scene.team)] as [OrderScope]
    )
    func `what is paused waits, and comes when it is resumed`(scope: OrderScope) {
        var scene = Self.scene()
        scene.order(.pause(until: nil), scope)
        let goal = scene.push(to: "phone")
        #expect(scene.issued == [])
        #expect(scene.lastDecision("phone", "w1")?.reason == .paused)
        let once = scene.push(to: "phone", expiration: 0)
        #expect(scene.outcomes(once) == [.expired: 2])
        scene.pass(.hours(1))
        #expect(scene.order(.resume, scope) == .order(matched: 2))
        #expect(scene.issued.count == 2)
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(goal) == [.reloaded: 2])
    }

    @Test(
        arguments: [.app(Scene.sports), .kind(Scene.sports, Self.scores), .sender(Scene.team)] as [OrderScope]
    )
    func `a pause ends by itself at its date`(scope: OrderScope) {
        var scene = Self.scene()
        let until = scene.now + .hours(2)
        scene.order(.pause(until: until), scope)
        scene.push(to: "phone")
        scene.pass(.hours(2))
        #expect(scene.reloads.suffix(2).map(\.issuedAt) == [until, until])
    }

    @Test func `while an app is paused pushes expire and nothing else of it reloads either`() {
        var scene = Self.scene()
        scene.order(.pause(until: nil), .app(Scene.sports))
        let before = scene.reloads.count
        let goal = scene.push(to: "phone", expiration: scene.now.seconds + 600)
        scene.signal("phone", .systemChange(.locale))
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        scene.pass(.hours(1))
        #expect(scene.reloads.count == before)
        #expect(scene.outcomes(goal) == [.expired: 2])
        scene.order(.resume, .app(Scene.sports))
        #expect(scene.issued.map(\.causes.list) == Array(repeating: [.appRequest, .localeChanged], count: 2))
    }

    @Test func `a kind stays paused by its own order when its app is resumed`() {
        var scene = Self.scene()
        scene.order(.pause(until: nil), .kind(Scene.sports, Self.scores))
        scene.order(.pause(until: nil), .app(Scene.sports))
        scene.push(to: "phone")
        scene.order(.resume, .app(Scene.sports))
        #expect(scene.issued == [])
        scene.order(.resume, .kind(Scene.sports, Self.scores))
        #expect(scene.issued.count == 2)
    }

    @Test func `a paused sender does not hold back what others want, and is not taken along`() {
        var scene = Self.scene()
        scene.order(.pause(until: nil), .sender(Scene.team))
        let goal = scene.push(to: "phone")
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.appRequest), ReloadCauses(.appRequest)])
        #expect(scene.outcomes(goal) == [.deferred: 2])
    }

    @Test func `a push that waits can be taken back, one that is out cannot`() {
        var scene = Self.scene()
        let out = scene.push(to: "phone")
        let goal = scene.push(to: "phone")
        #expect(scene.order(.cancel, .push(goal, Scene.team)) == .order(matched: 2))
        #expect(scene.outcomes(goal) == [.cancelled: 2])
        #expect(scene.lastDecision("phone", "w1")?.reason == .cancelled)
        #expect(scene.order(.cancel, .push(out, Scene.team)) == .order(matched: 0))
        #expect(scene.outcomes(out) == [.issued: 2])
        let other = scene.push(to: "phone")
        #expect(scene.order(.cancel, .push(other, TeamID("OTHER12345"))) == .order(matched: 0))
        #expect(scene.order(.cancel, .push(other, nil)) == .order(matched: 2))
    }

    @Test func `cancelling for an instance leaves its neighbours and its timeline alone`() {
        var scene = Self.scene()
        scene.apply(ReloadTests.report(scene, ReloadTests.timeline(scene, in: .hours(2))))
        let due = scene.instance("phone", "w1")?.timeline?.nextRequest
        scene.push(to: "phone")
        let goal = scene.push(to: "phone")
        #expect(scene.order(.cancel, .instance(Self.address("w1"))) == .order(matched: 2))
        #expect(scene.outcomes(goal) == [.cancelled: 1, .deferred: 1])
        #expect(scene.instance("phone", "w1")?.timeline?.nextRequest == due)
    }

    @Test func `a grant is so many more in this window, and does not touch the pace`() throws {
        var policy = Scene.steady
        (policy.rare, policy.typical, policy.frequent) = (2, 2, 2)
        policy.pushShare = BudgetPolicy.Share(1, of: 1)
        policy.window = .fixed(length: .day, anchor: .utc)
        var scene = Self.scene(policy)
        for _ in 0..<2 {
            scene.push(to: "phone", match: "seahawks")
            scene.pass(.minutes(6))
        }
        let goal = scene.push(to: "phone", match: "seahawks", expiration: scene.now.seconds + 86_400 * 3)
        let before = try #require(scene.instance("phone", "w1")?.budget)
        #expect(before.charged == 2 && before.allowance == 2)
        #expect(scene.order(.grant(1), .instance(Self.address("w1"))) == .order(matched: 1))
        #expect(scene.instance("phone", "w1")?.budget.allowance == 3)
        #expect(scene.lastDecision("phone", "w1")?.reason == .allowance)
        #expect(scene.outcomes(goal) == [.deferred: 1], "the pace holds it back")
        scene.pass(.days(3))
        #expect(scene.instance("phone", "w1")?.budget.allowance == 2)
    }

    // MARK: Reloading

    @Test(
        arguments: [
            (.app(Scene.sports), 2), (.kind(Scene.sports, Self.scores), 2), (.host(HostKey("phone")), 2),
            (.instance(Self.address("w1")), 1),
        ] as [(OrderScope, Int)]
    )
    func `what an operator reloads is decided and charged as the app's own wish`(scope: OrderScope, count: Int) {
        var (scene, twin) = (Self.scene(), Self.scene())
        for _ in 0..<2 {
            #expect(scene.order(.reload, scope) == .order(matched: count))
            twin.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        }
        #expect(scene.reloads.suffix(count).map(\.causes) == Array(repeating: ReloadCauses(.appRequest), count: count))
        #expect(scene.instance("phone", "w1")?.budget == twin.instance("phone", "w1")?.budget)
        #expect(scene.lastDecision("phone", "w1")?.reason == .minimumInterval, "the second one waits")
        #expect(scene.lastDecision("phone", "w1")?.cause == .appRequest)
        scene.pass(.minutes(5))
        twin.pass(.minutes(5))
        #expect(
            scene.reloads.filter { $0.instance == InstanceID("w1") }.map(\.issuedAt)
                == twin.reloads.filter { $0.instance == InstanceID("w1") }.map(\.issuedAt)
        )
    }

    @Test func `an operator reloads widgets that no push reaches, and controls`() {
        var scene = Scene()
        var control = Scene.scores("c1", team: "mariners")
        control.controlToken = Scene.token("control")
        scene.settle("display", [Scene.scores("w1", team: "seahawks", pushEnabled: false), control])
        scene.settle("phone", delivery: .apns, [Scene.scores("w2", team: "seahawks", pushEnabled: false)])
        #expect(
            scene.order(.reload, .app(Scene.sports)) == .order(matched: 2),
            "but the phone is reached by pushes alone"
        )
        #expect(scene.issued.map(\.instance) == [InstanceID("c1"), InstanceID("w1")])
    }

    @Test func `an operator's reload is not charged in the foreground, waits for a pause, and can be cancelled`() {
        var scene = Self.scene()
        scene.signal("phone", .appForeground)
        scene.order(.reload, .instance(Self.address("w1")))
        #expect(scene.issued.map(\.isCharged) == [false])
        scene.pass(.hours(2))
        scene.order(.pause(until: nil), .app(Scene.sports))
        #expect(scene.order(.reload, .app(Scene.sports)) == .order(matched: 2))
        #expect(scene.issued == [])
        #expect(scene.lastDecision("phone", "w1")?.reason == .paused)
        scene.order(.cancel, .instance(Self.address("w1")))
        scene.order(.resume, .app(Scene.sports))
        #expect(scene.issued.map(\.instance) == [InstanceID("w2")])
    }

    @Test func `who gave an order is told, and decides nothing`() throws {
        let source = OperatorSource(caller: "night", address: "203.0.113.7", request: "r-1")
        let orders = [
            OperatorOrder(.pause(until: nil), .app(Scene.sports), by: source),
            OperatorOrder(.cancel, .push(PushID(high: 1, low: 2), Scene.team)),
        ]
        let request = AuditedRequest(number: .max, source: source, method: "PUT", path: "/v1/x", body: [0x7B, 0x7D])
        let notes = [AuditNote.request(request), .answer(number: .max, status: 409)]
        var (scene, plain) = (Scene(), Scene())
        let records = orders.map { Record.order($0) } + notes.map { .audit($0) }
        let answers = scene.apply(records)
        #expect(answers.dropFirst(2) == [.noted, .noted])
        #expect(scene.output.audit.map(\.recordIndex) == [0, 2, 3])
        #expect(scene.output.audit.map(\.content) == [.order(orders[0], source), .note(notes[0]), .note(notes[1])])
        let unsigned = orders.map { Record.order(OperatorOrder($0.action, $0.scope)) }
        #expect(plain.apply(unsigned + [.tick, .tick]).prefix(2) == answers.prefix(2))
        #expect(plain.output.audit.isEmpty)
        let goals = [scene.push(to: "phone", match: "seahawks"), plain.push(to: "phone", match: "seahawks")]
        #expect(scene.outcomes(goals[0]) == plain.outcomes(goals[1]))
        for record in records {
            var reader = ByteReader(record.bytes)
            #expect(try Record(from: &reader) == record)
        }
    }

    @Test(
        arguments: [
            OperatorOrder(.pause(until: nil), .host(HostKey("phone"))), OperatorOrder(.grant(0), .app(Scene.sports)),
            OperatorOrder(.grant(10_001), .app(Scene.sports)), OperatorOrder(.grant(1), .sender(Scene.team)),
            OperatorOrder(.reload, .sender(Scene.team)), OperatorOrder(.reload, .push(PushID(high: 1, low: 1), nil)),
            OperatorOrder(.resume, .instance(InstanceAddress(host: HostKey("h"), instance: InstanceID("i")))),
        ]
    )
    func `what cannot be ordered cannot be logged`(order: OperatorOrder) {
        #expect(!order.isPossible)
        var writer = ByteWriter()
        order.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(throws: ByteError.self) { try OperatorOrder(from: &reader) }
    }
}

extension Scene {
    @discardableResult
    mutating func order(_ action: OperatorOrder.Action, _ scope: OrderScope) -> RecordAnswer.Result {
        self.apply(.order(OperatorOrder(action, scope)))
    }
}

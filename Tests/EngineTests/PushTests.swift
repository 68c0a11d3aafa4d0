import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Goals of the Seahawks and a healing potion: what becomes of pushes.
@Suite struct PushTests {
    @Test func `a goal of the Seahawks reloads exactly the widgets that follow them`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.settle("tablet", [Scene.scores("w1", team: "seahawks")])
        let goal = scene.push(match: "seahawks")
        #expect(scene.issued.map(\.address.short) == ["phone:w1", "tablet:w1"])
        #expect(scene.issued.allSatisfy { $0.causes == ReloadCauses(.push) && $0.isCharged && $0.push == goal })
        #expect(scene.outcomes(goal) == [.issued: 2])
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(goal) == [.issued: 1, .reloaded: 1])
        scene.acknowledgeAll("tablet")
        #expect(scene.outcomes(goal) == [.reloaded: 2])
    }

    @Test func `a push to a token reloads every widget of that host`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.settle("tablet", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        #expect(scene.issued.map(\.address.short) == ["phone:w1", "phone:w2"])
    }

    @Test func `a push that matches nothing is accepted with nothing matched`() {
        var scene = Scene()
        let push = scene.makePush(to: "nobody")
        #expect(scene.apply(.push(push)) == .push(matched: 0, isRepeat: false))
        #expect(scene.engine.push(push.id, team: Scene.team).first?.isComplete == true)
        #expect(scene.engine.push(push.id, team: TeamID("OTHER")) == [])
        #expect(scene.engine.push(push.id).map(\.team) == [Scene.team])
    }

    @Test func `widgets that are not push-enabled never match`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks", pushEnabled: false)])
        let push = scene.makePush(to: "phone")
        #expect(scene.apply(.push(push)) == .push(matched: 0, isRepeat: false))
    }

    @Test func `a second goal within five minutes waits and is one reload with what comes after`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        let first = scene.issued[0]
        scene.pass(.minutes(1))
        let second = scene.push(to: "phone")
        let third = scene.push(to: "phone")
        #expect(scene.outcomes(second) == [.deferred: 1])
        #expect(scene.lastDecision("phone", "w1")?.reason == .minimumInterval)
        #expect(scene.lastDecision("phone", "w1")?.until == first.issuedAt + .minutes(5))
        scene.pass(.minutes(4))
        #expect(scene.outcomes(second) == [.issued: 1])
        #expect(scene.reloads.last?.pushCount == 2)
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(second) == [.reloaded: 1])
        #expect(scene.outcomes(third) == [.coalesced: 1])
    }

    @Test func `a healing potion that is now or never expires where the budget says later`() {
        var scene = Scene()
        scene.settle("phone", app: Scene.game, [Scene.character("w1", "spouty")])
        let first = scene.push(to: "phone", expiration: 0)
        #expect(scene.outcomes(first) == [.issued: 1])
        scene.pass(.minutes(1))
        let second = scene.push(to: "phone", expiration: 0)
        #expect(scene.outcomes(second) == [.expired: 1])
        #expect(scene.lastDecision("phone", "w1")?.reason == .expiration)
        let third = scene.push(to: "phone", expiration: Scene.start.seconds)
        #expect(scene.outcomes(third) == [.expired: 1], "a date in the past is now or never, too")
    }

    @Test func `a push waits no longer than its expiration`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        let push = scene.push(to: "phone", expiration: scene.now.seconds + 60)
        scene.pass(.seconds(59))
        #expect(scene.outcomes(push) == [.deferred: 1])
        scene.pass(.seconds(1))
        #expect(scene.outcomes(push) == [.expired: 1])
        let issued = scene.reloads.count
        scene.pass(.hours(1))
        #expect(scene.reloads.count == issued, "a reload none of whose causes lives any more is dropped")
    }

    @Test func `without an expiration a push waits four hours`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let push = scene.push(to: "phone", .low)
        #expect(scene.lastDecision("phone", "w1")?.reason == .waitsForAnother)
        scene.pass(.hours(4) - .seconds(1))
        #expect(scene.outcomes(push) == [.deferred: 1])
        scene.pass(.seconds(1))
        #expect(scene.outcomes(push) == [.expired: 1])
    }

    @Test func `priority 1 joins whatever reloads first`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let whenever = scene.push(to: "phone", .low)
        scene.pass(.minutes(30))
        let goal = scene.push(to: "phone")
        #expect(scene.issued.map(\.pushCount) == [2])
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(whenever) == [.coalesced: 1])
        #expect(scene.outcomes(goal) == [.reloaded: 1])
    }

    @Test func `priority 5 keeps the pace where priority 10 may use the burst`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        scene.pass(.minutes(6))
        let paced = scene.push(to: "phone", .normal)
        #expect(scene.outcomes(paced) == [.deferred: 1])
        #expect(scene.lastDecision("phone", "w1")?.reason == .pace)
        scene.push(to: "phone", .high)
        #expect(scene.outcomes(paced) == [.issued: 1], "it joins the reload that may use the burst")
    }

    @Test func `a later score takes the place of one that still waits`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        let old = scene.push(to: "phone", collapseID: "score")
        let other = scene.push(to: "phone", collapseID: "transfer")
        let new = scene.push(to: "phone", collapseID: "score")
        #expect(scene.outcomes(old) == [.superseded: 1])
        #expect(scene.instance("phone", "w1")?.pending.map(\.push) == [new, other])
        let never = scene.push(to: "phone", expiration: 0, collapseID: "score")
        #expect(scene.outcomes(never) == [.expired: 1])
        #expect(scene.outcomes(new) == [.deferred: 1], "one that itself expires supersedes nothing")
    }

    /// A push of priority 10 whose time has come, half a second before its timer; then one that is now or never takes its place.
    private static func replaced(by priority: Priority) -> (scene: Scene, old: PushID, new: PushID) {
        var scene = Scene()
        scene.jump(by: .milliseconds(500))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        let old = scene.push(to: "phone", collapseID: "score")
        scene.jump(by: .minutes(5))
        let new = scene.push(to: "phone", priority, expiration: 0, collapseID: "score")
        return (scene, old, new)
    }

    @Test func `one that is now or never does not take the reload of the one that it would supersede`() {
        var (scene, old, paced) = Self.replaced(by: .normal)
        #expect(scene.outcomes(paced) == [.expired: 1])
        #expect(scene.outcomes(old) == [.deferred: 1], "the pace allows no reload of its own, so it supersedes nothing")
        scene.pass(.seconds(1))
        #expect(scene.outcomes(old) == [.issued: 1])

        let (other, superseded, urgent) = Self.replaced(by: .high)
        #expect(other.outcomes(urgent) == [.issued: 1])
        #expect(other.outcomes(superseded) == [.superseded: 1])
    }

    @Test func `another team's collapse id is another id`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        let ours = scene.push(to: "phone", collapseID: "score")
        var theirs = scene.makePush(to: "phone", collapseID: "score")
        theirs.team = TeamID("ZZZZZ99999")
        scene.apply(.push(theirs))
        #expect(scene.outcomes(ours) == [.deferred: 1])
    }

    @Test func `a push for later comes at its time`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let kickoff = scene.now + .hours(2)
        let later = scene.push(to: "phone", notBefore: kickoff)
        #expect(scene.lastDecision("phone", "w1")?.reason == .notBefore)
        let goal = scene.push(to: "phone")
        #expect(scene.outcomes(goal) == [.issued: 1])
        #expect(scene.outcomes(later) == [.deferred: 1], "what is not ready yet joins nothing")
        scene.pass(.hours(2) - .seconds(1))
        #expect(scene.outcomes(later) == [.deferred: 1])
        scene.pass(.seconds(1))
        #expect(scene.outcomes(later) == [.issued: 1])
        #expect(scene.reloads.last?.issuedAt == kickoff)
    }

    @Test func `content that the widget shows already costs nothing`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let first = scene.push(to: "phone", digest: "7:0")
        scene.pass(.minutes(10))
        let second = scene.push(to: "phone", digest: "7:0")
        #expect(scene.outcomes(second) == [.issued: 1], "what was merely sent counts as changed")
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(first) == [.reloaded: 1])
        let third = scene.push(to: "phone", digest: "7:0")
        #expect(scene.outcomes(third) == [.unchanged: 1])
        #expect(scene.lastDecision("phone", "w1")?.reason == .sameDigest)
        scene.pass(.hours(1))
        let touchdown = scene.push(to: "phone", digest: "14:0")
        #expect(scene.outcomes(touchdown) == [.issued: 1])
    }

    @Test func `a repeat is answered with the first one's number and charged once`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let push = scene.makePush(to: "phone")
        #expect(scene.apply(.push(push)) == .push(matched: 1, isRepeat: false))
        scene.acknowledgeAll("phone")
        scene.pass(.hours(1))
        #expect(scene.apply(.push(push)) == .push(matched: 1, isRepeat: true))
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        #expect(scene.engine.push(push.id, team: Scene.team).map(\.repeats) == [1])
        var other = push
        other.contentHash += 1
        #expect(scene.apply(.push(other)) == .push(matched: 1, isRepeat: false), "other content is a new push")
        #expect(scene.engine.push(push.id, team: Scene.team).count == 2)
    }

    @Test func `the repeat window forgets the oldest push first`() {
        var limits = EngineLimits()
        limits.repeatEntriesMax = 2
        var scene = Scene(settings: Scene.settings(limits: limits))
        let pushes = (0..<3).map { _ in scene.makePush(to: "phone") }
        for push in pushes { scene.apply(.push(push)) }
        #expect(scene.apply(.push(pushes[1])) == .push(matched: 0, isRepeat: true))
        #expect(scene.apply(.push(pushes[0])) == .push(matched: 0, isRepeat: false))
    }

    /// A widget that has just reloaded, for which two pushes may wait.
    private static func busy() -> Scene {
        var limits = EngineLimits()
        limits.pendingPerInstanceMax = 2
        var scene = Scene(settings: Scene.settings(limits: limits))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        return scene
    }

    @Test func `a push above the limit of waiting ones joins the reload that comes for them`() {
        var scene = Self.busy()
        let pushes = (0..<3).map { scene.push(to: "phone", digest: "v\($0)") }
        #expect(pushes.map { scene.outcomes($0) } == [[.deferred: 1], [.deferred: 1], [.coalesced: 1]])
        scene.pass(.hours(1))
        scene.acknowledgeAll("phone")
        #expect(pushes.map { scene.outcomes($0) } == [[.reloaded: 1], [.coalesced: 1], [.coalesced: 1]])
        // The instance shows the content that the last of them names.
        let known = scene.push(to: "phone", digest: "v2")
        #expect(scene.outcomes(known) == [.unchanged: 1])
    }

    @Test func `a push above the limit that the reload would not serve fails aloud`() {
        var scene = Self.busy()
        for _ in 0..<2 { scene.push(to: "phone") }
        let decidesAt = scene.instance("phone", "w1")?.decidesAt ?? scene.now
        let early = scene.push(to: "phone", expiration: scene.now.seconds + 1)
        let late = scene.push(to: "phone", notBefore: decidesAt + .hours(2))
        for push in [early, late] {
            #expect(scene.outcomes(push) == [.failed: 1])
            #expect(scene.engine.push(push, team: Scene.team).first?.counts[.pendingLimit] == 1)
        }
    }

    @Test func `a push above the limit that those which wait do not outlast fails aloud`() {
        var scene = Self.busy()
        for _ in 0..<2 { scene.push(to: "phone", expiration: scene.now.seconds + 2) }
        let lasting = scene.push(to: "phone")
        #expect(scene.outcomes(lasting) == [.failed: 1])
    }

    @Test func `a push above the limit that is more urgent takes the place of the last one that waits`() {
        var scene = Self.busy()
        let waiting = (0..<2).map { _ in scene.push(to: "phone", .low) }
        #expect(waiting.map { scene.outcomes($0) } == [[.deferred: 1], [.deferred: 1]])
        let urgent = scene.push(to: "phone", .high)
        #expect(waiting.map { scene.outcomes($0) } == [[.deferred: 1], [.coalesced: 1]])
        #expect(scene.outcomes(urgent) == [.deferred: 1])
        scene.pass(.hours(1))
        scene.acknowledgeAll("phone")
        #expect(scene.outcomes(urgent) == [.reloaded: 1])
    }

    @Test func `of what waits the first ones are shown, and how many wait in all`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let pushes = (0..<4).map { _ in scene.push(to: "phone") }
        let address = InstanceAddress(host: HostKey("phone"), instance: InstanceID("w1"))
        let views = [1, 2, 3, 4].map { scene.engine.instance(address, pending: $0) }
        #expect(views.map { $0?.pendingCount } == [3, 3, 3, 3])
        let waiting = Array(pushes[1...])
        #expect(views.map { $0?.pending.map(\.push) } == [1, 2, 3, 3].map { Array(waiting.prefix($0)) })
    }

    @Test func `only complete pushes are forgotten, the first to complete first`() {
        var limits = EngineLimits()
        limits.pushesRetainedMax = 1
        var scene = Scene(settings: Scene.settings(limits: limits))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let issued = scene.push(to: "phone")
        let nobody = (0..<3).map { _ in scene.push(to: "nobody") }
        scene.apply(.tick)
        #expect(nobody.map { scene.engine.push($0, team: Scene.team).count } == [0, 0, 1])
        #expect(scene.outcomes(issued) == [.issued: 1])
        scene.pass(.days(3))
        scene.apply(.tick)
        #expect(scene.engine.stats().pushesRetained == 0)
        #expect(scene.engine.stats().outcomes[.failed] == 1)
    }

    @Test func `a dry run tells what a push would do and does nothing`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.settle("tablet", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "tablet")
        let digest = scene.engine.stateDigest()
        let push = scene.makePush(match: "seahawks")
        let rows = scene.engine.dryRun(push, decidedMax: 1000).rows
        #expect(rows.map { "\($0.kind) \($0.decision) \($0.count)" } == ["scores reload 1", "scores deferred 1"])
        #expect(scene.engine.stateDigest() == digest)
        scene.apply(.push(push))
        #expect(scene.engine.dryRun(push, decidedMax: 1000).isRepeat)
        #expect(scene.outcomes(push.id) == [.issued: 1, .deferred: 1])
    }
}

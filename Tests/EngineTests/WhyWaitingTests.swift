import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Why an instance has not reloaded, as far as its own view tells: its waiting causes, until when and why they wait, also of its timeline's
/// own reload, and whether the last day's reloads are all that there were.
@Suite struct WhyWaitingTests {
    private static func view(_ scene: Scene) throws -> InstanceView { try #require(scene.instance("phone", "w1")) }

    /// A widget that a push has just reloaded, a minute before its timeline asks for its next.
    private static func pushedBeforeDue() throws -> (scene: Scene, due: Instant) {
        var scene = ReloadTests.phone()
        scene.apply(ReloadTests.report(scene, ReloadTests.timeline(scene, in: .hours(2))))
        let due = try #require(Self.view(scene).timeline?.nextRequest)
        scene.pass(due - scene.now - .minutes(1))
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        return (scene, due)
    }

    @Test func `the timeline's own reload that waits for the budget has a decision with its reason`() throws {
        var (scene, due) = try Self.pushedBeforeDue()
        let last = try #require(Self.view(scene).budget.lastReload)
        #expect(try Self.view(scene).nextReload == last + .minutes(5))
        scene.rest(due - scene.now + .seconds(1))
        let view = try Self.view(scene)
        let decision = try #require(view.decisions.first)
        #expect(decision.cause == .policy && decision.outcome == .deferred && decision.push == nil)
        #expect(decision.reason == .minimumInterval && decision.until == last + .minutes(5))
        #expect(view.pending.map(\.reason) == [.minimumInterval])
        #expect(view.pending.map(\.until) == [last + .minutes(5)])
        #expect(view.nextReload == last + .minutes(5))
        // As long as the reason is the same one, it is said once.
        scene.push(to: "phone", .low)
        scene.rest(.seconds(1))
        #expect(try Self.view(scene).decisions.filter { $0.cause == .policy && $0.outcome == .deferred }.count == 1)
        scene.rest(.minutes(5))
        #expect(scene.reloads.last?.causes == [ReloadCauses(.policy), ReloadCauses(.push)])
    }

    @Test func `a reason that becomes another is said again`() throws {
        var (scene, due) = try Self.pushedBeforeDue()
        scene.rest(due - scene.now + .seconds(1))
        scene.apply(.order(OperatorOrder(.pause(until: nil), .app(Scene.sports))))
        scene.rest(.minutes(10))
        #expect(try Self.view(scene).pending.map(\.reason) == [.paused])
        #expect(try Self.view(scene).pending.map(\.until) == [nil])
        #expect(try Self.view(scene).nextReload == nil)
        let told = try Self.view(scene).decisions.prefix(2)
        #expect(told.map(\.reason) == [.paused, .minimumInterval])
        #expect(told.allSatisfy { $0.cause == .policy && $0.outcome == .deferred })
    }

    @Test func `what waits says each its own reason`() throws {
        var scene = ReloadTests.phone()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        let sent = scene.now
        scene.push(to: "phone", .low)
        scene.push(to: "phone", .normal)
        scene.push(to: "phone", .normal, notBefore: scene.now + .hours(3))
        let view = try Self.view(scene)
        #expect(view.pending.map(\.reason) == [.waitsForAnother, .pace, .notBefore])
        #expect(view.pending.map(\.until) == [view.decidesAt, view.decidesAt, sent + .hours(3)])
        #expect(view.pending.map(\.since) == [sent, sent, sent])
        #expect(view.nextReload == view.decidesAt)
    }

    @Test func `what expires before it may reload is no next reload`() throws {
        var scene = ReloadTests.phone()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        scene.push(to: "phone", expiration: scene.now.seconds + 60)
        #expect(try Self.view(scene).pending.map(\.reason) == [.minimumInterval])
        #expect(try Self.view(scene).nextReload == nil)
    }

    /// Each push and its acknowledgement are a decision, as the widget's first reload is.
    @Test(arguments: [(kept: 7, isWhole: false), (kept: 8, isWhole: true), (kept: 9, isWhole: true)])
    func `a day's ledger is whole as long as nothing of that day was evicted`(kept: Int, isWhole: Bool) throws {
        var limits = EngineLimits()
        limits.decisionsRetainedMax = kept
        var scene = Scene(settings: Scene.settings(limits: limits))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        for _ in 0..<3 {
            scene.push(to: "phone")
            scene.acknowledgeAll("phone")
            scene.pass(.hours(1))
        }
        scene.apply(.tick)
        #expect(scene.engine.decisionCount == 8)
        let ledger = try Self.view(scene).ledger
        #expect(ledger.isWhole == isWhole)
        #expect(ledger.entries.count == (isWhole ? 4 : 3))
        // A day later, the evicted decisions were of the day before.
        scene.pass(.hours(21) + .minutes(1))
        scene.apply(.tick)
        #expect(try Self.view(scene).ledger.isWhole)
    }

    @Test func `another's decisions that took the place of its own are missed`() throws {
        var limits = EngineLimits()
        limits.decisionsRetainedMax = 6
        var scene = Scene(settings: Scene.settings(limits: limits))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.settle("tablet", (0..<3).map { Scene.scores("t\($0)", team: "mariners") })
        #expect(try Self.view(scene).ledger.isWhole == false)
        #expect(try Self.view(scene).ledger.entries == [])
        // Of these nothing was.
        #expect(scene.instance("tablet", "t0")?.ledger.isWhole == true)
    }
}

import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Sums over all instances, a step at a time.
@Suite struct SurveyTests {
    private static func survey(_ engine: borrowing Engine, from: Instant, step: Int) -> BudgetSurvey {
        var survey = BudgetSurvey(from: from)
        var next: InstanceNumber? = 0
        while let start = next {
            let rows = engine.survey(from: from, at: start, count: step)
            survey.add(rows)
            next = rows.next
        }
        return survey
    }

    @Test func `a survey in steps is that of one step`() {
        var scene = Scene()
        for host in 0..<7 { scene.settle("phone-\(host)", [Scene.scores("w1", team: "seahawks")]) }
        scene.settle("tablet", app: Scene.game, [Scene.character("c1", "panda")])
        scene.push(match: "seahawks")
        let whole = Self.survey(scene.engine, from: scene.now, step: 1000)
        #expect(whole.kinds.map(\.instances) == [7, 1])
        #expect(whole.kinds.map(\.charged) == [7, 0])
        #expect(whole.kinds.map { $0.left.reduce(0, +) } == [7, 1])
        for step in [1, 2, 7] { #expect(Self.survey(scene.engine, from: scene.now, step: step) == whole) }
    }

    @Test func `who has nothing left is exhausted, and who soon will have is forecast`() {
        var policy = Scene.steady
        policy.rare = 2
        policy.typical = 2
        policy.frequent = 2
        policy.burstDivisor = 2
        policy.pushShare = BudgetPolicy.Share(1, of: 1)
        var scene = Scene(settings: Scene.settings(budget: policy))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.settle("tablet", [Scene.scores("w1", team: "seahawks")])
        scene.pass(.hours(24))
        var spent = 0
        while let budget = scene.instance("phone", "w1")?.budget, budget.charged < budget.allowance ?? 0, spent < 50 {
            scene.push(to: "phone")
            scene.acknowledgeAll("phone")
            scene.pass(.minutes(30))
            spent += 1
        }
        let survey = Self.survey(scene.engine, from: scene.now, step: 10)
        #expect(survey.kinds[0].exhausted == 1)
        #expect(survey.kinds[0].left == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(survey.kinds[0].exhaustedWithin[0] == 1)
        #expect(survey.kinds[0].exhaustedWithin.reduce(0, +) == 1)
        let listed = PageQuestion(InstanceFilter(state: .exhausted), limit: 10).answer(in: scene)
        #expect(listed.rows.map(\.address.short) == ["phone:w1"])
    }

    /// Two hundred hosts, each with a widget whose timeline asks for the next one at the same instant.
    private static func forecast(_ budget: BudgetPolicy, at instant: Instant) -> Scene {
        var scene = Scene(settings: Scene.settings(budget: budget))
        for host in 0..<200 {
            scene.register("phone-\(host)", [Scene.scores("w1", team: "seahawks")])
            let timeline = Timeline(entries: [TimelineEntry(date: scene.now)], policy: .after(instant))
            scene.apply(
                .timeline(
                    TimelineReport(host: HostKey("phone-\(host)"), instance: InstanceID("w1"), timeline: timeline)
                )
            )
        }
        return scene
    }

    @Test func `what all timelines ask for at one second is planned over the smoothing's slot`() {
        let at = Scene.start + .hours(30)
        let scene = Self.forecast(Scene.steady, at: at)
        let survey = Self.survey(scene.engine, from: at - .minutes(10), step: 64)
        #expect(survey.asked[600] == 200)
        #expect(survey.asked.reduce(0, +) == 200)
        #expect(survey.planned.reduce(0, +) == 200)
        #expect((survey.planned.max() ?? 0) < 20)
        #expect(survey.planned[600..<900].reduce(0, +) == 200)
    }

    @Test func `what a longest slot has spread beyond the hour is asked for in it, whatever the slot is now`() {
        var (usual, longest) = (Scene.steady, Scene.steady)
        longest.smoothing = BudgetPolicy.smoothingMax
        usual.smoothing = .zero
        let at = Scene.start + .hours(30)
        var scene = Self.forecast(longest, at: at)
        scene.apply(.settings(Scene.settings(budget: usual)))
        let survey = Self.survey(scene.engine, from: at - .minutes(59), step: 64)
        #expect(survey.asked[59 * 60] == 200)
        #expect(survey.asked.reduce(0, +) == 200)
        #expect(survey.planned.reduce(0, +) < 20)
    }

    @Test func `surveys of partitions add up by kind`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        var sum = BudgetSurvey(from: scene.now)
        for _ in 0..<3 { sum += Self.survey(scene.engine, from: scene.now, step: 10) }
        #expect(sum.kinds.map(\.instances) == [3])
        #expect(sum.kinds.map(\.kind.rawValue) == ["scores"])
    }
}

import Engine
import IntentMatching
import Testing
import Timelines
import WidgetModel

/// The examples of Apple's articles, with exactly their timelines.
///
/// "Keeping a widget up to date" and "TimelineProvider" (WidgetKit).
@Suite struct ArticleTests {
    private static let phone = HostID("phone")
    private static let widget = InstanceID("w1")

    /// A phone that shows the character Spouty, its first reload out.
    private static func game() -> Scene {
        var scene = Scene()
        scene.register("phone", app: Scene.game, [Scene.character("w1", "spouty")])
        return scene
    }

    /// The provider answers the reload that is out.
    private static func answer(_ scene: inout Scene, _ hours: [Interval], _ policy: ReloadPolicy) {
        let reload = scene.engine.outstandingReloads(host: Self.phone).last
        let entries = hours.map { TimelineEntry(date: scene.now + $0) }
        scene.apply(
            .timeline(
                TimelineReport(
                    host: Self.phone,
                    instance: Self.widget,
                    reload: reload?.id,
                    timeline: Timeline(entries: entries, policy: policy)
                )
            )
        )
    }

    /// Waits for the next reload; how long that took, and why it came.
    private static func next(_ scene: inout Scene, within interval: Interval) -> (
        after: Interval, causes: [ReloadCause]
    )? {
        let (start, before) = (scene.now, scene.reloads.count)
        while scene.reloads.count == before, scene.now < start + interval { scene.rest(.minutes(1)) }
        guard scene.reloads.count > before, let reload = scene.reloads.last else { return nil }
        return (reload.issuedAt - start, reload.causes.list)
    }

    /// At 25 percent the character needs three hours; then it is at 100 and the provider says never.
    @Test func `a character that heals by a quarter an hour asks again when it is healed, and then never`() throws {
        var scene = Self.game()
        Self.answer(&scene, [.zero, .hours(1), .hours(2), .hours(3)], .atEnd)
        #expect(scene.instance("phone", "w1")?.timeline?.findings == [])
        let healed = try #require(Self.next(&scene, within: .hours(4)))
        #expect(healed.causes == [.policy])
        #expect((.hours(3) ... .hours(3) + .minutes(6)).contains(healed.after), "after the last date, within the slot")
        Self.answer(&scene, [.zero], .never)
        #expect(Self.next(&scene, within: .days(10)) == nil)
        scene.apply(.appReload(AppReloadRequest(app: Scene.game, kind: WidgetKind("character"))))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.appRequest)], "until the app says so")
    }

    /// A dragon comes in two hours, before the healing is over: after(_:) before the last entry.
    @Test func `a dragon that comes in two hours moves the next request before the last entry`() throws {
        var scene = Self.game()
        let dragon = scene.now + .hours(2)
        Self.answer(&scene, [.zero, .hours(1), .hours(2), .hours(3)], .after(dragon))
        let battle = try #require(Self.next(&scene, within: .hours(3)))
        #expect(battle.causes == [.policy] && battle.after >= .hours(2) && battle.after <= .hours(2) + .minutes(6))
        // The battle costs two more hours: now, and in two hours.
        Self.answer(&scene, [.zero, .hours(2)], .atEnd)
        let healed = try #require(Self.next(&scene, within: .hours(3)))
        #expect(healed.after >= .hours(2) && healed.after <= .hours(2) + .minutes(6))
        Self.answer(&scene, [.zero], .never)
        #expect(Self.next(&scene, within: .days(3)) == nil)
    }

    /// "Request a timeline refresh after 2.5 hours" (TimelineProvider).
    @Test func `a request after two and a half hours is never early`() throws {
        var scene = Self.game()
        Self.answer(&scene, [.zero], .after(scene.now + .minutes(150)))
        let battle = try #require(Self.next(&scene, within: .hours(4)))
        #expect(battle.after >= .minutes(150) && battle.after <= .minutes(156))
    }

    /// The market closes on Friday at 21:00 UTC and opens on Monday at 14:30 UTC: after(_:) behind the last entry.
    @Test func `a stock widget sleeps from Friday's close to Monday's opening`() throws {
        var scene = Self.game()
        // 2026-11-06T21:00:00Z.
        let friday = Instant(seconds: 1_793_998_800)
        scene.rest(friday - scene.now)
        let opening = scene.now + .days(2) + .minutes(17 * 60 + 30)
        Self.answer(&scene, [.zero], .after(opening))
        let monday = try #require(Self.next(&scene, within: .days(4)))
        #expect(monday.causes == [.policy])
        #expect(monday.after >= opening - friday && monday.after <= opening - friday + .minutes(6))
    }

    /// A flight lands in an hour; "landed" stays up for half an hour before the widget is cleared.
    @Test func `a flight that has landed stays shown as landed until the later date`() throws {
        var scene = Self.game()
        let (landing, cleared) = (scene.now + .hours(1), scene.now + .minutes(90))
        Self.answer(&scene, [.zero, .hours(1)], .after(cleared))
        scene.rest(.minutes(75))
        let shown = scene.engine.instance(InstanceAddress(host: Self.phone, instance: Self.widget))?.timeline
        #expect(shown?.lastDate == landing && shown?.nextRequest.map { $0 >= cleared } == true)
        #expect(try #require(Self.next(&scene, within: .hours(1))).after >= .minutes(15))
    }

    /// A potion for the character: the app looks for widgets that show it, and reloads those.
    @Test func `a potion reloads the widgets that show the healed character only`() throws {
        var scene = Scene()
        scene.settle("phone", app: Scene.game, [Scene.character("w1", "spouty"), Scene.character("w2", "power panda")])
        let kind = WidgetKind("character")
        let healed = try MatchPattern.parse(
            .object([JSONValue.Member(name: "character", value: .array([.string("spouty")]))])
        )
        let found = scene.engine.widgets(
            app: Scene.game,
            kind: kind,
            pattern: healed,
            from: 0,
            limit: 9,
            scanMax: 9
        )
        #expect(found.rows.map(\.registration.id) == [Self.widget])
        scene.apply(.appReload(AppReloadRequest(app: Scene.game, kind: kind, pattern: healed)))
        #expect(scene.issued.map(\.instance) == [Self.widget])
    }

    /// The user signed out: reloadAllTimelines() reaches every widget of the app, whatever its policy.
    @Test func `signing out reloads all widgets, those that said never included`() {
        var scene = Self.game()
        Self.answer(&scene, [.zero], .never)
        scene.rest(.hours(1))
        scene.apply(.appReload(AppReloadRequest(app: Scene.game)))
        #expect(scene.issued.map(\.causes) == [ReloadCauses(.appRequest)])
    }

    /// Two instances of one widget with two teams have two budgets.
    @Test func `each configured widget has a budget of its own`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.push(to: "phone", match: "seahawks")
        #expect(scene.instance("phone", "w1")?.budget.charged == 1)
        #expect(scene.instance("phone", "w2")?.budget.charged == 0)
    }

    /// WWDC21: after a single entry the system picks the time; and the reload of a longer one is merely eligible.
    @Test func `under the reading of WWDC21 the end of a timeline does not use the burst`() throws {
        var policy = Scene.steady
        policy.atEnd = .wwdc21
        var scene = Scene(settings: Scene.settings(budget: policy))
        scene.register("phone", app: Scene.game, [Scene.character("w1", "spouty")])
        Self.answer(&scene, [.hours(1)], .atEnd)
        let picked = try #require(Self.next(&scene, within: .hours(3)))
        #expect(picked.after >= .hours(1) + .minutes(45), "the entry's date and an interval of the pace")
        Self.answer(&scene, [.zero, .minutes(10)], .atEnd)
        let paced = try #require(Self.next(&scene, within: .hours(3)))
        #expect(paced.after >= .minutes(45) - .minutes(6), "at the pace, 45 minutes after the last charge")
        Self.answer(&scene, [.zero, .minutes(10)], .after(scene.now + .minutes(10)))
        let after = try #require(Self.next(&scene, within: .hours(3)))
        #expect(after.after <= .minutes(17), "a date of its own may use the burst")
    }
}

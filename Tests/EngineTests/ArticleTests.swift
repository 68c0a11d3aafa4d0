import Engine
import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

/// The examples of Apple's articles, with exactly their timelines.
///
/// "Keeping a widget up to date" and "TimelineProvider" (WidgetKit).
@Suite struct ArticleTests {
    private static let phone = HostKey("phone", of: Scene.game)
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

    /// The date of the entry that the widget shows now.
    private static func shown(_ scene: Scene) -> Instant? {
        scene.engine.stack(of: Self.phone, at: scene.now)?.widgets.first?.date
    }

    /// At 25 percent the character needs three hours; then it is at 100 and the provider says never.
    @Test func `a character that heals by a quarter an hour asks again when it is healed, and then never`() throws {
        var scene = Self.game()
        Self.answer(&scene, [.zero, .hours(1), .hours(2), .hours(3)], .atEnd)
        #expect(scene.instance("phone", "w1")?.timeline?.findings == [])
        let start = scene.now
        for hour in Int64(0)..<3 {
            #expect(Self.shown(scene) == start + .hours(hour))
            scene.rest(.hours(1) - .milliseconds(1))
            #expect(Self.shown(scene) == start + .hours(hour), "each entry until the next one's date")
            scene.rest(.milliseconds(1))
        }
        #expect(Self.shown(scene) == start + .hours(3))
        let healed = try #require(Self.next(&scene, within: .hours(1)))
        #expect(healed.causes == [.policy])
        #expect((.zero ... .minutes(6)).contains(healed.after), "after the last date, within the slot")
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
        scene.rest(.hours(1) - .seconds(1))
        #expect(Self.shown(scene) == landing - .hours(1), "in the air")
        scene.rest(.seconds(1))
        #expect(Self.shown(scene) == landing)
        scene.rest(.minutes(30) - .seconds(1))
        #expect(Self.shown(scene) == landing && scene.issued == [], "nothing asks before the later date")
        let next = try #require(Self.next(&scene, within: .hours(1)))
        #expect(scene.reloads.last.map { $0.issuedAt >= cleared } == true && next.after <= .minutes(6))
        #expect(Self.shown(scene) == landing, "until the next timeline is there")
        Self.answer(&scene, [.zero], .never)
        #expect(Self.shown(scene) == scene.now)
    }

    /// The leaderboard: one entry, dated now, and atEnd. Its last date is over at once, so it asks again at the pace.
    @Test func `a leaderboard of a single entry dated now asks again at the pace, and all day`() throws {
        var scene = Self.game()
        let end = scene.now + .days(1)
        var reloads = 0
        while scene.now < end {
            Self.answer(&scene, [.zero], .atEnd)
            let findings = scene.instance("phone", "w1")?.timeline?.findings
            #expect(findings == [.pollsTooOften(every: .minutes(45))], "40 a day: a burst of 8, the others evenly")
            let next = try #require(Self.next(&scene, within: .hours(2)))
            #expect(next.causes == [.policy])
            #expect((.minutes(45) ... .minutes(51)).contains(next.after))
            reloads += 1
        }
        #expect((28...32).contains(reloads))
    }

    /// Weather: "update the temperature hourly throughout the day". A day's entries are one reload.
    @Test func `a weather widget shows every hour of the day, and asks once`() throws {
        var scene = Self.game()
        let start = scene.now
        Self.answer(&scene, (0..<24).map { .hours($0) }, .atEnd)
        #expect(scene.instance("phone", "w1")?.timeline?.findings == [])
        for hour in Int64(0)..<23 {
            #expect(Self.shown(scene) == start + .hours(hour))
            scene.rest(.hours(1))
        }
        #expect(scene.reloads.map(\.causes) == [ReloadCauses(.added)])
        let next = try #require(Self.next(&scene, within: .hours(1)))
        #expect(next.causes == [.policy] && next.after <= .minutes(6))
    }

    /// "From 40 to 70 refreshes", "every 15 to 60 minutes" for a widget that is frequently viewed.
    @Test(arguments: [BudgetPolicy.widgetkit.typical, BudgetPolicy.widgetkit.frequent])
    func `forty to seventy a day are one every fifteen to sixty minutes`(allowance: Int) {
        #expect((40...70).contains(allowance))
        let window = BudgetPolicy.widgetkit.window(containing: Scene.start, anchoredAt: 0)
        let terms = BudgetTerms(policy: .widgetkit, window: window, allowance: allowance)
        #expect((.minutes(15) ... .minutes(60)).contains(terms.interval))
    }

    /// A potion for the character: the app looks for widgets that show it, and reloads those.
    @Test func `a potion reloads the widgets that show the healed character only`() throws {
        var scene = Scene()
        scene.settle("phone", app: Scene.game, [Scene.character("w1", "spouty"), Scene.character("w2", "power panda")])
        let kind = WidgetKind("character")
        let healed = try MatchPattern.parse(
            .object([JSONValue.Member(name: "character", value: .array([.string("spouty")]))])
        )
        let found = PageQuestion(WidgetList(of: Scene.game, kind: kind, matching: healed), limit: 9)
            .answer(in: scene)
        #expect(found.rows.map(\.registration.id) == [Self.widget])
        scene.apply(.appReload(AppReloadRequest(app: Scene.game, kind: kind, pattern: healed)))
        #expect(scene.issued.map(\.instance) == [Self.widget])
    }

    /// The article's own code asks for the kind once any widget of it shows the character; here that is not needed.
    @Test(arguments: [("spouty", 2), ("power panda", 0)])
    func `a potion for a character that no widget shows reloads nothing`(character: String, reloads: Int) throws {
        var scene = Scene()
        scene.settle("phone", app: Scene.game, [Scene.character("w1", "spouty"), Scene.character("w2", "cloud")])
        let kind = WidgetKind("character")
        let healed = try MatchPattern.parse(
            .object([JSONValue.Member(name: "character", value: .array([.string(character)]))])
        )
        let before = scene.reloads.count
        let found = PageQuestion(WidgetList(of: Scene.game, kind: kind, matching: healed), limit: 1)
            .answer(in: scene)
        if !found.rows.isEmpty { scene.apply(.appReload(AppReloadRequest(app: Scene.game, kind: kind))) }
        #expect(scene.reloads.count - before == reloads)
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

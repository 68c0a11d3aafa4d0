import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// The part alone: numbers of apps, kinds and teams, pauses, and policies that were replaced.
@Suite struct CatalogueTests {
    private static let start = Instant(seconds: 1_793_638_800)

    private static func app(
        _ id: String,
        team: String = "A1B2C3D4E5",
        kinds: [String] = [],
        budget: BudgetPolicy = .widgetkit,
        environment: PushEnvironment = .production
    ) throws -> AppSettings {
        let kinds = try kinds.map {
            KindSettings(schema: try KindSchema(kind: WidgetKind($0), parameters: []), budget: budget)
        }
        return AppSettings(app: BundleID(id), team: TeamID(team), environment: environment, kinds: kinds)
    }

    private static func apply(_ catalogue: inout Catalogue, _ apps: [AppSettings], at now: Instant = start)
        -> [AppNumber]
    {
        catalogue.applySettings(EngineSettings(apps: apps), at: now)
    }

    private static func pauses(_ catalogue: borrowing Catalogue, _ kinds: [KindNumber]) -> [Instant] {
        kinds.map { catalogue[$0].pausedUntil }
    }

    @Test func `a number is an app's for ever, also while no settings name it`() throws {
        var catalogue = Catalogue(seed: 1)
        _ = Self.apply(&catalogue, [try Self.app("a", kinds: ["x"]), try Self.app("b")])
        let numbers = (catalogue.findApp(BundleID("a")), catalogue.findApp(BundleID("b")))
        #expect(numbers == (AppNumber(0), AppNumber(1)))
        _ = Self.apply(&catalogue, [try Self.app("c"), try Self.app("b")])
        #expect(catalogue.findApp(BundleID("a")) == nil)
        #expect(catalogue.findAnyApp(BundleID("a")) == AppNumber(0))
        #expect(catalogue.findApp(BundleID("c")) == AppNumber(2))
        let kind = catalogue.findAnyKind(WidgetKind("x"), of: AppNumber(0))
        #expect(catalogue.findKind(WidgetKind("x"), of: AppNumber(0)) == nil)
        _ = Self.apply(&catalogue, [try Self.app("a", kinds: ["y", "x"])])
        #expect(catalogue.findApp(BundleID("a")) == AppNumber(0))
        #expect(catalogue.findKind(WidgetKind("x"), of: AppNumber(0)) == kind)
        let names = catalogue[AppNumber(0)].kinds.map { catalogue[$0].name.rawValue }
        #expect(names == ["x", "y"], "sorted by name, whatever their numbers")
        #expect(catalogue.checkInvariants() == [])
    }

    @Test func `a kind is paused for as long as it or its app is`() throws {
        var catalogue = Catalogue(seed: 1)
        let settings = [try Self.app("a", kinds: ["x", "y"])]
        _ = Self.apply(&catalogue, settings)
        let app = AppNumber(0)
        let kinds = catalogue[app].kinds
        catalogue.pauseKind(kinds[0], until: Self.start + .hours(2))
        catalogue.pauseApp(app, until: Self.start + .hours(1))
        #expect(Self.pauses(catalogue, kinds) == [Self.start + .hours(2), Self.start + .hours(1)])
        catalogue.pauseKind(kinds[0], until: .distantPast)
        #expect(Self.pauses(catalogue, kinds) == [Self.start + .hours(1), Self.start + .hours(1)])
        // A kind that comes later is paused with its app, and settings end no pause.
        _ = Self.apply(&catalogue, [try Self.app("a", kinds: ["x", "y", "z"])])
        let late = catalogue.findKind(WidgetKind("z"), of: app)
        #expect(late.map { catalogue[$0].pausedUntil } == Self.start + .hours(1))
        catalogue.pauseApp(app, until: .distantPast)
        #expect(Self.pauses(catalogue, kinds) == [.distantPast, .distantPast])
        #expect(catalogue.checkInvariants() == [])
    }

    @Test func `a replaced policy is known until the windows that it opened are over`() throws {
        var catalogue = Catalogue(seed: 1)
        let policies = [BudgetPolicy.widgetkit, .unlimited, .widgetkit]
        var now = Self.start
        for policy in policies {
            _ = Self.apply(&catalogue, [try Self.app("a", kinds: ["x"], budget: policy)], at: now)
            now = now + .hours(1)
        }
        let kind = KindNumber(0)
        #expect(catalogue[kind].replaced.map(\.budget) == [.widgetkit, .unlimited])
        #expect(catalogue[kind].replaced.map(\.at) == [Self.start + .hours(1), Self.start + .hours(2)])
        // The same settings again replace nothing; those of long ago are forgotten.
        _ = Self.apply(&catalogue, [try Self.app("a", kinds: ["x"])], at: now)
        #expect(catalogue[kind].replaced.count == 2)
        _ = Self.apply(&catalogue, [try Self.app("a", kinds: ["x"])], at: now + .days(3))
        #expect(catalogue[kind].replaced.isEmpty)
    }

    @Test func `settings tell which apps have moved to another environment`() throws {
        var catalogue = Catalogue(seed: 1)
        #expect(Self.apply(&catalogue, [try Self.app("a"), try Self.app("b", environment: .development)]) == [])
        let moved = Self.apply(
            &catalogue,
            [try Self.app("a"), try Self.app("b"), try Self.app("c", environment: .development)]
        )
        #expect(moved == [AppNumber(1)], "a new one has moved from nowhere")
    }
}

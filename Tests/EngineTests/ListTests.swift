import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Lists for operators: bounded steps that together give everything once.
@Suite struct ListTests {
    /// The pages of a list, each begun where the one before ended.
    private static func pages<List: EngineList>(
        _ list: List,
        _ engine: borrowing Engine,
        limit: Int,
        scanMax: Int
    ) -> [[List.Row]] {
        var pages: [[List.Row]] = []
        var place: UInt64?
        repeat {
            let next = list.page(of: engine, ListPart(place: place, limit: limit, scanMax: scanMax))
            pages.append(next.rows)
            place = next.next
        } while place != nil
        return pages
    }

    @Test func `each live instance is listed once, whatever the step and the limit`() {
        var scene = Scene()
        for host in 0..<5 {
            scene.settle("phone-\(host)", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        }
        scene.apply(.unregister(HostRemoval(host: HostKey("phone-2"))))
        let all = PageQuestion(InstanceFilter(), limit: 100).answer(in: scene)
        #expect(all.next == nil)
        #expect(
            all.rows.map(\.address.short).sorted() == [
                "phone-0:w1", "phone-0:w2", "phone-1:w1", "phone-1:w2", "phone-3:w1", "phone-3:w2", "phone-4:w1",
                "phone-4:w2",
            ]
        )
        for (limit, scanMax) in [(1, 100), (3, 100), (100, 1), (2, 3)] {
            let rows = Self.pages(InstanceFilter(), scene.engine, limit: limit, scanMax: scanMax)
            #expect(rows.flatMap { $0 } == all.rows, "limit \(limit), \(scanMax) rows a step")
            #expect(rows.allSatisfy { $0.count <= limit })
        }
    }

    @Test func `a filter leaves those of the app, the kind and the state`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.settle("tablet", app: Scene.game, [Scene.character("c1", "panda")])
        func listed(_ filter: InstanceFilter) -> [String] {
            PageQuestion(filter, limit: 100).answer(in: scene).rows.map(\.address.short)
        }
        #expect(listed(InstanceFilter(app: Scene.game)) == ["tablet:c1"])
        #expect(listed(InstanceFilter(kind: WidgetKind("scores"))) == ["phone:w1", "phone:w2"])
        #expect(listed(InstanceFilter(app: Scene.game, kind: WidgetKind("scores"))) == [])
        #expect(listed(InstanceFilter(state: .waiting)) == [])
        scene.push(to: "phone", match: "mariners")
        #expect(listed(InstanceFilter(state: .outstanding)) == ["phone:w2"])
        scene.push(to: "phone", match: "mariners")
        #expect(listed(InstanceFilter(state: .waiting)) == ["phone:w2"])
        scene.signal("phone", .widgetVisible(InstanceID("w1")))
        #expect(listed(InstanceFilter(state: .visible)) == ["phone:w1"])
        #expect(listed(InstanceFilter(host: HostKey("phone"), state: .waiting)) == ["phone:w2"])
        #expect(listed(InstanceFilter(host: HostKey("nobody"))) == [])
    }

    @Test func `a line says what is charged, what waits and what is out`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        scene.push(to: "phone")
        let row = PageQuestion(InstanceFilter(host: HostKey("phone")), limit: 9).answer(in: scene).rows.first
        let view = scene.instance("phone", "w1")
        #expect(row?.charged == 1)
        #expect(row?.allowance == view?.budget.allowance)
        #expect(row?.waiting == 1)
        #expect(row?.outstanding == 1)
        #expect(row?.decidesAt == view?.decidesAt)
        #expect(row?.lastReload == scene.now)
    }

    @Test func `hosts are listed once, those that are gone not at all`() {
        var scene = Scene()
        for host in 0..<4 { scene.settle("phone-\(host)", [Scene.scores("w1", team: "seahawks")]) }
        scene.settle("tablet", app: Scene.game, [Scene.character("c1", "panda")])
        scene.apply(.unregister(HostRemoval(host: HostKey("phone-1"))))
        let rows = Self.pages(HostList(of: nil), scene.engine, limit: 2, scanMax: 3).flatMap { $0 }
        #expect(rows.map(\.host.id.rawValue) == ["phone-0", "phone-2", "phone-3", "tablet"])
        #expect(rows.map(\.instances) == [1, 1, 1, 1])
        let game = PageQuestion(HostList(of: Scene.game), limit: 10).answer(in: scene)
        #expect(game.rows.map(\.host.id.rawValue) == ["tablet"])
    }

    @Test func `pushes come newest first, and evicted ones not at all`() {
        var limits = EngineLimits()
        limits.pushesRetainedMax = 3
        var scene = Scene(settings: Scene.settings(limits: limits))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        for _ in 0..<6 {
            scene.push(to: "phone")
            scene.acknowledgeAll("phone")
            scene.pass(.hours(1))
        }
        func listed(_ filter: PushFilter, limit: Int, scanMax: Int) -> [UInt64] {
            Self.pages(filter, scene.engine, limit: limit, scanMax: scanMax).flatMap { $0 }.map(\.push.id.low)
        }
        scene.apply(.tick)
        #expect(listed(PushFilter(), limit: 100, scanMax: 100) == [6, 5, 4])
        #expect(listed(PushFilter(), limit: 1, scanMax: 2) == [6, 5, 4])
        #expect(listed(PushFilter(team: TeamID("OTHER12345")), limit: 100, scanMax: 100) == [])
        scene.push(to: "phone", .normal)
        scene.push(to: "phone", .normal)
        #expect(listed(PushFilter(isComplete: false), limit: 100, scanMax: 100) == [8, 7])
        #expect(listed(PushFilter(outcome: .deferred), limit: 100, scanMax: 100) == [8])
        #expect(listed(PushFilter(outcome: .reloaded), limit: 100, scanMax: 100) == [6, 5, 4])
    }

    @Test func `every decision about a push is told with its instance`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.push(to: "phone", match: "mariners")
        let push = scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        func told(_ outcome: PushOutcome?, limit: Int, scanMax: Int) -> [String] {
            Self.pages(DecisionList(about: push, outcome: outcome), scene.engine, limit: limit, scanMax: scanMax)
                .flatMap { $0 }.map { "\($0.instance?.short ?? "?") \($0.decision.outcome.name)" }
        }
        let all = ["phone:w1 issued", "phone:w2 deferred", "phone:w1 reloaded"]
        #expect(Set(told(nil, limit: 100, scanMax: 1000)) == Set(all))
        #expect(told(nil, limit: 1, scanMax: 2) == told(nil, limit: 100, scanMax: 1000))
        #expect(told(.deferred, limit: 100, scanMax: 1000) == ["phone:w2 deferred"])
        let none = DecisionList(about: PushID(high: 1, low: 1))
        let unknown = PageQuestion(none, limit: 9).answer(in: scene)
        #expect(unknown.rows == [])
        #expect(unknown.next == nil)
    }

    @Test func `a day's ledger counts what is left back from now`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        for _ in 0..<3 {
            scene.push(to: "phone")
            scene.acknowledgeAll("phone")
            scene.pass(.hours(1))
        }
        scene.signal("phone", .appForeground)
        scene.push(to: "phone")
        let view = scene.instance("phone", "w1")
        let entries = view?.ledger.entries ?? []
        #expect(view?.ledger.isWhole == true)
        #expect(entries.map(\.isCharged) == [false, true, true, true, false])
        #expect(entries.map(\.decision.cause) == [.added, .push, .push, .push, .push])
        let allowance = view?.budget.allowance ?? 0
        #expect(entries.last?.left == allowance - (view?.budget.charged ?? 0))
        let inWindow = entries.filter { $0.left != nil }
        let steps = zip(inWindow, inWindow.dropFirst()).map { ($0.left ?? 0) - ($1.left ?? 0) }
        #expect(steps == inWindow.dropFirst().map { $0.isCharged ? 1 : 0 })
        scene.pass(.hours(23))
        scene.apply(.tick)
        let last = scene.instance("phone", "w1")?.ledger.entries.map { scene.now - $0.decision.at }
        #expect(last == [.day, .hours(23)])
    }
}

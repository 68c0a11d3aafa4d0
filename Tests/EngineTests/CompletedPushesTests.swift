import Engine
import TestSupport
import Testing
import WidgetModel

/// The source of receipts: the completed pushes, in the order of their completion, from a place on.
@Suite struct CompletedPushesTests {
    private static func scene(retained: Int = 1000) -> Scene {
        let limits = EngineLimits(pushesRetainedMax: retained, pushRetention: .hours(48))
        var scene = Scene(settings: Scene.settings(limits: limits))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    private static func ask(_ scene: Scene, after place: CompletionPlace?, limit: Int = 100) -> CompletedPushesPage {
        CompletedPushesQuestion(for: Scene.sports, after: place, limit: limit).answer(in: scene)
    }

    /// Pushes something that ends at once.
    private static func complete(_ scene: inout Scene, _ count: Int) -> [PushID] {
        (0..<count).map { _ in scene.push(match: "kraken") }
    }

    @Test func `what has completed before a place is not told, what completes later is`() {
        var scene = Self.scene()
        _ = Self.complete(&scene, 3)
        let start = Self.ask(scene, after: nil)
        #expect(start.pushes == [] && start.isLast && !start.mayMiss)
        #expect(Self.ask(scene, after: start.next).pushes == [])
        let waits = scene.push(to: "phone", .low)
        let ended = Self.complete(&scene, 2)
        let page = Self.ask(scene, after: start.next)
        #expect(page.pushes.map(\.id) == ended && page.isLast, "the one that waits has not completed")
        scene.order(.cancel, .push(waits, Scene.team))
        let last = Self.ask(scene, after: page.next)
        #expect(last.pushes.map(\.id) == [waits])
        #expect(last.pushes[0].counts[.cancelled] == 1 && last.pushes[0].completedAt == scene.now)
        #expect(Self.ask(scene, after: last.next).pushes == [])
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `pages of any size tell each push once, in one order`(limit: Int) {
        var scene = Self.scene()
        let start = Self.ask(scene, after: nil).next
        let ids = Self.complete(&scene, 7)
        scene.settle("game", app: Scene.game, [Scene.character("c1", "panda")])
        scene.push(to: "game", expiration: 0)
        let more = Self.complete(&scene, 2)
        var (found, place, pages) = ([PushID](), start, 0)
        while pages < 100 {
            let page = Self.ask(scene, after: place, limit: limit)
            #expect(page.pushes.count <= limit && !page.mayMiss)
            (found, place, pages) = (found + page.pushes.map(\.id), page.next, pages + 1)
            if page.isLast { break }
        }
        #expect(found == ids + more, "the other app's is not among them")
    }

    @Test func `a place is good in an engine that was duplicated, and as bytes`() throws {
        var scene = Self.scene()
        _ = Self.complete(&scene, 2)
        let place = try CompletionPlace(encoded: Self.ask(scene, after: nil).next.encoded)
        let ids = Self.complete(&scene, 2)
        let question = CompletedPushesQuestion(for: Scene.sports, after: place, limit: 9)
        let copy = scene.engine.duplicate()
        #expect(question.answer(from: copy).pushes.map(\.id) == ids)
    }

    @Test func `what was forgotten before it was told is told of as perhaps missed`() {
        var scene = Self.scene(retained: 4)
        let start = Self.ask(scene, after: nil).next
        let ids = Self.complete(&scene, 4)
        let whole = Self.ask(scene, after: start)
        #expect(whole.pushes.map(\.id) == ids)
        let more = Self.complete(&scene, 6)
        let page = Self.ask(scene, after: whole.next)
        #expect(page.mayMiss && page.pushes.count < 6)
        #expect(page.pushes.map(\.id) == Array(more.suffix(page.pushes.count)))
        #expect(!Self.ask(scene, after: page.next).mayMiss)
    }

    @Test
    func `that the last push that was told is forgotten is no gap, unless so long has passed since the last look`() {
        var scene = Self.scene()
        _ = Self.complete(&scene, 1)
        var place = Self.ask(scene, after: nil).next
        let unseen = place
        // One look a day, and nothing completes.
        for _ in 0..<4 {
            scene.pass(.days(1))
            scene.apply(.tick)
            let page = Self.ask(scene, after: place)
            #expect(page.pushes == [] && !page.mayMiss)
            place = page.next
        }
        #expect(Self.ask(scene, after: unseen).mayMiss)
    }
}

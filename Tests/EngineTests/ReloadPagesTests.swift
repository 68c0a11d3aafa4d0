import Engine
import TestSupport
import Testing
import WidgetModel

/// The reloads that an app's stream begins with.
@Suite struct ReloadPagesTests {
    private static func scene(hosts: Int) -> Scene {
        var scene = Scene()
        for number in 0..<hosts {
            scene.register("phone-\(number)", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "rams")])
        }
        return scene
    }

    /// All pages, and how many there were.
    private static func pages(_ scene: Scene, limit: Int) -> (ids: [ReloadID], pages: Int) {
        var page = ReloadsQuestion(.app(Scene.sports), limit: limit).answer(in: scene)
        var ids = page.reloads.map(\.id)
        var count = 1
        while let next = page.next {
            let question = ReloadsQuestion(.app(Scene.sports), from: next, through: page.through, limit: limit)
            page = question.answer(in: scene)
            ids += page.reloads.map(\.id)
            count += 1
        }
        return (ids, count)
    }

    @Test(arguments: [1, 2, 3, 7, 40, 100])
    func `pages of any size hold every reload that is out, each once`(limit: Int) {
        let scene = Self.scene(hosts: 20)
        let all = (0..<20).flatMap { scene.engine.outstandingReloads(host: HostKey("phone-\($0)")).map(\.id) }
        let paged = Self.pages(scene, limit: limit)
        #expect(all.count == 40)
        #expect(paged.ids.count == 40 && Set(paged.ids) == Set(all))
        #expect(paged.pages >= 40 / limit)
    }

    @Test(arguments: [1, 3, 100])
    func `what no stream delivers comes in pages, too`(limit: Int) {
        var scene = Self.scene(hosts: 5)
        for number in 0..<4 {
            scene.settle("token-\(number)", delivery: .apns, [Scene.scores("w1", team: "seahawks")])
        }
        scene.apply(.push(scene.makePush()))
        scene.acknowledgeAll("token-3")
        var (found, pages) = ([ReloadEffect](), 0)
        var cursor: InstanceNumber? = InstanceNumber(0)
        while let from = cursor {
            let page = ReloadsQuestion(.undelivered, from: from, limit: limit).answer(in: scene)
            #expect(page.reloads.count <= limit)
            found += page.reloads
            cursor = page.next
            pages += 1
        }
        #expect(found.map(\.host.id.rawValue) == ["token-0", "token-1", "token-2"])
        #expect(pages >= 3 / limit)
    }

    @Test func `what is issued between two pages is on none of them, what ends is left out`() throws {
        var scene = Self.scene(hosts: 4)
        let first = ReloadsQuestion(.app(Scene.sports), limit: 2).answer(in: scene)
        #expect(first.reloads.count == 2)
        scene.acknowledgeAll("phone-3")
        scene.register("late", [Scene.scores("w1", team: "seahawks")])
        let next = try #require(first.next)
        let rest = ReloadsQuestion(.app(Scene.sports), from: next, through: first.through).answer(in: scene)
        #expect(rest.next == nil)
        #expect(Set(rest.reloads.map(\.host.id.rawValue)) == ["phone-1", "phone-2"])
        #expect(rest.reloads.count == 4)
    }

    @Test func `an unknown app has no reloads`() {
        let page = ReloadsQuestion(.app(BundleID("com.example.other"))).answer(from: Self.scene(hosts: 1).engine)
        #expect(page.reloads == [] && page.next == nil)
    }
}

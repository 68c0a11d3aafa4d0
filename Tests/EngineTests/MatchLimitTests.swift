import Engine
import TestSupport
import Testing
import WidgetModel

/// A push that may match so many instances only, when it is applied.
@Suite struct MatchLimitTests {
    private static func scene() -> Scene {
        var scene = Scene()
        for host in 0..<5 { scene.settle("phone-\(host)", [Scene.scores("w1", team: "seahawks")]) }
        return scene
    }

    @Test(arguments: [4, 5, 6])
    func `above its limit it ends at once and for good, decided for none`(matchedMax: Int) throws {
        var scene = Self.scene()
        var push = scene.makePush()
        push.matchedMax = matchedMax
        let matched = matchedMax < 5 ? 0 : 5
        #expect(scene.apply(.push(push)) == .push(matched: matched, isRepeat: false))
        let view = try #require(scene.engine.push(push.id, team: Scene.team).first)
        #expect(view.matched == matched)
        #expect(view.failure == (matchedMax < 5 ? .tooMany : nil))
        #expect(view.isComplete == (matchedMax < 5))
        #expect(scene.outcomes(push.id) == (matchedMax < 5 ? [:] : [.issued: 5]))
        #expect(scene.apply(.push(push)) == .push(matched: matched, isRepeat: true))
    }

    @Test func `who registers between the question and the record counts`() {
        var scene = Self.scene()
        var push = scene.makePush()
        push.matchedMax = scene.engine.matchCount(push).matched
        scene.settle("phone-6", [Scene.scores("w1", team: "seahawks")])
        #expect(scene.apply(.push(push)) == .push(matched: 0, isRepeat: false))
        #expect(scene.engine.push(push.id).first?.failure == .tooMany)
    }

    @Test func `it takes no budget and no place among those that wait`() {
        var scene = Self.scene()
        scene.apply(.tick)
        let address = InstanceAddress(host: HostKey("phone-1"), instance: InstanceID("w1"))
        let before = scene.engine.instance(address)
        var push = scene.makePush()
        push.matchedMax = 1
        scene.apply(.push(push))
        #expect(scene.engine.instance(address) == before)
    }

    @Test(arguments: [1, 2, 3])
    func `a push to a host is counted by its instances`(matchedMax: Int) {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "kraken")])
        var push = scene.makePush(to: "phone")
        push.matchedMax = matchedMax
        #expect(scene.apply(.push(push)) == .push(matched: matchedMax < 2 ? 0 : 2, isRepeat: false))
    }

    @Test func `the record is read back as it was written, with every other field and without`() throws {
        var scene = Scene()
        for isFull in [false, true] {
            for matchedMax in [nil, 0, 1, 127, 128, Int.max] {
                var push = scene.makePush(match: isFull ? "seahawks" : nil)
                push.matchedMax = matchedMax
                if isFull {
                    push.kind = WidgetKind("scores")
                    push.attributes = ConditionTests.health(3)
                }
                var writer = ByteWriter()
                push.encode(into: &writer)
                var reader = ByteReader(writer.bytes)
                #expect(try PushRecord(from: &reader) == push)
                #expect(reader.isAtEnd)
            }
        }
    }

    @Test func `flags that no push has are refused`() {
        var scene = Scene()
        var writer = ByteWriter()
        scene.makePush().encode(into: &writer)
        var reader = ByteReader([0x80, 0x08] + writer.bytes.dropFirst())
        #expect(throws: ByteError.self) { try PushRecord(from: &reader) }
    }

    @Test func `quotas add up and leave each its count where that can be`() {
        var random = SplitMix64(seed: 8)
        for _ in 0..<2000 {
            let counts = (0..<Int(random.next() % 7 + 1)).map { _ in Int(random.next() % 50) }
            let max = Int(random.next() % 200)
            let quotas = MatchQuota.divide(max, by: counts)
            #expect(quotas.reduce(0, +) == max && quotas.allSatisfy { $0 >= 0 })
            if counts.reduce(0, +) <= max {
                #expect(zip(quotas, counts).allSatisfy { $0 >= $1 })
            } else {
                #expect(zip(quotas, counts).allSatisfy { $0 <= $1 })
            }
        }
        let most = Int(UInt32.max)
        #expect(MatchQuota.divide(.max, by: [most, most]).reduce(0, +) == .max)
        #expect(MatchQuota.divide(most, by: [most, most, 1]).reduce(0, +) == most)
        #expect(MatchQuota.divide(.max, by: [0, 0]).reduce(0, +) == .max)
    }
}

@testable import Engine
import Testing
import TestSupport
import Timelines
import WidgetModel

/// From the push that was accepted to the entry that is shown.
@Suite struct FreshnessTests {
    private static func scene() -> Scene {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    @Test func `what is shown counts from the acceptance of the oldest push that it brings`() throws {
        var scene = Self.scene()
        scene.push(to: "phone")
        let first = try #require(scene.issued.first)
        scene.pass(.seconds(2))
        scene.signal("phone", .entryShown(first.id, date: scene.now))
        #expect(scene.engine.stats().freshness.count == 1)
        let shown = try #require(scene.engine.stats().freshness.quantile(50))
        #expect(shown >= .seconds(2) && shown.milliseconds <= 2125)

        // Two pushes wait for the minimum interval, and come with one reload.
        scene.push(to: "phone")
        scene.pass(.minutes(1))
        scene.push(to: "phone")
        scene.pass(.minutes(4))
        let second = try #require(scene.issued.first)
        scene.signal("phone", .entryShown(second.id, date: scene.now))
        #expect(scene.engine.stats().freshness.count == 2)
        let oldest = try #require(scene.engine.stats().freshness.quantile(100))
        #expect(oldest >= .minutes(5) - .seconds(2) && oldest <= .minutes(6))
    }

    @Test func `a reload that was acknowledged before counts when its entry is shown, once`() throws {
        var scene = Self.scene()
        scene.push(to: "phone")
        let reload = try #require(scene.issued.first)
        scene.acknowledge(reload)
        #expect(scene.engine.stats().freshness.count == 0)
        scene.pass(.seconds(30))
        scene.signal("phone", .entryShown(reload.id, date: scene.now))
        scene.pass(.hours(1))
        // The next entry of the same timeline is no news.
        scene.signal("phone", .entryShown(reload.id, date: scene.now))
        #expect(scene.engine.stats().freshness.count == 1)
        let shown = try #require(scene.engine.stats().freshness.quantile(95))
        #expect(shown >= .seconds(30) && shown <= .seconds(32))
    }

    @Test func `a reload without a push is no news`() throws {
        var scene = Self.scene()
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        let reload = try #require(scene.issued.first)
        scene.signal("phone", .entryShown(reload.id, date: scene.now))
        #expect(scene.engine.stats().freshness == Freshness())
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `quantiles are never too small, and at most a sixteenth too large`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var all: [Int64] = []
        var parts = [Freshness(), Freshness()]
        for _ in 0..<2000 {
            let value = Int64(random.next() >> (random.next() % 50 + 14))
            all.append(value)
            parts[Int(random.next() % 2)].record(.milliseconds(value))
        }
        var sum = parts[0]
        sum += parts[1]
        all.sort()
        #expect(sum.count == all.count)
        for percent in [1, 25, 50, 90, 95, 99, 100] {
            let exact = all[(all.count * percent + 99) / 100 - 1]
            let estimate = try #require(sum.quantile(percent)).milliseconds
            #expect(estimate >= exact && estimate <= exact + exact / 16, "seed \(seed), \(percent) %")
        }
    }

    @Test func `small lengths are exact, those below zero are zero, and nothing has no quantile`() {
        for value in Int64(0)...31 {
            var freshness = Freshness()
            freshness.record(.milliseconds(value))
            #expect(freshness.quantile(50) == .milliseconds(value))
        }
        var freshness = Freshness()
        #expect(freshness.quantile(50) == nil)
        freshness.record(.milliseconds(-5))
        #expect(freshness.quantile(50) == .zero)
    }

    @Test func `lengths beyond all time sum up to all time, also as a snapshot says them`() throws {
        var freshness = Freshness()
        for _ in 0..<3 { freshness.record(.milliseconds(.max)) }
        #expect(freshness.sum == .milliseconds(.max))
        #expect(freshness.count(upTo: .milliseconds(.max)) == 3)
        var writer = ByteWriter()
        freshness.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try Freshness(from: &reader) == freshness)
        for (buckets, count, isTaken) in [
            (960, UInt64(1) << 40, true), (961, 1, false), (1, 1 << 40 + 1, false), (1, .max, false),
        ] {
            var writer = ByteWriter()
            writer.write(each: Array(repeating: count, count: buckets)) { $0.write(varint: $1) }
            var reader = ByteReader(writer.bytes)
            guard var read = try? Freshness(from: &reader) else {
                #expect(!isTaken, "\(buckets) of \(count)")
                continue
            }
            #expect(isTaken, "\(buckets) of \(count)")
            read += read
            #expect(read.quantile(100) != nil && read.sum == .milliseconds(.max))
        }
    }
}

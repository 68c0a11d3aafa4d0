import Storage
import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// The ring of the last pushes, by which repeats are recognised.
@Suite struct RepeatWindowTests {
    private static func resize(_ window: inout RepeatWindow, to capacity: Int) {
        var other = window.successor(capacity: capacity)
        var (isDone, units) = (false, 1)
        while !isDone {
            isDone = other.fill(from: window, &units)
            units = 1
        }
        if other.capacity != window.capacity { swap(&other, &window) }
    }

    /// Against an array of all pushes; the window's capacity changes now and then.
    @Test(arguments: UInt64(1)..<20) func `the last pushes are recognised, whatever the capacity was`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var window = RepeatWindow(capacity: 10, seed: seed)
        var model: [RepeatWindow.Entry] = []
        for step in 0..<600 {
            if random.chance(1, in: 40) {
                let capacity = [1, 3, 10, 11, 40, 90][Int(random.next() % 6)]
                Self.resize(&window, to: capacity)
                model = model.suffix(capacity)
            }
            let id = PushID(high: random.next(), low: random.next())
            let entry = RepeatWindow.Entry(
                id: id,
                key: random.next(),
                acceptedAt: Instant(seconds: Int64(step)),
                matched: UInt32(step)
            )
            window.setMatched(window.insert(id, key: entry.key, at: entry.acceptedAt), step)
            model = (model + [entry]).suffix(window.capacity)
            let count = window.entries.count
            let kept = (0..<count).map { window.entries[(window.oldest + $0) % count] }
            #expect(kept.map(\.id) == model.map(\.id), "seed \(seed), step \(step)")
            #expect(kept.map(\.matched) == model.map(\.matched), "seed \(seed), step \(step)")
            #expect(window.start == model.first?.acceptedAt, "seed \(seed), step \(step)")
            for entry in model {
                let slot = window.find(entry.id, key: entry.key)
                #expect(slot.map { window.matched($0) } == Int(entry.matched), "seed \(seed), step \(step)")
                #expect(window.find(entry.id, key: ~entry.key) == nil)
            }
        }
    }
}

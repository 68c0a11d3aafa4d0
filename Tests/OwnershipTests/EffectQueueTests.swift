import Ownership
import TestSupport
import Testing
import WidgetModel

@testable import Engine

@Suite struct EffectQueueTests {
    private static func effect(_ number: Int) -> Effect {
        let kind = WidgetKind("kind-\(number)")
        return .invalidation(
            Invalidation(subject: .relevance, app: BundleID("com.example.scores"), kind: kind, host: nil, at: .epoch)
        )
    }

    /// Against an array.
    @Test(arguments: UInt64(1)..<12) func `effects come out as they came in`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = EffectQueue()
        var model: [Effect] = []
        var next = 0
        func some() -> [Effect] {
            let count = Int(random.next() % 5)
            defer { next += count }
            return (next..<next + count).map(Self.effect)
        }
        for _ in 0..<300 {
            switch random.next() % 4 {
            case 0:
                let effects = some()
                queue.append(effects)
                model += effects
            case 1:
                var other = EffectQueue()
                for effects in [some(), some()] {
                    other.append(effects)
                    model += effects
                }
                queue.append(other)
            case 2:
                let count = model.isEmpty ? 0 : Int(random.next() % UInt64(model.count + 1))
                queue.removeFirst(count)
                model.removeFirst(count)
            default:
                guard !model.isEmpty else { continue }
                let first = queue.removeFirst()
                #expect(first == model.removeFirst())
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty)
            #expect(queue.first == model.first)
            #expect(queue.all == model)
        }
    }
}

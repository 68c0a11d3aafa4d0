import TestSupport
import Testing
@testable import Serving

@Suite struct RecentEventsTests {
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `what is remembered is what a list would have`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var capacity = Int(random.next() % 6)
        var recent = RecentEvents<Int>(capacity: capacity)
        var all: [Int] = []
        // How many of the newest are known: none that was forgotten comes back.
        var known = 0
        for step in 0..<60 {
            if random.next() % 5 == 0 {
                capacity = Int(random.next() % 6)
                recent.setLimit(capacity: capacity)
            } else {
                recent.append(step)
                all.append(step)
                known += 1
            }
            known = min(known, capacity)
            #expect(recent.sequence == UInt64(all.count), "seed \(seed)")
            for number in 0...all.count + 1 {
                let found = recent.events(after: UInt64(number))
                let isKnown = number <= all.count && all.count - number <= known
                #expect(found?.map(\.event) == (isKnown ? Array(all.dropFirst(number)) : nil), "seed \(seed)")
                guard let found else { continue }
                #expect(found.map(\.number) == (UInt64(number)..<UInt64(all.count)).map { $0 + 1 }, "seed \(seed)")
            }
        }
    }
}

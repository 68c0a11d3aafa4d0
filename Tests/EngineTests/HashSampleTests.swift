import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// A sample by hash against sorting everything.
@Suite struct HashSampleTests {
    private static func sample(_ numbers: [UInt32], _ size: Int, batch: Int) -> HashSample {
        var sample = HashSample(size: size)
        for first in stride(from: 0, to: numbers.count, by: batch) {
            let some = numbers[first..<min(numbers.count, first + batch)].map { InstanceNumber(raw: $0) }
            sample.add(some.span)
        }
        return sample
    }

    @Test(arguments: [0, 1, 2, 7, 100, 999, 1000, 1001, 5000])
    func `it is the numbers with the lowest hashes, in any order and batches`(size: Int) {
        var random = SplitMix64(seed: UInt64(size))
        let numbers = (0..<UInt32(1000)).map { $0 * 3 }
        let byHash = numbers.sorted { left, right in
            let hashes = (ReplayHash.mix(UInt64(left)) >> 32, ReplayHash.mix(UInt64(right)) >> 32)
            return hashes.0 == hashes.1 ? left < right : hashes.0 < hashes.1
        }
        for batch in [1, 10, 4096] {
            let shuffled = numbers.shuffled(using: &random)
            let sample = Self.sample(shuffled, size, batch: batch)
            #expect(sample.count == 1000)
            #expect(sample.numbers.map(\.raw) == Array(byHash.prefix(size)))
        }
    }
}

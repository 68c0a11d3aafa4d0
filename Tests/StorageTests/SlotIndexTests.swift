import Storage
import TestSupport
import Testing

/// The hash table, beside a dictionary of the same numbers.
@Suite struct SlotIndexTests {
    /// Many numbers have one hash, or one home.
    private static func hash(_ number: UInt32, _ spread: UInt64) -> UInt64 {
        let key = UInt64(number) % spread
        return spread < 100 ? key << 32 : SeededHash.fold(key)
    }

    @Test(arguments: UInt64(0)..<8)
    func `finds what was inserted and not removed, while it moves from one size to the next`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let spread: UInt64 = seed % 2 == 0 ? 1 << 40 : 50
        let most: UInt64 = spread < 100 ? 300 : 3000
        var index = SlotIndex()
        var model: Set<UInt32> = []
        var faults: [String] = []
        for step in 0..<20_000 {
            let number = UInt32(random.next() % most)
            let grows = random.chance(step < 10_000 ? 3 : 1, in: 4)
            if grows, !model.contains(number) {
                index.insert(number, Self.hash(number, spread))
                model.insert(number)
            } else if !grows, model.contains(number) {
                index.remove(number, Self.hash(number, spread))
                model.remove(number)
            }
            let sought = UInt32(random.next() % most)
            let found = index.find(Self.hash(sought, spread)) { $0 == sought }
            if found != (model.contains(sought) ? sought : nil) { faults.append("\(sought) at step \(step)") }
            if step % 1000 == 999 { faults += index.checkInvariants() }
        }
        let count = index.count
        #expect(count == model.count)
        #expect(faults == [], "seed \(seed)")
        for number in model {
            let found = index.find(Self.hash(number, spread)) { $0 == number }
            #expect(found == number)
        }
        for number in model { index.remove(number, Self.hash(number, spread)) }
        let left = index.count
        #expect(left == 0)
    }

    @Test func `the highest hash and the highest number are as any other`() {
        var index = SlotIndex()
        for number in [0, 1, UInt32.max - 1] { index.insert(number, .max) }
        let found = [0, 1, UInt32.max - 1].map { number in index.find(.max) { $0 == number } }
        #expect(found == [0, 1, UInt32.max - 1])
        let other = index.find(0) { _ in true }
        #expect(other == nil)
        index.remove(1, .max)
        let gone = index.find(.max) { $0 == 1 }
        #expect(gone == nil)
    }

    @Test func `room that is made ahead is one table`() {
        var index = SlotIndex()
        index.insert(7, 7 << 32)
        index.reserve(10_000)
        let bytes = index.byteCount
        for number in UInt32(8)..<10_000 { index.insert(number, UInt64(number) << 32) }
        let (after, faults) = (index.byteCount, index.checkInvariants())
        #expect(after <= bytes)
        #expect(faults == [])
    }

    @Test func `a number that is not there cannot be removed`() async {
        await #expect(processExitsWith: .failure) {
            var index = SlotIndex()
            index.insert(1, 1 << 32)
            index.remove(2, 1 << 32)
        }
    }
}

import Testing

@testable import Engine

@Suite struct LateSlotsTests {
    @Test(arguments: [0, 1, 15, 16, 17, 33, 100]) func `rows come out in the order in which they came`(count: Int) {
        var late = LateSlots()
        var taken: [UInt32] = []
        for number in 0..<count {
            guard let (hash, slot) = late.exchange(UInt64(number) * 3, UInt32(number)) else {
                #expect(number < 16)
                continue
            }
            #expect(hash == UInt64(slot) * 3)
            #expect(Int(slot) == number - 16)
            taken.append(slot)
        }
        while let (hash, slot) = late.takeFirst() {
            #expect(hash == UInt64(slot) * 3)
            taken.append(slot)
        }
        #expect(taken == (0..<UInt32(count)).map { $0 })
        let isEmpty = late.takeFirst() == nil
        #expect(isEmpty)
    }
}

import TestSupport
import Testing
import WidgetModel

@testable import Engine

@Suite struct LateSlotsTests {
    @Test(arguments: [0, 1, 15, 16, 17, 33, 100]) func `rows come out in the order in which they came`(count: Int) {
        var late = LateSlots<NumberTag.Host>()
        var taken: [HostNumber] = []
        for number in 0..<count {
            guard let (hash, slot) = late.exchange(UInt64(number) * 3, HostNumber(number)) else {
                #expect(number < 16)
                continue
            }
            #expect(hash == UInt64(slot.raw) * 3)
            #expect(slot.index == number - 16)
            taken.append(slot)
        }
        while let (hash, slot) = late.takeFirst() {
            #expect(hash == UInt64(slot.raw) * 3)
            taken.append(slot)
        }
        #expect(taken == Array(0..<HostNumber(count)))
        let isEmpty = late.takeFirst() == nil
        #expect(isEmpty)
    }
}

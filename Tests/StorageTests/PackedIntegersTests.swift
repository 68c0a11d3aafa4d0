import Storage
import TestSupport
import Testing

/// Numbers in one, two or four bytes each.
@Suite struct PackedIntegersTests {
    @Test(arguments: [UInt32(255), 256, 65_535, 65_536, .max])
    func `numbers are as they were, whatever the highest is`(highest: UInt32) {
        var random = SplitMix64(seed: UInt64(highest))
        var packed = PackedIntegers()
        var model: [UInt32] = []
        for step in 0..<3000 {
            let number = step == 1500 ? highest : UInt32(truncatingIfNeeded: random.next()) % 200
            switch random.next() % 4 {
            case 0 where !model.isEmpty && step != 1500:
                let place = Int(random.next() % UInt64(model.count))
                packed[place] = number
                model[place] = number
            case 1 where step != 1500:
                packed.append([number, number / 2].span, highest: number)
                model += [number, number / 2]
            case 2 where !model.isEmpty && step != 1500 && model.last != highest:
                packed.removeLast()
                model.removeLast()
            default:
                packed.append(number)
                model.append(number)
            }
        }
        let numbers = (0..<packed.count).map { packed[$0] }
        #expect(numbers == model)
        let width = packed.width
        #expect(width == (highest < 256 ? .one : highest < 65_536 ? .two : .four))
        var inOrder: [UInt32] = []
        packed.forEach { number, place in
            if Int(place) == inOrder.count { inOrder.append(number) }
        }
        #expect(inOrder == model)
    }
}

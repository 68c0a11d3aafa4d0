import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct RequestQueueTests {
    @Test func `what comes back leaves before what is younger`() {
        var queue = RequestQueue()
        for number in 1...5 as ClosedRange<UInt64> { queue.append(number) }
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst()] == [1, 2, 3])
        queue.insert(3)
        queue.insert(1)
        queue.remove(4)
        #expect(queue.count == 3)
        #expect(queue.removeAll() == [1, 3, 5])
        #expect(queue.popFirst() == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `it is a sorted list`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = RequestQueue()
        var model: [UInt64] = []
        var gone: [UInt64] = []
        var last: UInt64 = 0
        for _ in 0..<2000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                last += 1
                queue.append(last)
                model.append(last)
            case 4..<7:
                let expected = model.isEmpty ? nil : model.removeFirst()
                #expect(queue.popFirst() == expected, "seed \(seed)")
                if let expected { gone.append(expected) }
            case 7 where !gone.isEmpty:
                let number = gone.remove(at: Int.random(in: 0..<gone.count, using: &random))
                queue.insert(number)
                model.insert(number, at: model.firstIndex { $0 > number } ?? model.count)
            default:
                let number = UInt64.random(in: 0...(last + 1), using: &random)
                queue.remove(number)
                model.removeAll { $0 == number }
            }
            #expect(queue.count == model.count, "seed \(seed)")
        }
        #expect(queue.removeAll() == model, "seed \(seed)")
    }
}

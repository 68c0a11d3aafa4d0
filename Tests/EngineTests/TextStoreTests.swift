import TestSupport
import Testing
import WidgetModel

@testable import Engine

@Suite struct TextStoreTests {
    private static func text(_ texts: borrowing TextStore, _ number: TextNumber, _ count: Int) -> [UInt8] {
        texts.withBytes(number, count: count) { Array(copying: $0) }
    }

    private static func insert(_ bytes: [UInt8], into texts: inout TextStore) -> TextNumber { texts.insert(bytes.span) }

    @Test func `no bytes have no place`() {
        var texts = TextStore()
        let number = Self.insert([], into: &texts)
        #expect(number == .none)
        #expect(Self.text(texts, number, 0) == [])
        texts.release(number, count: 0)
        #expect(texts.count == 0)
    }

    @Test(arguments: [1, 7, 8, 9, 255, 256, 257])
    func `a place that was given back is used by bytes of as many words`(count: Int) {
        var texts = TextStore()
        let first = Self.insert(Array(repeating: 1, count: count), into: &texts)
        let second = Self.insert(Array(repeating: 2, count: count), into: &texts)
        texts.release(first, count: count)
        let third = Self.insert(Array(repeating: 3, count: count), into: &texts)
        #expect(third == first)
        #expect(Self.text(texts, second, count) == Array(repeating: 2, count: count))
        #expect(Self.text(texts, third, count) == Array(repeating: 3, count: count))
    }

    /// Against a list of the texts: more than a chunk of each length, so that some would lie across its end.
    @Test(arguments: UInt64(1)..<4)
    func `what is kept stays as it is`(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var texts = TextStore()
        var model: [(number: TextNumber, bytes: [UInt8])] = []
        for _ in 0..<6000 {
            if !model.isEmpty, dice.next() % 4 == 0 {
                let gone = model.remove(at: Int(dice.next() % UInt64(model.count)))
                texts.release(gone.number, count: gone.bytes.count)
            } else {
                let bytes = (0..<dice.next() % 270).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
                model.append((Self.insert(bytes, into: &texts), bytes))
            }
        }
        let wrong = model.count { Self.text(texts, $0.number, $0.bytes.count) != $0.bytes }
        #expect(wrong == 0, "seed \(seed)")
        #expect(texts.count == model.count { !$0.bytes.isEmpty }, "seed \(seed)")
        for (number, bytes) in model { texts.release(number, count: bytes.count) }
        #expect(texts.count == 0, "seed \(seed)")
    }
}

import TestSupport
import Testing

@testable import IntentMatching

/// The rows of codes, against sets.
@Suite struct PostingListsTests {
    private static let codes: ClosedRange<UInt32> = 1...3
    /// Several containers of long lists.
    private static let rows = 200_000

    private static func compare(_ lists: borrowing PostingLists, _ model: [Set<UInt32>], _ place: String) {
        for code in Self.codes {
            let (count, rows) = (lists.count(of: code), lists.rows(of: code))
            #expect(count == model[Int(code)].count, "\(place)")
            #expect(rows == model[Int(code)].sorted(), "\(place)")
        }
        let faults = lists.checkInvariants(rows: Self.rows)
        #expect(faults == [], "\(place)")
    }

    @Test(arguments: UInt64(1)...4)
    func `lists become long and short again, and hold what was added and not removed`(seed: UInt64) {
        var dice = Dice(random: SplitMix64(seed: seed))
        var lists = PostingLists()
        var model = Array(repeating: Set<UInt32>(), count: Int(Self.codes.upperBound) + 1)
        var free = Array(UInt32(0)..<UInt32(Self.rows))
        for goal in [3, PostingLists.shortMax + 1, PostingLists.shortMax / 2, 2 * PostingLists.shortMax, 1, 600, 0] {
            for code in Self.codes {
                while model[Int(code)].count < goal {
                    let row = free.remove(swappingLast: dice.below(free.count))
                    lists.insert(row, code)
                    model[Int(code)].insert(row)
                }
                while model[Int(code)].count > goal {
                    let row = model[Int(code)].remove(at: model[Int(code)].startIndex)
                    lists.remove(row, code)
                    free.append(row)
                }
            }
            Self.compare(lists, model, "seed \(seed), \(goal) rows")
        }
    }
}

extension Array {
    /// Removes an element; the last one takes its place.
    fileprivate mutating func remove(swappingLast index: Int) -> Element {
        self.swapAt(index, self.count - 1)
        return self.removeLast()
    }
}

import Storage
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

    /// Only a long list is read block by block.
    private static func isLong(_ lists: borrowing PostingLists, _ code: UInt32) -> Bool {
        var part = Column<UInt32>(undefined: ListPosition.room)
        var position = ListPosition()
        return lists.read(code, &position, into: &part, at: 0) { _ in 0 }?.block != nil
    }

    @Test func `a list is long above the most rows of a short one, and short again at half of them`() {
        var lists = PostingLists()
        let half = UInt32(PostingLists.shortMax / 2)
        for row in 0...2 * half { lists.insert(row, 1) }
        var isLong = [Self.isLong(lists, 1)]
        for row in half + 1...2 * half { lists.remove(row, 1) }
        isLong.append(Self.isLong(lists, 1))
        lists.remove(half, 1)
        isLong.append(Self.isLong(lists, 1))
        #expect(isLong == [true, true, false])
        Self.compare(lists, [[], Set(0..<half), [], []], "half of the most")
        for row in 0..<half { lists.remove(row, 1) }
        Self.compare(lists, [[], [], [], []], "none")
    }
}

extension Array {
    /// Removes an element; the last one takes its place.
    fileprivate mutating func remove(swappingLast index: Int) -> Element {
        self.swapAt(index, self.count - 1)
        return self.removeLast()
    }
}

/// Numbers in ascending order: the oldest request leaves first, also if it comes back.
///
/// `append` and `popFirst` are amortised O(1); `insert` and `remove` find their place by halving. A number that was
/// removed from the middle leaves a gap; gaps are closed when they are the larger part.
struct RequestQueue {
    /// Ascending; a number whose `isLive` is false is a gap.
    private var numbers: [UInt64] = []
    private var isLive: [Bool] = []
    private var head = 0
    /// Numbers that came back, descending, so that the smallest leaves at the end in O(1).
    private var returned: [UInt64] = []
    private var live = 0

    var count: Int { self.live + self.returned.count }

    /// - Precondition: higher than any number appended before.
    mutating func append(_ number: UInt64) {
        self.numbers.append(number)
        self.isLive.append(true)
        self.live += 1
    }

    /// Puts a number back that has left.
    mutating func insert(_ number: UInt64) {
        self.returned.insert(number, at: self.placeInReturned(number))
    }

    mutating func popFirst() -> UInt64? {
        self.skipGaps()
        guard self.live > 0, self.returned.last.map({ self.numbers[self.head] < $0 }) ?? true else {
            return self.returned.popLast()
        }
        let number = self.numbers[self.head]
        self.head += 1
        self.live -= 1
        self.closeGaps()
        return number
    }

    mutating func remove(_ number: UInt64) {
        let place = self.placeInReturned(number)
        if place < self.returned.count, self.returned[place] == number {
            self.returned.remove(at: place)
            return
        }
        var low = self.head
        var high = self.numbers.count
        while low < high {
            let middle = (low + high) / 2
            if self.numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        guard low < self.numbers.count, self.numbers[low] == number, self.isLive[low] else { return }
        self.isLive[low] = false
        self.live -= 1
        self.closeGaps()
    }

    /// Empties the queue; its numbers in ascending order.
    mutating func removeAll() -> [UInt64] {
        var all: [UInt64] = []
        while let number = self.popFirst() { all.append(number) }
        self = RequestQueue()
        return all
    }

    private mutating func skipGaps() {
        while self.head < self.numbers.count, !self.isLive[self.head] { self.head += 1 }
    }

    /// Drops the numbers that have left once they are more than half of all.
    private mutating func closeGaps() {
        guard self.numbers.count > 32, self.live * 2 < self.numbers.count else { return }
        let kept = (self.head..<self.numbers.count).filter { self.isLive[$0] }.map { self.numbers[$0] }
        self.numbers = kept
        self.isLive = Array(repeating: true, count: kept.count)
        self.head = 0
    }

    private func placeInReturned(_ number: UInt64) -> Int {
        var low = 0
        var high = self.returned.count
        while low < high {
            let middle = (low + high) / 2
            if self.returned[middle] > number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

import Storage

/// Puts numbers of rows or instances in ascending order, each once however often it came.
///
/// A few are sorted. Many become bits, one for each number there is, which come out in order however they went in: ten
/// million are 1.25 MB of bits, not 40 MB of numbers.
struct AscendingUnion: ~Copyable {
    /// So many numbers are sorted; more are bits.
    private static let sortedMax = 4096
    /// Words of bits that are read at once.
    private static let step = 16
    /// Room that reading takes beyond the numbers that are read.
    static let slack = 64 * step + 16

    private let bound: Int
    private var few: [UInt32] = []
    private var bits = Column<UInt64>()
    /// The number, or the word of bits, that is read next.
    private var next = 0

    /// - Parameter bound: One more than the highest number.
    init(bound: Int) {
        self.bound = bound
    }

    /// Adds the first `count` of some numbers.
    mutating func add(_ numbers: borrowing Column<UInt32>, first count: Int) {
        let numbers = numbers.span.extracting(first: count)
        guard self.bits.count == 0 else { return self.mark(numbers) }
        for index in numbers.indices { self.few.append(numbers[index]) }
        guard self.few.count > Self.sortedMax else { return }
        // Whole steps, so that reading them needs no look at the end.
        let words = (self.bound + 63) / 64
        self.bits = Column(zeros: (words + Self.step - 1) / Self.step * Self.step)
        let few = self.few
        self.few = []
        self.mark(few.span)
    }

    private mutating func mark(_ numbers: Span<UInt32>) {
        var bits = self.bits.mutableSpan
        for index in numbers.indices {
            let number = numbers[index]
            bits[Int(number >> 6)] |= 1 << UInt64(number & 63)
        }
    }

    /// Says that all numbers are there: now they can be read.
    mutating func sort() {
        // Of one list they ascend already.
        if !zip(self.few, self.few.dropFirst()).allSatisfy({ $0 < $1 }) { self.few.sortAndUnique() }
    }

    /// Whether all numbers have been read.
    var isRead: Bool { self.next >= (self.bits.count == 0 ? self.few.count : self.bits.count) }

    /// Reads on, ascending, a limited number of bits; returns how many numbers were written.
    ///
    /// - Parameters:
    ///   - limit: The most numbers, where they are not bits.
    ///   - target: Where they are written to, from `place` on. Precondition: room for `limit` and ``slack`` more.
    mutating func read(limit: Int, into target: inout Column<UInt32>, at place: Int) -> Int {
        guard self.bits.count > 0 else {
            let count = min(limit, self.few.count - self.next)
            let part = self.next..<self.next + count
            self.next += count
            target.write(self.few.span.extracting(part), at: place)
            return count
        }
        var filled = place
        var out = target.mutableSpan
        let last = min(self.bits.count, self.next + RowScan.boundWords)
        while self.next < last, filled - place < limit {
            let part = self.next..<self.next + Self.step
            self.next += Self.step
            let base = UInt32(part.lowerBound * 64)
            filled += Kernels.decode(self.bits.span.extracting(part), base: base, into: &out, at: filled)
        }
        return filled - place
    }
}

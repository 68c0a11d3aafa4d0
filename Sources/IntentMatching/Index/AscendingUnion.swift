/// Puts numbers of rows or instances in ascending order, each once however often it came.
///
/// A few are sorted. Many become bits, one for each number there is, which come out in order however they went in: ten
/// million are 1.25 MB of bits, not 40 MB of numbers.
struct AscendingUnion {
    /// So many numbers are sorted; more are bits.
    private static let sortedMax = 4096
    /// Words of bits that are read at once.
    private static let step = 64

    private let bound: Int
    private let batchLimit: Int
    private var few: [UInt32] = []
    private var bits: [UInt64] = []

    /// - Parameters:
    ///   - bound: One more than the highest number.
    ///   - batchLimit: The most numbers of one batch; at least 1.
    init(bound: Int, batchLimit: Int) {
        self.bound = bound
        self.batchLimit = batchLimit
    }

    mutating func add(_ numbers: Span<UInt32>) {
        guard self.bits.isEmpty else { return Self.mark(numbers, &self.bits) }
        for index in numbers.indices { self.few.append(numbers[index]) }
        guard self.few.count > Self.sortedMax else { return }
        // Whole steps, so that reading them needs no look at the end.
        let words = (self.bound + 63) / 64
        var bits = [UInt64](repeating: 0, count: (words + Self.step - 1) / Self.step * Self.step)
        let few = self.few
        self.few = []
        Self.mark(few.span, &bits)
        self.bits = bits
    }

    private static func mark(_ numbers: Span<UInt32>, _ bits: inout [UInt64]) {
        var bits = bits.mutableSpan
        for index in numbers.indices {
            let number = numbers[index]
            bits[Int(number >> 6)] |= 1 << UInt64(number & 63)
        }
    }

    /// Hands over all of them, ascending, in batches that are full but the last.
    mutating func finish(_ body: (Span<UInt32>) -> Void) {
        guard !self.bits.isEmpty else {
            // Of one list they ascend already.
            if !zip(self.few, self.few.dropFirst()).allSatisfy({ $0 < $1 }) { self.few.sortAndUnique() }
            var start = 0
            while start < self.few.count {
                let end = min(start + self.batchLimit, self.few.count)
                body(self.few.span.extracting(start..<end))
                start = end
            }
            return
        }
        var batch = [UInt32](repeating: 0, count: min(self.batchLimit, self.bound))
        var filled = 0
        var found = [UInt32](repeating: 0, count: Self.step * 64 + 16)
        var start = 0
        while start < self.bits.count {
            var target = found.mutableSpan
            let words = self.bits.span.extracting(start..<start + Self.step)
            let count = Kernels.decode(words, base: UInt32(start * 64), into: &target)
            start += Self.step
            var index = 0
            while index < count {
                let length = min(count - index, batch.count - filled)
                for place in 0..<length { batch[filled + place] = found[index + place] }
                index += length
                filled += length
                guard filled == batch.count else { continue }
                body(batch.span)
                filled = 0
            }
        }
        if filled > 0 { body(batch.span.extracting(first: filled)) }
    }
}

extension [UInt32] {
    /// Sorts, and drops all but one of equal elements.
    mutating func sortAndUnique() {
        self.sort()
        var kept = 0
        for index in self.indices where kept == 0 || self[index] != self[kept - 1] {
            self[kept] = self[index]
            kept += 1
        }
        self.removeSubrange(kept...)
    }
}

import WidgetModel

/// A sample of the instances that come by, at most so many: those with the lowest hashes, in whatever order they come.
///
/// The hash is of the number alone, so that the same numbers give the same sample everywhere. A number must not come twice.
struct HashSample {
    /// How many came.
    private(set) var count = 0
    private let size: Int
    /// A hash in the upper half and its number in the lower, all below the bound.
    private var kept: [UInt64] = []
    private var bound = UInt64.max

    /// - Parameter size: The most numbers of the sample, at least 0.
    init(size: Int) {
        self.size = size
    }

    /// Looks at some more numbers. O(numbers), and O(`size` log `size`) once in a while.
    mutating func add(_ numbers: Span<InstanceNumber>) {
        self.count += numbers.count
        guard self.size > 0 else { return }
        for place in numbers.indices {
            let number = UInt64(numbers[place].raw)
            let key = ReplayHash.mix(number) & ~UInt64(UInt32.max) | number
            guard key < self.bound else { continue }
            self.kept.append(key)
            if self.kept.count >= self.size.multipliedSaturating(by: 4) { self.tighten() }
        }
    }

    /// Lowers the bound, by half if that leaves enough.
    private mutating func tighten() {
        let half = self.bound / 2
        if self.kept.count(where: { $0 < half }) >= self.size {
            self.bound = half
            self.kept.removeAll { $0 >= half }
        } else {
            self.kept.sort()
            self.bound = self.kept[self.size]
            self.kept.removeSubrange(self.size...)
        }
    }

    /// The numbers of the sample in the order of their hashes. O(`size` log `size`).
    var numbers: [InstanceNumber] {
        self.kept.sorted().prefix(self.size).map { InstanceNumber(raw: UInt32(truncatingIfNeeded: $0)) }
    }
}

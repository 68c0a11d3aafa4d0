/// Counts by the cases of an enumeration.
package struct Tally<Key: CaseIterable & Hashable & Sendable>: Hashable, Sendable {
    /// In the order of `Key.allCases`.
    private var counts: [Int]

    package init() {
        self.counts = Key.allCases.map { _ in 0 }
    }

    package subscript(key: Key) -> Int {
        get { self.counts[Self.index(of: key)] }
        set { self.counts[Self.index(of: key)] = newValue }
    }

    /// All of them together.
    package var total: Int { self.counts.reduce(0, +) }

    package static func += (sum: inout Self, other: Self) {
        for index in sum.counts.indices {
            sum.counts[index] += other.counts[index]
        }
    }

    private static func index(of key: Key) -> Int {
        Key.allCases.enumerated().first { $0.element == key }?.offset ?? 0
    }
}

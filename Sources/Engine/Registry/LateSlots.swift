import WidgetModel

/// The rows that a table adds to its index some rows late while it is read back. Reading a row prefetches its place in the index; by the
/// time the row is added, the place has come from memory and nothing has waited for it.
struct LateSlots<Tag>: Sendable {
    /// How many rows late: enough that memory has answered, few enough that the places are still in the cache.
    private static var depth: Int { 16 }

    private var hashes = InlineArray<16, UInt64>(repeating: 0)
    private var slots = InlineArray<16, Number<Tag>>(repeating: .none)
    /// How many were ever added, and how many of them were taken.
    private var added = 0
    private var taken = 0

    /// None.
    init() {}

    /// Adds a row. Returns the oldest one if ``depth`` rows wait already.
    @inline(__always)
    mutating func exchange(_ hash: UInt64, _ slot: Number<Tag>) -> (hash: UInt64, slot: Number<Tag>)? {
        let oldest = self.added - self.taken == Self.depth ? self.takeFirst() : nil
        self.hashes[self.added % Self.depth] = hash
        self.slots[self.added % Self.depth] = slot
        self.added += 1
        return oldest
    }

    /// Takes the row that has waited longest; nil if none waits.
    @inline(__always)
    mutating func takeFirst() -> (hash: UInt64, slot: Number<Tag>)? {
        guard self.taken < self.added else { return nil }
        defer { self.taken += 1 }
        return (self.hashes[self.taken % Self.depth], self.slots[self.taken % Self.depth])
    }
}

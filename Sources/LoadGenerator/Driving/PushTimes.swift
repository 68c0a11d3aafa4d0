/// When pushes were meant to be sent, by number: a reload that names its push is timed from there.
///
/// A ring of the latest, so that memory is bounded however long a run is.
struct PushTimes: Sendable {
    private struct Entry: Sendable {
        var number: Int64 = 0
        var intended: Int64 = 0
        var load: Int32 = 0
    }

    private var ring: [Entry]

    /// - Parameter capacity: A power of two.
    init(capacity: Int = 1 << 20) {
        precondition(capacity & (capacity - 1) == 0, "a ring's size is a power of two")
        self.ring = Array(repeating: Entry(), count: capacity)
    }

    mutating func notePush(_ number: Int64, load: Int32, intended: Int64) {
        self.ring[Int(truncatingIfNeeded: number) & (self.ring.count - 1)] = Entry(
            number: number,
            intended: intended,
            load: load
        )
    }

    /// Nil if it was too long ago, or never.
    func find(_ number: Int64) -> (load: Int, intended: Int64)? {
        let entry = self.ring[Int(truncatingIfNeeded: number) & (self.ring.count - 1)]
        return entry.number == number && number > 0 ? (Int(entry.load), entry.intended) : nil
    }
}

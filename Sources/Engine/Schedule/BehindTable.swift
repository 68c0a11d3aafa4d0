import Storage
import WidgetModel

/// Of each kind: how many widgets there are, how many of them are behind for which reason, and since which minute. No part of the
/// state: it follows from the rows, and is counted anew when they are read back.
///
/// One row of numbers a kind, so that a transition finds its two by adding. Minutes are a ring that ends with ``tip``; minutes that fall
/// out of it are counted together. Moving on by a minute is O(kinds).
struct BehindTable: ~Copyable, Sendable {
    /// How many minutes are told apart: a day, and an hour so that all of a goal of a day is among them.
    static let minutes = 1500

    private static let reasons = BehindReason.allCases.count
    /// Where the widgets of a kind are counted, those that have been behind for more than ``minutes``, and the minutes.
    private static let live = Self.reasons
    private static let older = Self.reasons + 1
    private static let ring = Self.reasons + 2
    private static let stride = Self.ring + Self.minutes

    private var counts = Column<UInt32>()
    /// The minute of the epoch that the ring ends with.
    private var tip = 0

    /// No kinds.
    init() {}

    /// A second of the minute that the ring ends with.
    var second: UInt32 { UInt32(self.tip * 60) }

    /// Moves the ring on to a second. No widget that is counted from now on is behind since a later one.
    @inline(__always)
    mutating func advance(to second: UInt32) {
        let minute = Int(second / 60)
        if minute > self.tip { self.move(to: minute) }
    }

    @inline(never)
    private mutating func move(to minute: Int) {
        let first = max(self.tip + 1, minute - Self.minutes + 1)
        var row = 0
        while row < self.counts.count {
            for passed in first...minute {
                let place = row + Self.ring + passed % Self.minutes
                self.counts[row + Self.older] &+= self.counts[place]
                self.counts[place] = 0
            }
            row += Self.stride
        }
        self.tip = minute
    }

    /// Bytes of memory held.
    var byteCount: Int { self.counts.byteCount }

    /// Counts a widget of a kind that comes, or goes.
    mutating func countLive(_ kind: KindNumber, _ change: Int) {
        self.makeRoom(for: kind)
        let place = kind.index * Self.stride + Self.live
        self.counts[place] = UInt32(truncatingIfNeeded: Int(self.counts[place]) + change)
    }

    /// Counts a widget that is behind from now on, or for another reason or since another second than before.
    ///
    /// - Parameter second: Of the epoch; not after the one that time has come to.
    @inline(__always)
    mutating func add(_ kind: KindNumber, _ reason: BehindReason, since second: UInt32) {
        self.makeRoom(for: kind)
        let row = kind.index * Self.stride
        self.counts[row + Int(reason.rawValue)] &+= 1
        self.counts[row + self.place(of: second)] &+= 1
    }

    /// Takes back an addition.
    @inline(__always)
    mutating func remove(_ kind: KindNumber, _ reason: BehindReason, since second: UInt32) {
        let row = kind.index * Self.stride
        self.counts[row + Int(reason.rawValue)] &-= 1
        self.counts[row + self.place(of: second)] &-= 1
    }

    @inline(__always)
    private mutating func makeRoom(for kind: KindNumber) {
        let end = (kind.index + 1) * Self.stride
        if self.counts.count < end { self.counts.append(repeating: 0, count: end - self.counts.count) }
    }

    @inline(__always)
    private func place(of second: UInt32) -> Int {
        let minute = Int(second / 60)
        return minute + Self.minutes > self.tip ? Self.ring + minute % Self.minutes : Self.older
    }

    /// The counts of a kind. O(``minutes``) if any widget is behind, else O(1).
    ///
    /// - Parameters:
    ///   - now: A second that is not before any that was counted.
    ///   - goal: How many seconds a widget may be behind; one that has been behind for longer, by whole minutes, is
    ///     late.
    func read(_ kind: KindNumber, now: UInt32, goal: Int) -> (live: Int, counts: [Int], late: Int, oldest: UInt32?) {
        let row = kind.index * Self.stride
        guard row < self.counts.count else { return (0, Array(repeating: 0, count: Self.reasons), 0, nil) }
        let counts = (0..<Self.reasons).map { Int(self.counts[row + $0]) }
        let live = Int(self.counts[row + Self.live])
        guard counts.contains(where: { $0 > 0 }) else { return (live, counts, 0, nil) }
        // The ring may end before now. Minutes that would have left the ring by now count as if they had.
        let first = max(0, max(Int(now / 60), self.tip) - Self.minutes + 1)
        var late = goal <= Int(now) - first * 60 ? Int(self.counts[row + Self.older]) : 0
        // The last second of its minute: at least so long.
        var oldest = self.counts[row + Self.older] > 0 ? max(0, first * 60 - 1) : nil
        for minute in max(0, self.tip - Self.minutes + 1)...self.tip {
            let count = Int(self.counts[row + Self.ring + minute % Self.minutes])
            guard count > 0 else { continue }
            oldest = oldest ?? min(Int(now), max(minute, first - 1) * 60 + 59)
            // The youngest of the minute are too old, too.
            if goal < Int(now) - (minute * 60 + 59) { late += count }
        }
        return (live, counts, late, oldest.map { UInt32($0) })
    }

    /// Whether another table has come to the same minute and counts the same. O(kinds).
    func counts(sameAs other: borrowing BehindTable) -> Bool {
        guard self.tip == other.tip else { return false }
        for place in 0..<max(self.counts.count, other.counts.count) {
            let left = place < self.counts.count ? self.counts[place] : 0
            let right = place < other.counts.count ? other.counts[place] : 0
            if left != right { return false }
        }
        return true
    }
}

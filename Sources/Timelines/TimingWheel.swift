import Storage
package import WidgetModel

/// Timers of one second's resolution, for very many ids, few of them due at any time.
///
/// The seconds of the present block (64 s) have a bucket each, and so have the blocks of the next 97 days; one bucket
/// takes all later timers. When time enters a block, its bucket cascades to the seconds: blocks are short, so no second
/// has many timers to sort. Blocks come in groups of 64, whose buckets are made when a timer is armed in one of them.
/// Buckets are lists of ids in chunks of one array; a disarmed or moved timer leaves its entry behind, which is
/// recognised as stale by the due second of the id. A bucket is removed when its last live entry goes, and compacted
/// when more than half of it is stale, so repeated re-arming takes bounded memory.
///
/// About 8 bytes a timer; arming, disarming and firing are O(1) amortised, but ids of one second are sorted. All
/// visible behaviour is a pure function of time and of the armed timers, whatever led to it.
///
/// Source: Varghese, Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP 1987); Brown, "Calendar queues" (CACM 1988).
package struct TimingWheel: ~Copyable, Sendable {
    /// Seconds in a block and blocks in a group: both 64, the bits of a word.
    static let blockShift = 6
    static let groupShift = 2 * blockShift
    static let blockSeconds = 1 << blockShift
    /// Groups within reach, the one in progress among them; a power of two.
    static let groups = 2_048
    /// Buckets by number: those of seconds, then one for timers that were armed in the past, one for those beyond
    /// reach, and those of groups.
    static let late = blockSeconds
    static let beyond = late + 1
    static let firstBlock = beyond + 1
    /// In ``places``: the group has no buckets. So far below zero that a block's place in its group does not lift it above.
    static let none = -Int32(blockSeconds)
    /// Marks an id that is not armed.
    static let unarmed = UInt32.max
    /// The last second that can be told apart: 2106-02-07T06:28:14Z. Later instants are held there.
    static let lastSecond = Int(UInt32.max) - 1

    /// The due second of each id.
    var due = Column<UInt32>()
    var buckets: [TimerBucket]
    var chunks = TimerChunks()
    /// The first bucket of each group within reach, or ``none``. A group's place is its number modulo ``groups``; the
    /// buckets stay when it has passed, for the one that comes to have its place.
    var places: [Int32]
    /// One bit for each second of the block in progress that has a live timer, one for each block, by the places of their
    /// groups, and one for each group.
    var secondBits: UInt64 = 0
    var blockBits: [UInt64]
    var groupBits: [UInt64]
    /// The first second that has not been fired.
    var cursor: Int
    /// The block in progress. Contains the cursor.
    var block: Int
    /// The first due second of all timers.
    var first: Int?
    /// How many ids are armed.
    package private(set) var count = 0

    /// The timers that are being fired, cascaded or compacted, and their due seconds.
    var scratch: [UInt32] = []
    var scratchSeconds: [UInt32] = []

    /// Bytes of memory held by timers and buckets.
    package var byteCount: Int { self.due.byteCount + self.chunks.byteCount + self.buckets.heldBytes }

    /// An empty wheel.
    ///
    /// - Parameter start: The present time; a timer that is armed for an earlier time fires the next time any timer
    ///   does.
    package init(startingAt start: Instant = .epoch) {
        self.buckets = Array(repeating: TimerBucket(), count: Self.firstBlock)
        self.places = Array(repeating: Self.none, count: Self.groups)
        self.blockBits = Array(repeating: 0, count: Self.groups)
        self.groupBits = Array(repeating: 0, count: Self.groups / 64)
        self.cursor = min(max(0, Int(start.seconds)), Self.lastSecond)
        self.block = self.cursor >> Self.blockShift
    }

    /// The second at which a timer for an instant fires: rounded up, so that it is never early.
    private static func second(notBefore instant: Instant) -> Int {
        let seconds = instant.seconds
        guard seconds >= 0 else { return 0 }
        guard seconds < Self.lastSecond else { return Self.lastSecond }
        return Int(seconds) + (instant.milliseconds == seconds * 1000 ? 0 : 1)
    }

    /// Makes room for ids below a number; many of them are about to be armed.
    package mutating func makeRoom(for ids: Int) {
        if ids > self.due.count { self.due.append(repeating: Self.unarmed, count: ids - self.due.count) }
    }

    /// Arms the timer of an id, or moves it. An instant in the past is due at the next ``takeDue(upTo:)``.
    ///
    /// - Parameters:
    ///   - id: Ids are dense: the table has a place for every smaller one.
    ///   - instant: Rounded up to a whole second, at most 2106-02-07T06:28:14Z, at least the epoch.
    package mutating func arm(_ id: UInt32, at instant: Instant) {
        let index = Int(id)
        self.due.extend(to: index, repeating: Self.unarmed)
        let second = Self.second(notBefore: instant)
        let old = self.due[index]
        guard old != UInt32(second) else { return }
        self.due[index] = UInt32(second)
        let bucket = self.makeBucket(of: second)
        guard old != Self.unarmed else {
            self.count += 1
            self.link(id, to: bucket, second: second)
            self.first = min(self.first ?? second, second)
            return
        }
        let oldBucket = self.bucket(of: Int(old))
        if oldBucket == bucket {
            // The entry that is there already will be found with the new second.
            self.buckets[bucket].noteArmed(UInt32(second))
            self.buckets[bucket].noteGone(old)
        } else {
            self.link(id, to: bucket, second: second)
            self.unlink(from: oldBucket, second: Int(old))
        }
        self.first = min(self.first ?? second, second)
        if self.first == Int(old) { self.findFirst() }
    }

    /// Disarms the timer of an id; nothing if it is not armed.
    package mutating func disarm(_ id: UInt32) {
        let index = Int(id)
        guard index < self.due.count, self.due[index] != Self.unarmed else { return }
        let second = Int(self.due[index])
        self.due[index] = Self.unarmed
        self.count -= 1
        self.unlink(from: self.bucket(of: second), second: second)
        if self.first == second { self.findFirst() }
    }

    /// When the timer of an id is due, in whole seconds. Nil if it is not armed.
    package func dueTime(of id: UInt32) -> Instant? {
        let index = Int(id)
        guard index < self.due.count, self.due[index] != Self.unarmed else { return nil }
        return Instant(seconds: Int64(self.due[index]))
    }

    /// The first due second of all timers. O(1).
    package var nextDue: Instant? {
        self.first.map { Instant(seconds: Int64($0)) }
    }

    /// Disarms every timer that is due by an instant and gives its id, in the order of due second, then id. However far time has
    /// jumped, the order is the same.
    package mutating func takeDue(upTo now: Instant) -> [UInt32] {
        let limit = min(max(-1, Int(now.seconds)), Self.lastSecond)
        guard let first = self.first, first <= limit else {
            self.advance(past: limit)
            return []
        }
        var ids = self.takeLate(upTo: limit)
        while let second = self.nextSecond(upTo: limit) {
            self.collect(second)
            for id in self.scratch where self.due[Int(id)] == UInt32(second) {
                self.due[Int(id)] = Self.unarmed
                self.count -= 1
                ids.append(id)
            }
        }
        self.advance(past: limit)
        self.findFirst()
        return ids
    }

    /// Takes the timers that were armed in the past and are due by the limit, in order.
    private mutating func takeLate(upTo limit: Int) -> [UInt32] {
        guard self.buckets[Self.late].live > 0 else { return [] }
        var ids: [UInt32] = []
        for (second, id) in self.lateTimers(upTo: limit).sorted(by: <) where self.due[Int(id)] == second {
            self.due[Int(id)] = Self.unarmed
            self.count -= 1
            self.buckets[Self.late].live -= 1
            self.buckets[Self.late].noteGone(second)
            ids.append(id)
        }
        self.tidy(Self.late, second: 0)
        return ids
    }

    private func lateTimers(upTo limit: Int) -> [(second: UInt32, id: UInt32)] {
        var late: [(second: UInt32, id: UInt32)] = []
        var walk = TimerChunks.Walk(self.buckets[Self.late])
        while let id = self.chunks.next(&walk) {
            let second = self.due[Int(id)]
            if second != Self.unarmed, Int(second) < self.cursor, Int(second) <= limit { late.append((second, id)) }
        }
        return late
    }

    /// Moves the ids of a second out of its bucket into `scratch`, sorted.
    private mutating func collect(_ second: Int) {
        let bucket = second & (Self.blockSeconds - 1)
        self.scratch.removeAll(keepingCapacity: true)
        var walk = TimerChunks.Walk(self.buckets[bucket])
        while let id = self.chunks.next(&walk) { self.scratch.append(id) }
        self.scratch.sort()
        self.empty(bucket, second: second)
    }
}

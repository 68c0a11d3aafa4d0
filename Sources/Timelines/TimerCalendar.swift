package import WidgetModel

/// Timers of one second's resolution, for very many ids of which few are due at any time.
///
/// Two levels: the seconds of the block in progress (4,096 s, 68 minutes) have a bucket each, the blocks of the next
/// 97 days one each, and one bucket takes what lies beyond. When time enters a block, its bucket is dealt out to the
/// seconds. Buckets are lists of ids in chunks of one array; a cancelled or moved timer leaves its entry behind, which
/// is recognised as stale by the due second of the id. A bucket is thrown away when its last live entry goes and
/// compacted when more than half of it is stale, so re-arming for ever takes bounded memory.
///
/// About 8 bytes a timer; arming, cancelling and firing are O(1) amortised, but ids of one second are sorted.
/// Everything is a pure function of the history of calls.
///
/// Source: Varghese, Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP 1987); Brown, "Calendar queues" (CACM 1988).
package struct TimerCalendar: Sendable {
    /// Seconds in a block, a power of two.
    static let blockSeconds = 4_096
    static let blockShift = 12
    /// Blocks ahead, a power of two. The place of the block in progress stays empty.
    static let blocks = 2_048
    /// Buckets by number: seconds, then blocks, then what lies beyond, then what was armed in the past.
    static let firstBlock = blockSeconds
    static let beyond = blockSeconds + blocks
    static let late = beyond + 1
    /// Marks an id that is not armed.
    static let unarmed = UInt32.max
    /// The last second that can be told apart: 2106-02-07T06:28:14Z. Later instants are held there.
    static let lastSecond = Int(UInt32.max) - 1

    /// The due second of each id.
    var due: [UInt32] = []
    var buckets: [TimerBucket]
    var chunks = TimerChunks()
    /// One bit for each second and each block that has a live timer.
    var secondBits: [UInt64]
    var blockBits: [UInt64]
    /// The first second that has not been fired.
    var cursor: Int
    /// The block in progress. Contains the cursor.
    var block: Int
    /// The first due second of all timers.
    var first: Int?
    /// How many ids are armed.
    package private(set) var count = 0

    private var scratch: [UInt32] = []

    /// An empty calendar.
    ///
    /// - Parameter start: Where time is; what is armed for earlier fires the next time anything does.
    package init(startingAt start: Instant = .epoch) {
        self.buckets = Array(repeating: TimerBucket(), count: Self.late + 1)
        self.secondBits = Array(repeating: 0, count: Self.blockSeconds / 64)
        self.blockBits = Array(repeating: 0, count: Self.blocks / 64)
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

    /// Arms the timer of an id, or moves it. An instant in the past fires at the next ``fire(upTo:_:)``.
    ///
    /// - Parameters:
    ///   - id: Ids are dense: the table has a place for every smaller one.
    ///   - instant: Rounded up to a whole second, at most 2106-02-07T06:28:14Z, at least the epoch.
    package mutating func arm(_ id: UInt32, at instant: Instant) {
        let index = Int(id)
        if index >= self.due.count {
            self.due.append(contentsOf: repeatElement(Self.unarmed, count: index + 1 - self.due.count))
        }
        let second = Self.second(notBefore: instant)
        let old = self.due[index]
        guard old != UInt32(second) else { return }
        self.due[index] = UInt32(second)
        let bucket = self.bucket(of: second)
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
    package mutating func cancel(_ id: UInt32) {
        let index = Int(id)
        guard index < self.due.count, self.due[index] != Self.unarmed else { return }
        let second = Int(self.due[index])
        self.due[index] = Self.unarmed
        self.count -= 1
        self.unlink(from: self.bucket(of: second), second: second)
        if self.first == second { self.findFirst() }
    }

    /// When the timer of an id is due, in whole seconds. Nil if it is not armed.
    package func armed(_ id: UInt32) -> Instant? {
        let index = Int(id)
        guard index < self.due.count, self.due[index] != Self.unarmed else { return nil }
        return Instant(seconds: Int64(self.due[index]))
    }

    /// The first due second of all timers. O(1).
    package var nextDue: Instant? {
        self.first.map { Instant(seconds: Int64($0)) }
    }

    /// Disarms every timer that is due by an instant and calls the body with its id, in the order of due second, then
    /// id. However far time has jumped, the order is the same.
    package mutating func fire(upTo now: Instant, _ body: (UInt32) -> Void) {
        let limit = min(max(-1, Int(now.seconds)), Self.lastSecond)
        guard let first = self.first, first <= limit else { return self.advance(past: limit) }
        self.fireLate(upTo: limit, body)
        while let second = self.nextSecond(upTo: limit) {
            self.collect(second)
            for id in self.scratch where self.due[Int(id)] == UInt32(second) {
                self.due[Int(id)] = Self.unarmed
                self.count -= 1
                body(id)
            }
        }
        self.advance(past: limit)
        self.findFirst()
    }

    /// The ids that ``fire(upTo:_:)`` would call the body with, disarmed.
    package mutating func takeDue(upTo now: Instant) -> [UInt32] {
        var ids: [UInt32] = []
        self.fire(upTo: now) { ids.append($0) }
        return ids
    }

    /// Every armed timer in the order of ids, for a digest of the state: the same for equal schedules, whatever their
    /// history. O(ids).
    package func forEachArmed(_ body: (UInt32, Instant) -> Void) {
        for index in self.due.indices where self.due[index] != Self.unarmed {
            body(UInt32(index), Instant(seconds: Int64(self.due[index])))
        }
    }

    /// What ``forEachArmed(_:)`` goes through, as an array.
    package var armedEntries: [(id: UInt32, due: Instant)] {
        var entries: [(id: UInt32, due: Instant)] = []
        entries.reserveCapacity(self.count)
        self.forEachArmed { entries.append(($0, $1)) }
        return entries
    }

    /// Takes what was armed in the past and is due by the limit, in order.
    private mutating func fireLate(upTo limit: Int, _ body: (UInt32) -> Void) {
        guard self.buckets[Self.late].live > 0 else { return }
        var taken: [(second: UInt32, id: UInt32)] = []
        var walk = TimerChunks.Walk(self.buckets[Self.late])
        while let id = self.chunks.next(&walk) {
            let second = self.due[Int(id)]
            if second != Self.unarmed, Int(second) < self.cursor, Int(second) <= limit {
                taken.append((second, id))
            }
        }
        taken.sort { $0 < $1 }
        for (second, id) in taken where self.due[Int(id)] == second {
            self.due[Int(id)] = Self.unarmed
            self.count -= 1
            self.buckets[Self.late].live -= 1
            self.buckets[Self.late].noteGone(second)
            body(id)
        }
        self.tidy(Self.late)
    }

    /// Moves the ids of a second out of its bucket into `scratch`, sorted.
    private mutating func collect(_ second: Int) {
        let bucket = second & (Self.blockSeconds - 1)
        self.scratch.removeAll(keepingCapacity: true)
        var walk = TimerChunks.Walk(self.buckets[bucket])
        while let id = self.chunks.next(&walk) { self.scratch.append(id) }
        self.scratch.sort()
        self.empty(bucket)
    }
}

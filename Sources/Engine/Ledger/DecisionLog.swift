import Storage
import WidgetModel

/// The last decisions of all instances: one ring, in which each decision names its instance's previous one.
struct DecisionLog: ~Copyable, Sendable {
    static let none = UInt64.max
    /// So many entries are taken over for one unit.
    private static let entriesPerUnit = 8

    struct Entry: Sendable {
        let at: Instant
        let position: LogPosition
        /// Only looked at where ``hasPush``.
        let push: PushID
        /// The number of the instance's previous decision, kept or not; ``none`` if it had none, or that was four billion ago.
        var previous: UInt64
        /// For `deferred`; `.distantFuture` for no date.
        let until: Instant
        let instance: InstanceNumber
        let cause: ReloadCause
        let outcome: PushOutcome
        let reason: DecisionReason
        let exemption: Exemption?
        let hasPush: Bool
    }

    private var entries = RowChunks<PackedDecision>()
    private(set) var capacity: Int
    /// How many decisions were ever noted; the next one's number.
    private(set) var count: UInt64
    /// The number whose entry has the first place; later numbers have the places behind it, in a ring.
    private var start: UInt64

    /// Bytes of memory held.
    var byteCount: Int { self.entries.byteCount }

    /// How many decisions are no longer kept.
    var evicted: Int { Int(clamping: self.count - UInt64(self.entries.count)) }

    /// A log without entries. One that is read back gets them by ``restore(_:)``.
    ///
    /// - Parameters:
    ///   - capacity: How many decisions are kept.
    ///   - count: How many were ever noted.
    ///   - entries: About how many will come.
    init(capacity: Int, count: UInt64 = 0, expecting entries: Int = 0) {
        self.capacity = max(1, capacity)
        (self.count, self.start) = (count, count)
        self.entries.expect(entries)
    }

    /// Takes back an entry; they come in the order of ``entry(atPlace:)``.
    ///
    /// - Returns: False if there are more than it keeps.
    mutating func restore(_ entry: consuming Entry) -> Bool {
        guard self.entries.count < min(UInt64(self.capacity), self.count) else { return false }
        if entry.previous >= self.count { entry.previous = Self.none }
        self.entries.append(PackedDecision(entry))
        // A full ring came by numbers modulo the capacity, so number 0 has the first place.
        self.start = self.entries.count < self.capacity ? self.oldest : 0
        return true
    }

    /// How many are kept.
    var kept: Int { self.entries.count }

    /// An entry by its place in a snapshot. The oldest has place 0 while the ring is not full. In a full ring, the place is the number
    /// modulo the capacity.
    func entry(atPlace place: Int) -> Entry {
        let (oldest, capacity) = (self.oldest, UInt64(self.capacity))
        guard self.entries.count == self.capacity else { return self.entry(oldest + UInt64(place)) }
        let number = oldest / capacity * capacity + UInt64(place)
        return self.entry(number < oldest ? number + capacity : number)
    }

    /// Where a number is that is kept, or the next one.
    private func place(of number: UInt64) -> Int { Int((number - self.start) % UInt64(self.capacity)) }

    private func entry(_ number: UInt64) -> Entry {
        var entry = self.entries[self.place(of: number)].entry(numbered: number)
        // A forged snapshot may name a previous decision that did not come before this one: then it has none.
        if entry.previous >= number { entry.previous = Self.none }
        return entry
    }

    /// Notes a decision and returns its number.
    mutating func append(_ entry: consuming Entry) -> UInt64 {
        defer { self.count += 1 }
        let packed = self.packed(entry, numbered: self.count)
        if self.entries.count < self.capacity {
            self.entries.append(packed)
        } else {
            self.entries[self.place(of: self.count)] = packed
        }
        return self.count
    }

    private func packed(_ entry: consuming Entry, numbered number: UInt64) -> PackedDecision {
        // A packed one has the distance in 32 bits.
        if entry.previous < number, number - entry.previous > UInt64(UInt32.max) { entry.previous = Self.none }
        return PackedDecision(entry)
    }

    /// A decision by its number, if it is still kept.
    subscript(number: UInt64) -> Entry? {
        guard number < self.count, self.count - number <= UInt64(self.entries.count) else { return nil }
        return self.entry(number)
    }

    /// The number of the oldest decision that is kept.
    var oldest: UInt64 { self.count - UInt64(self.entries.count) }

    /// The number of the first kept decision at this position or a later one; ``count`` if there is none. O(log kept).
    func first(from position: LogPosition) -> UInt64 {
        var (low, high) = (self.oldest, self.count)
        while low < high {
            let middle = low + (high - low) / 2
            if let entry = self[middle], entry.position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// A log of another capacity that continues this one, without the entries that it keeps, see ``fill(from:_:)``.
    func successor(capacity: Int) -> DecisionLog {
        var log = DecisionLog(capacity: capacity, count: self.count)
        log.start -= UInt64(min(self.entries.count, log.capacity))
        return log
    }

    /// Takes over some of the newest entries of a log of another capacity, the oldest of them first.
    ///
    /// - Parameter units: The most units; a unit is some entries. Returns the unused rest.
    /// - Returns: Whether it has all that it keeps.
    mutating func fill(from old: borrowing DecisionLog, _ units: inout Int) -> Bool {
        guard self.capacity != old.capacity else { return true }
        var next = self.start + UInt64(self.entries.count)
        while units > 0, next < self.count {
            let end = min(self.count, next + UInt64(Self.entriesPerUnit))
            for number in next..<end { self.entries.append(old.entries[old.place(of: number)]) }
            next = end
            units -= 1
        }
        return next == self.count
    }
}

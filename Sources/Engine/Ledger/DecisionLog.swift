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

    /// In the ring's order.
    private var entries = RowChunks<PackedDecision>()
    private(set) var capacity: Int
    /// How many decisions were ever noted; the next one's number.
    private(set) var count: UInt64 = 0

    /// Bytes of memory held.
    var byteCount: Int { self.entries.byteCount }

    /// How many of them are not kept any more.
    var evicted: Int { Int(clamping: self.count - UInt64(self.entries.count)) }

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// A log that is read back, see ``restore(_:)``.
    ///
    /// - Parameters:
    ///   - capacity: How many decisions are kept.
    ///   - count: How many were ever noted.
    ///   - entries: About how many will come.
    init(capacity: Int, count: UInt64, expecting entries: Int = 0) {
        self.init(capacity: capacity)
        self.count = count
        self.entries.expect(entries)
    }

    /// Takes back an entry; they come in the ring's order.
    ///
    /// - Returns: False if there are more than it keeps.
    mutating func restore(_ entry: consuming Entry) -> Bool {
        guard self.entries.count < min(UInt64(self.capacity), self.count) else { return false }
        if entry.previous >= self.count { entry.previous = Self.none }
        self.entries.append(PackedDecision(entry))
        return true
    }

    /// How many are kept.
    var kept: Int { self.entries.count }

    /// Whether so many were taken back as there can be: as many as are kept, or all since the ring began.
    var isWhole: Bool { self.entries.count == self.capacity || self.oldest % UInt64(self.capacity) == 0 }

    /// An entry by its place in the ring.
    func entry(atPlace place: Int) -> Entry {
        self.entry(Self.number(atPlace: place, first: self.oldest, capacity: self.capacity), place)
    }

    private func entry(_ number: UInt64, _ place: Int) -> Entry {
        var entry = self.entries[place].entry(numbered: number)
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
            self.entries[Int(self.count % UInt64(self.capacity))] = packed
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
        return self.entry(number, Int(number % UInt64(self.capacity)))
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
    func emptied(capacity: Int) -> DecisionLog {
        var log = DecisionLog(capacity: capacity)
        guard log.capacity != self.capacity else { return log }
        // One that keeps nothing begins where numbers fall into place.
        let isEmpty = self.kept(atCapacity: log.capacity) == 0
        log.count = isEmpty ? self.count.roundedUp(toMultipleOf: UInt64(log.capacity)) : self.count
        return log
    }

    /// Takes over some entries of a log of another capacity, in the ring's order.
    ///
    /// - Parameter units: The most units; a unit is some entries. Returns the unused rest.
    /// - Returns: Whether it has all that it keeps.
    mutating func fill(from old: borrowing DecisionLog, _ units: inout Int) -> Bool {
        guard self.capacity != old.capacity else { return true }
        let kept = old.kept(atCapacity: self.capacity)
        let first = old.count - UInt64(kept)
        while units > 0, self.entries.count < kept {
            for place in self.entries.count..<min(kept, self.entries.count + Self.entriesPerUnit) {
                let number = Self.number(atPlace: place, first: first, capacity: self.capacity)
                self.entries.append(old.entries[Int(number % UInt64(old.capacity))])
            }
            units -= 1
        }
        return self.entries.count == kept
    }

    /// How many of the newest entries a log of another capacity keeps.
    private func kept(atCapacity capacity: Int) -> Int {
        if self.entries.count >= capacity { return capacity }
        // Those of a ring that is neither full nor from the start would not fall into place.
        return self.oldest == 0 ? self.entries.count : 0
    }

    /// The number of the entry at a place in a ring whose oldest entry is `first`.
    private static func number(atPlace place: Int, first: UInt64, capacity: Int) -> UInt64 {
        let number = first / UInt64(capacity) * UInt64(capacity) + UInt64(place)
        return number < first ? number + UInt64(capacity) : number
    }
}

extension UInt64 {
    /// The least multiple of `step` that is not less.
    func roundedUp(toMultipleOf step: UInt64) -> UInt64 {
        (self + step - 1) / step * step
    }
}

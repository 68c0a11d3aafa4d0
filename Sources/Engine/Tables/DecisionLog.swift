import WidgetModel

/// The last decisions of all instances: one ring, in which each decision names its instance's previous one.
struct DecisionLog: Sendable {
    static let none = UInt64.max

    struct Entry: Sendable {
        let at: Instant
        let position: LogPosition
        /// Only looked at where ``hasPush``.
        let push: PushID
        /// The number of the instance's previous decision.
        let previous: UInt64
        /// Milliseconds, for `deferred`.
        let until: Int64
        let instance: UInt32
        let cause: ReloadCause
        let outcome: PushOutcome
        let reason: DecisionReason
        let exemption: Exemption?
        let hasPush: Bool
    }

    /// In the ring's order.
    private(set) var entries = RowChunks<Entry>()
    private(set) var capacity: Int
    /// How many decisions were ever noted; the next one's number.
    private(set) var count: UInt64 = 0
    /// The number that was kept free for the next decision that is noted; ``none`` if it gets the next one.
    private var kept = Self.none

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The log of entries that were read back.
    init(capacity: Int, entries: RowChunks<Entry>, count: UInt64) {
        self.init(capacity: capacity)
        self.entries = entries
        self.count = count
    }

    /// Notes a decision and returns its number.
    mutating func append(_ entry: Entry) -> UInt64 {
        if self.kept != Self.none { return self.fill(entry) }
        defer { self.count += 1 }
        if self.entries.count < self.capacity {
            self.entries.append(entry)
        } else {
            self.entries[Int(self.count % UInt64(self.capacity))] = entry
        }
        return self.count
    }

    /// Keeps the next numbers free for decisions that are noted later. Until then nothing may be read under them.
    ///
    /// - Returns: The first of the numbers.
    mutating func keepFree(_ numbers: Int) -> UInt64 {
        let first = self.count
        let room = min(numbers, self.capacity - self.entries.count)
        if room > 0 { self.entries.append(repeating: .blank, count: room) }
        self.count += UInt64(numbers)
        return first
    }

    /// Has the next decision noted under a number that was kept free for it, or under the next number again.
    ///
    /// - Parameter number: The number, or ``none``.
    /// - Returns: The number that was to be used until now; ``none`` once it has been.
    mutating func use(_ number: UInt64) -> UInt64 {
        defer { self.kept = number }
        return self.kept
    }

    private mutating func fill(_ entry: Entry) -> UInt64 {
        let number = self.kept
        self.kept = Self.none
        // Where so many came after it that it would be gone by now, it is.
        if number >= self.oldest { self.entries[Int(number % UInt64(self.capacity))] = entry }
        return number
    }

    /// A decision by its number, if it is still kept.
    subscript(number: UInt64) -> Entry? {
        guard number < self.count, self.count - number <= UInt64(self.entries.count) else { return nil }
        return self.entries[Int(number % UInt64(self.capacity))]
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

    /// Keeps as many of the newest as fit another capacity. O(kept).
    mutating func resize(to capacity: Int) {
        let capacity = max(1, capacity)
        guard capacity != self.capacity else { return }
        let first = self.count - UInt64(min(self.entries.count, capacity))
        var ring = RowChunks<Entry>()
        if self.count - first == UInt64(capacity) {
            // A full ring's numbers start at a multiple of its capacity.
            for number in first..<self.count { if let entry = self[number] { ring.append(entry) } }
            for number in first..<self.count {
                if let entry = self[number] { ring[Int(number % UInt64(capacity))] = entry }
            }
        } else if first == 0 {
            ring = self.entries
        } else {
            // Not full and not from the start: numbers would not fall into place, so the log starts anew.
            self.count = self.count.roundedUp(toMultipleOf: UInt64(capacity))
        }
        self.entries = ring
        self.capacity = capacity
    }
}

extension UInt64 {
    /// The least multiple of `step` that is not less.
    func roundedUp(toMultipleOf step: UInt64) -> UInt64 {
        (self + step - 1) / step * step
    }
}

/// The last so many of a sequence of events, for readers that come back.
package struct RecentEvents<Event: Sendable>: Sendable {
    private(set) var capacity: Int
    /// How many there have been: the newest one's number.
    package private(set) var sequence: UInt64 = 0
    /// The event with number `n` is at `(n - 1 - base) % capacity`; grows up to the capacity.
    private var events: [Event] = []
    private var base: UInt64 = 0

    /// - Parameter capacity: Events that are kept, 0 or more.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Takes an event in; its number is ``sequence`` then.
    ///
    /// - Returns: The one that is not kept any more; nil if there is room for all.
    @discardableResult
    package mutating func append(_ event: Event) -> Event? {
        defer { self.sequence += 1 }
        if self.events.count < self.capacity {
            self.events.append(event)
            return nil
        }
        guard self.capacity > 0 else { return event }
        let place = self.place(of: self.sequence + 1)
        defer { self.events[place] = event }
        return self.events[place]
    }

    /// Those that are kept, oldest first. O(events).
    package var all: [Event] { self.newest(self.events.count) }

    /// The events behind the event of a number, oldest first; nil if they are not known any more. O(events).
    package func events(after number: UInt64) -> [(number: UInt64, event: Event)]? {
        guard number <= self.sequence, self.sequence - number <= UInt64(self.events.count) else { return nil }
        let newest = self.newest(Int(self.sequence - number))
        return newest.enumerated().map { (number + UInt64($0.offset) + 1, $0.element) }
    }

    /// Keeps more or fewer events from now on; of fewer, the newest. O(capacity).
    ///
    /// - Returns: Those that are not kept any more, oldest first.
    @discardableResult
    package mutating func setLimit(capacity: Int) -> [Event] {
        guard capacity != self.capacity else { return [] }
        let all = self.all
        let kept = min(all.count, capacity)
        self.events = Array(all.suffix(kept))
        self.capacity = capacity
        self.base = self.sequence - UInt64(kept)
        return Array(all.dropLast(kept))
    }

    private func newest(_ count: Int) -> [Event] {
        (self.sequence - UInt64(count)..<self.sequence).map { self.events[self.place(of: $0 + 1)] }
    }

    private func place(of number: UInt64) -> Int { Int((number - 1 - self.base) % UInt64(self.capacity)) }
}

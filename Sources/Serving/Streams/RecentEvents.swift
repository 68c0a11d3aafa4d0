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
    package mutating func append(_ event: Event) {
        if self.events.count < self.capacity {
            self.events.append(event)
        } else if self.capacity > 0 {
            self.events[self.place(of: self.sequence + 1)] = event
        }
        self.sequence += 1
    }

    /// What has come behind the event of a number, oldest first; nil if that is not known any more. O(events).
    package func events(after number: UInt64) -> [(number: UInt64, event: Event)]? {
        guard number <= self.sequence, self.sequence - number <= UInt64(self.events.count) else { return nil }
        return (number..<self.sequence).map { ($0 + 1, self.events[self.place(of: $0 + 1)]) }
    }

    /// Keeps more or fewer events from now on; of fewer, the newest. O(capacity).
    package mutating func use(capacity: Int) {
        guard capacity != self.capacity else { return }
        let kept = UInt64(min(self.events.count, capacity))
        self.events = (self.sequence - kept..<self.sequence).map { self.events[self.place(of: $0 + 1)] }
        self.capacity = capacity
        self.base = self.sequence - kept
    }

    private func place(of number: UInt64) -> Int { Int((number - 1 - self.base) % UInt64(self.capacity)) }
}

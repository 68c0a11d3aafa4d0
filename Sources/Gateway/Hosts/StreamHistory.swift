/// The last events of all event streams, in the order in which they went out, for readers that come back.
///
/// Bounded by their number. A reader whose place has been overwritten, or that names a place of another epoch, has
/// missed something that cannot be told any more: a gap.
package struct StreamHistory: Sendable {
    private let epoch: UInt32
    private let capacity: Int
    /// The event with sequence `n` is at `(n - 1) % capacity`; grows up to the capacity.
    private var events: [HostEvent] = []
    private var sequence: UInt64 = 0

    /// - Parameters:
    ///   - epoch: Tells this history from others.
    ///   - capacity: Events that are kept; 0 keeps none, and every reader that missed something has a gap.
    package init(epoch: UInt32, capacity: Int) {
        self.epoch = epoch
        self.capacity = capacity
    }

    /// The place behind the newest event.
    package var end: StreamCursor { StreamCursor(epoch: self.epoch, sequence: self.sequence) }

    /// Takes an event in, and gives its place.
    @discardableResult
    package mutating func append(_ event: HostEvent) -> StreamCursor {
        if self.events.count < self.capacity {
            self.events.append(event)
        } else if self.capacity > 0 {
            self.events[Int(self.sequence % UInt64(self.capacity))] = event
        }
        self.sequence += 1
        return self.end
    }

    /// What a scope's readers have been sent since a place, oldest first; nil if that is not known any more. O(capacity).
    package func events(after cursor: StreamCursor, for scope: HostStreams.Scope) -> [HostEvent]? {
        guard cursor.epoch == self.epoch, cursor.sequence <= self.sequence,
            self.sequence - cursor.sequence <= UInt64(self.events.count)
        else { return nil }
        var found: [HostEvent] = []
        var next = cursor.sequence
        while next < self.sequence {
            let event = self.events[Int(next % UInt64(self.capacity))]
            if event.isFor(scope) { found.append(event) }
            next += 1
        }
        return found
    }
}

/// The last events of all event streams, in the order in which they went out, for readers that come back.
///
/// Bounded by their number. A reader whose place has been overwritten, or that names a place of another epoch, has
/// missed something that cannot be told any more: a gap.
package struct StreamHistory: Sendable {
    private let epoch: UInt32
    private var recent: RecentEvents<HostEvent>

    /// - Parameters:
    ///   - epoch: Tells this history from others.
    ///   - capacity: Events that are kept; 0 keeps none, and every reader that missed something has a gap.
    package init(epoch: UInt32, capacity: Int) {
        self.epoch = epoch
        self.recent = RecentEvents(capacity: capacity)
    }

    /// Keeps more or fewer events from now on; of fewer, the newest.
    package mutating func use(capacity: Int) { self.recent.use(capacity: capacity) }

    /// The place behind the newest event.
    package var end: StreamCursor { StreamCursor(epoch: self.epoch, sequence: self.recent.sequence) }

    /// Takes an event in, and gives its place.
    @discardableResult
    package mutating func append(_ event: HostEvent) -> StreamCursor {
        self.recent.append(event)
        return self.end
    }

    /// What a scope's readers have been sent since a place, oldest first; nil if that is not known any more. O(capacity).
    package func events(after cursor: StreamCursor, for scope: HostStreams.Scope) -> [HostEvent]? {
        guard cursor.epoch == self.epoch else { return nil }
        return self.recent.events(after: cursor.sequence)?.map(\.event).filter { $0.isFor(scope) }
    }
}

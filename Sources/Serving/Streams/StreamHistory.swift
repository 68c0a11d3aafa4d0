import Engine
package import Journaling
package import WidgetModel

/// The last events of all event streams, in the order in which they went out, for readers that come back.
///
/// Bounded by their number. A reader whose place is before the kept events, or of another log, has missed events that
/// cannot be told any more: a gap.
package struct StreamHistory: Sendable {
    private struct Item: Sendable {
        let event: HostEvent
        let partition: PartitionID
        /// The place behind the effect; for a drawing, the place that the partition had reached.
        let place: EffectPlace

        var isDrawing: Bool { self.event.drawnBy != nil }
    }

    /// How far one partition's effects have come.
    private struct Part: Sendable {
        var end = EffectPlace.start
        /// From where on all effects are kept; nil if none is known yet.
        var floor: EffectPlace?
        /// From where on all drawings for hosts are kept; nil while they go out from another node.
        var drawnFloor: EffectPlace?
        /// The entry of the newest reload.
        var newest = LogPosition.start
    }

    package let log: UInt32
    private var recent: RecentEvents<Item>
    private var parts: [Part]

    /// - Parameters:
    ///   - log: Tells the log from others.
    ///   - capacity: Events that are kept; 0 keeps none, and every reader that missed something has a gap.
    package init(log: UInt32, partitions: Int, capacity: Int) {
        self.log = log
        self.recent = RecentEvents(capacity: capacity)
        self.parts = Array(repeating: Part(), count: partitions)
    }

    package var partitions: Int { self.parts.count }

    /// Keeps more or fewer events from now on; of fewer, the newest.
    package mutating func setLimit(capacity: Int) {
        for item in self.recent.setLimit(capacity: capacity) { self.forget(item) }
    }

    // MARK: Outgoing events

    /// Whether a partition's effects are another node's, which are read.
    func isElsewhere(_ partition: PartitionID) -> Bool {
        let part = self.parts[Int(partition.rawValue)]
        return part.floor != nil && part.drawnFloor == nil
    }

    /// The next output of a partition is at a position: nothing is known of those before.
    ///
    /// - Returns: Whether others have been known, so that some are missing.
    package mutating func begin(_ partition: PartitionID, at position: OutputPosition) -> Bool {
        let index = Int(partition.rawValue)
        let hadBegun = self.parts[index].floor != nil
        self.parts[index].end = EffectPlace(position)
        self.parts[index].floor = EffectPlace(position)
        return hadBegun
    }

    /// Sets whether the drawings of a partition's hosts go out here.
    package mutating func setDrawing(_ isHere: Bool, _ partition: PartitionID) {
        let index = Int(partition.rawValue)
        self.parts[index].drawnFloor = isHere ? self.parts[index].end : nil
    }

    /// Takes in an event that an effect has brought.
    package mutating func append(_ event: HostEvent, at place: EffectPlace, of partition: PartitionID) {
        self.reach(place, of: partition)
        if case .reload(let reload) = event { self.parts[Int(partition.rawValue)].newest = reload.id.position }
        self.append(Item(event: event, partition: partition, place: place))
    }

    /// Takes in a drawing for a host. It has no place of its own.
    package mutating func append(drawing event: HostEvent, of partition: PartitionID) {
        self.append(Item(event: event, partition: partition, place: self.end(of: partition)))
    }

    /// Notes that all events before a place have gone out.
    package mutating func reach(_ place: EffectPlace, of partition: PartitionID) {
        self.parts[Int(partition.rawValue)].end = place
    }

    private mutating func append(_ item: Item) {
        if let forgotten = self.recent.append(item) { self.forget(forgotten) }
    }

    private mutating func forget(_ item: Item) {
        let index = Int(item.partition.rawValue)
        if item.isDrawing {
            // A reader that was at this very place may have missed it.
            let behind = EffectPlace(item.place.output, effects: item.place.effects + 1)
            self.parts[index].drawnFloor = self.parts[index].drawnFloor.map { max($0, behind) }
        } else {
            self.parts[index].floor = self.parts[index].floor.map { max($0, item.place) }
        }
    }

    // MARK: Places

    /// The place behind a partition's newest effect.
    package func end(of partition: PartitionID) -> EffectPlace { self.parts[Int(partition.rawValue)].end }

    /// The places behind all partitions' newest effects.
    var ends: [EffectPlace] { self.parts.map(\.end) }

    /// The partitions whose events a scope has.
    func partitions(of scope: HostStreams.Scope) -> [PartitionID] {
        switch scope {
        case .host(let host): [PartitionID(of: host, among: self.parts.count)]
        case .app: self.parts.indices.map { PartitionID(UInt16($0)) }
        }
    }

    /// The place behind everything that has gone out.
    package func end(of scope: HostStreams.Scope) -> StreamCursor {
        switch scope {
        case .host(let host):
            let partition = PartitionID(of: host, among: self.parts.count)
            return StreamCursor(log: self.log, .host(partition, self.end(of: partition)))
        case .app: return StreamCursor(log: self.log, .app(self.ends))
        }
    }

    /// The entries of the newest reloads that went out, in the order of ``partitions(of:)``.
    func newest(of scope: HostStreams.Scope) -> [LogPosition] {
        self.partitions(of: scope).map { self.parts[Int($0.rawValue)].newest }
    }

    // MARK: Coming back

    /// Whether a place is behind all events that have gone out: another node, which has read more, gave it.
    package func isAhead(_ cursor: StreamCursor, for scope: HostStreams.Scope) -> Bool {
        self.places(of: cursor, in: scope)?.contains { index, place in place > self.parts[index].end } ?? false
    }

    /// The events that a scope's readers have been sent since a place.
    package struct Missed: Hashable, Sendable {
        /// Oldest first.
        package let events: [HostEvent]
        /// Whether all is among them that was to be drawn.
        package let hasAllDrawings: Bool
    }

    /// The events sent to a scope's readers since a place; nil if they are not known any more. O(capacity).
    package func missed(after cursor: StreamCursor, for scope: HostStreams.Scope) -> Missed? {
        guard let places = self.places(of: cursor, in: scope) else { return nil }
        for (index, place) in places {
            let part = self.parts[index]
            guard let floor = part.floor, floor <= place, place <= part.end else { return nil }
        }
        let hasAllDrawings = places.allSatisfy { index, place in
            self.parts[index].drawnFloor.map { $0 <= place } ?? false
        }
        let items = self.recent.all.filter { item in
            guard item.event.isFor(scope), let place = places[Int(item.partition.rawValue)] else { return false }
            return item.isDrawing ? item.place >= place : item.place > place
        }
        return Missed(events: items.map(\.event), hasAllDrawings: hasAllDrawings)
    }

    /// By partition; nil for a cursor that is none of the scope's.
    private func places(of cursor: StreamCursor, in scope: HostStreams.Scope) -> [Int: EffectPlace]? {
        guard cursor.log == self.log else { return nil }
        let own = self.partitions(of: scope)
        switch cursor.places {
        case .host(let partition, let place):
            guard own == [partition], case .host = scope else { return nil }
            return [Int(partition.rawValue): place]
        case .app(let places):
            guard places.count == own.count, case .app = scope else { return nil }
            return Dictionary(uniqueKeysWithValues: places.enumerated().map { ($0.offset, $0.element) })
        }
    }
}

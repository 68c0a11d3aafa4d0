import Timelines
package import WidgetModel

/// The timelines that instances show, with their content, and when the next entry of each is due.
///
/// Beside the engine, which knows the same timelines without content. Bounded by bytes: the timeline that was stored
/// longest ago makes room. No clock: time comes in.
package struct ContentTable: ~Copyable, Sendable {
    /// An entry whose date has come.
    package struct Due: Hashable, Sendable {
        package let timeline: StoredTimeline
        package let index: Int

        package init(timeline: StoredTimeline, index: Int) {
            self.timeline = timeline
            self.index = index
        }

        package var entry: StoredTimeline.Entry { self.timeline.entries[self.index] }
    }

    /// The change that storing has made.
    package struct Change: Hashable, Sendable {
        /// The records of timelines that are not needed any more: the one before, and those that had to make room.
        package let released: [UInt64]
        /// The entry to show now; nil if it has none, or the instance shows its content already.
        package let shows: Due?
    }

    private struct Row: Sendable {
        var timeline: StoredTimeline
        /// Where it is on disk.
        var record: UInt64
        /// The number of its storing; the smallest makes room first.
        var stamp: UInt64
        /// The content of the entry that was shown last, as long as no other was shown.
        var shown: [UInt8]?
    }

    private var bytesMax: Int
    private var rows: [Row?] = []
    private var free: [UInt32] = []
    /// Never iterated.
    private var slots: [InstanceAddress: UInt32] = [:]
    private var wheel = TimingWheel()
    /// By stamp; those that were stored anew or have gone since are skipped.
    private var order: [(stamp: UInt64, slot: UInt32)] = []
    private var oldest = 0
    private var stamp: UInt64 = 0

    /// The bytes of all timelines, about.
    package private(set) var bytes = 0
    /// How many had to make room.
    package private(set) var evicted = 0

    /// - Parameter bytesMax: The most bytes of all timelines; one alone that is larger is kept alone.
    package init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// Keeps so much from now on.
    ///
    /// - Returns: The records of those that made room.
    package mutating func setLimit(bytesMax: Int) -> [UInt64] {
        self.bytesMax = bytesMax
        return self.makeRoom(but: nil)
    }

    package var count: Int { self.slots.count }
    /// When the next entry is due; a whole second.
    package var nextDue: Instant? { self.wheel.nextDue }

    /// The timeline of an instance.
    package subscript(address: InstanceAddress) -> StoredTimeline? {
        self.slots[address].flatMap { self.rows[Int($0)]?.timeline }
    }

    /// Stores an instance's timeline in the place of the one before.
    ///
    /// - Parameters:
    ///   - record: Where it is on disk.
    ///   - now: From then on its entries are due.
    package mutating func store(_ timeline: StoredTimeline, record: UInt64, at now: Instant) -> Change {
        let slot = self.slots[timeline.address] ?? self.makeSlot()
        let before = self.rows[Int(slot)]
        self.bytes += timeline.bytes - (before?.timeline.bytes ?? 0)
        self.stamp += 1
        self.slots[timeline.address] = slot
        self.rows[Int(slot)] = Row(timeline: timeline, record: record, stamp: self.stamp, shown: before?.shown)
        self.order.append((self.stamp, slot))
        let index = timeline.index(at: now)
        self.arm(slot, after: index)
        let shows = index.flatMap { self.show($0, of: slot) }
        let replaced = before.map { [$0.record] } ?? []
        return Change(released: replaced + self.makeRoom(but: slot), shows: shows)
    }

    /// Forgets an instance's timeline; gives the record that is not needed any more.
    @discardableResult
    package mutating func remove(_ address: InstanceAddress) -> UInt64? {
        guard let slot = self.slots.removeValue(forKey: address), let row = self.rows[Int(slot)] else { return nil }
        self.bytes -= row.timeline.bytes
        self.rows[Int(slot)] = nil
        self.wheel.disarm(slot)
        self.free.append(slot)
        return row.record
    }

    /// The entries whose dates have come, in the order of dates and then of places; of each instance the newest alone, and
    /// none whose content the instance shows already.
    package mutating func due(upTo now: Instant) -> [Due] {
        var due: [Due] = []
        for slot in self.wheel.takeDue(upTo: now) {
            guard let timeline = self.rows[Int(slot)]?.timeline, let index = timeline.index(at: now) else { continue }
            self.arm(slot, after: index)
            if let shown = self.show(index, of: slot) { due.append(shown) }
        }
        return due
    }

    /// Every instance that has a timeline here, in the order of their places. O(places).
    package var addresses: [InstanceAddress] { self.rows.compactMap { $0?.timeline.address } }

    // MARK: Parts

    private mutating func makeSlot() -> UInt32 {
        if let slot = self.free.popLast() { return slot }
        self.rows.append(nil)
        return UInt32(self.rows.count - 1)
    }

    private mutating func arm(_ slot: UInt32, after index: Int?) {
        let entries = self.rows[Int(slot)]?.timeline.entries ?? []
        let next = (index ?? -1) + 1
        if next < entries.count {
            self.wheel.arm(slot, at: entries[next].date)
        } else {
            self.wheel.disarm(slot)
        }
    }

    private mutating func show(_ index: Int, of slot: UInt32) -> Due? {
        guard let timeline = self.rows[Int(slot)]?.timeline else { return nil }
        let content = timeline.entries[index].content
        guard self.rows[Int(slot)]?.shown != content else { return nil }
        self.rows[Int(slot)]?.shown = content
        return Due(timeline: timeline, index: index)
    }

    private mutating func makeRoom(but kept: UInt32?) -> [UInt64] {
        var released: [UInt64] = []
        while self.bytes > self.bytesMax, self.oldest < self.order.count {
            let (stamp, slot) = self.order[self.oldest]
            guard let row = self.rows[Int(slot)], row.stamp == stamp else {
                self.oldest += 1
                continue
            }
            // The newest is the last of the order: nothing else is left.
            guard slot != kept else { break }
            self.oldest += 1
            self.evicted += 1
            if let record = self.remove(row.timeline.address) { released.append(record) }
        }
        self.compactOrder()
        return released
    }

    /// Throws away the skipped places, once they are more than half of the order.
    private mutating func compactOrder() {
        guard self.order.count > 64, self.order.count > 2 * self.slots.count + self.oldest / 2 else { return }
        self.order = self.order.dropFirst(self.oldest).filter { self.rows[Int($0.slot)]?.stamp == $0.stamp }
        self.oldest = 0
    }
}

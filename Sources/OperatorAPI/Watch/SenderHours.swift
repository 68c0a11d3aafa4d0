package import Engine
package import Journaling
package import WidgetModel

/// The costs of each sender's pushes by the hour, as far as charts reach.
package struct SenderHours: Sendable {
    /// An hour, or the part of it that was counted.
    package struct Hour: Hashable, Sendable {
        package fileprivate(set) var from: Instant
        package fileprivate(set) var until: Instant
        /// Those whose pushes came or cost something.
        package fileprivate(set) var senders: [TeamID: SenderCounts]

        /// The number of its record. Numbers go round: the hour thirty days before has the same.
        fileprivate var number: UInt64 {
            UInt64(max(0, self.from.milliseconds) / SenderHours.milliseconds % SenderHours.hoursMax) + 1
        }
    }

    /// The archive's part of a count.
    package struct Change: Hashable, Sendable {
        /// The last hour. It takes the place of the hour thirty days before.
        package let record: ArchivedRecord
        /// The numbers of hours that had to go, whose records are to be removed.
        package let dropped: [UInt64]
    }

    /// For how long hours are kept.
    package static let ageMax = Interval.days(30)
    /// How many rows are kept, each one sender in one hour; with more, the oldest hours go.
    package static let rowsMax = 20_000
    private static let hoursMax: Int64 = 720
    private static let milliseconds: Int64 = 3_600_000
    /// The version of archived bytes, which neither samples nor marks have.
    private static let version: UInt8 = 3
    /// Counts beyond this are damaged; sums of these do not overflow.
    private static let countRange: ClosedRange<Int64> = 0...(1 << 40)

    /// In their order, each with a number of its own.
    private var hours: [Hour] = []
    /// The last totals by partition: one that comes later brings its past along, and is counted from then on.
    private var counted: [PartitionID: [TeamID: SenderCounts]] = [:]
    private var countedAt: Instant?

    package init() {}

    /// Takes in the costs of senders since the log began.
    ///
    /// - Parameters:
    ///   - totals: Of the partitions that answered; the costs in others come with their next answer.
    ///   - now: When they were counted. Totals from before the last ones are ignored: the next ones include them.
    /// - Returns: Nil for the first totals, and for those that are ignored.
    package mutating func add(_ totals: [PartitionID: [TeamID: SenderCounts]], at now: Instant) -> Change? {
        guard self.countedAt.map({ $0 <= now }) ?? true else { return nil }
        defer { self.countedAt = now }
        if let countedAt = self.countedAt { self.beginHour(of: now, from: countedAt) }
        for (partition, own) in totals { self.count(own, of: partition) }
        guard self.countedAt != nil, let last = self.hours.indices.last else { return nil }
        self.hours[last].until = max(self.hours[last].until, now)
        let dropped = self.bound()
        return self.hours.last.map { hour in
            Change(record: ArchivedRecord(number: hour.number, bytes: Self.bytes(hour)), dropped: dropped)
        }
    }

    /// Begins the present hour, unless it is there.
    private mutating func beginHour(of now: Instant, from countedAt: Instant) {
        let begin = Instant(milliseconds: max(0, now.milliseconds) / Self.milliseconds * Self.milliseconds)
        guard self.hours.last.map({ $0.from < begin }) ?? true else { return }
        let hour = Hour(from: max(begin, countedAt), until: now, senders: [:])
        self.hours.removeAll { $0.number == hour.number }
        self.hours.append(hour)
    }

    /// Adds a partition's costs since its last totals to the last hour.
    private mutating func count(_ own: [TeamID: SenderCounts], of partition: PartitionID) {
        guard let before = self.counted[partition], let last = self.hours.indices.last else {
            self.counted[partition] = own
            return
        }
        var more = own
        for (team, counts) in before { more[team, default: SenderCounts()] -= counts }
        // Totals never fall: smaller ones are of an answer that a newer one has overtaken.
        let isOld = more.values.contains { counts in
            SenderCounts.members.contains { member in counts[keyPath: member] < 0 }
        }
        guard !isOld else { return }
        self.counted[partition] = own
        for (team, counts) in more where counts != SenderCounts() {
            self.hours[last].senders[team, default: SenderCounts()] += counts
        }
    }

    /// Drops the oldest hours if there are too many rows. The last hour stays.
    ///
    /// - Returns: The numbers of the dropped hours.
    package mutating func bound() -> [UInt64] {
        var rows = self.hours.reduce(0) { $0 + $1.senders.count }
        var dropped: [UInt64] = []
        while rows > Self.rowsMax, self.hours.count > 1 {
            let oldest = self.hours.removeFirst()
            rows -= oldest.senders.count
            dropped.append(oldest.number)
        }
        return dropped
    }

    /// The hours that end after an instant, the oldest first. The last one is not over.
    ///
    /// - Parameter now: The present: those that ended longer than ``ageMax`` ago are left out.
    package func all(after instant: Instant? = nil, now: Instant) -> [Hour] {
        self.hours.filter { hour in now - hour.until <= Self.ageMax && instant.map { hour.until > $0 } ?? true }
    }
}

// MARK: - The archive

extension SenderHours {
    private static func bytes(_ hour: Hour) -> [UInt8] {
        var writer = ByteWriter(reserving: 64)
        writer.write(byte: Self.version)
        writer.write(hour.from)
        writer.write(hour.until)
        writer.write(each: hour.senders.sorted { $0.key < $1.key }) { writer, row in
            row.key.encode(into: &writer)
            for member in SenderCounts.members { writer.write(signed: Int64(row.value[keyPath: member])) }
        }
        return writer.bytes
    }

    /// Takes a record that an earlier process has archived. Once all were taken, ``bound()`` is due: older hours may come after newer ones.
    ///
    /// - Parameter now: The present: later hours are those of a clock that was set back.
    /// - Throws: If it is of no hour, of one with another number, or damaged.
    package mutating func restore(_ record: ArchivedRecord, now: Instant) throws(ByteError) {
        var reader = ByteReader(record.bytes)
        guard try reader.readByte() == Self.version else { throw .invalid(offset: 0) }
        var hour = Hour(from: try reader.readInstant(), until: try reader.readInstant(), senders: [:])
        let rows = try reader.readEach { (reader) throws(ByteError) in
            let team = try TeamID(from: &reader)
            var counts = SenderCounts()
            for member in SenderCounts.members {
                counts[keyPath: member] = Int(try reader.readSigned(in: Self.countRange))
            }
            return (team, counts)
        }
        hour.senders = Dictionary(rows) { $1 }
        guard hour.number == record.number else { throw .invalid(offset: 1) }
        guard hour.from <= hour.until, hour.until <= now else { return }
        self.hours.insert(hour, at: self.hours.firstIndex { $0.from > hour.from } ?? self.hours.count)
    }
}

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
    }

    /// For how long hours are kept.
    package static let ageMax = Interval.days(30)
    /// How many rows of a sender's hour are kept; with more, the oldest hours go.
    package static let rowsMax = 20_000
    private static let hoursMax = 720
    private static let milliseconds: Int64 = 3_600_000
    /// The version of archived bytes, which neither samples nor marks have.
    private static let version: UInt8 = 3
    /// So much that no sum of them comes near the end of its type.
    private static let countRange: ClosedRange<Int64> = -(1 << 40)...(1 << 40)

    private var hours: [Hour] = []
    /// What was counted last, by partition: one that comes later brings its past along, and is counted from then on.
    private var counted: [PartitionID: [TeamID: SenderCounts]] = [:]
    private var countedAt: Instant?

    package init() {}

    /// Takes in what senders have cost since the log began.
    ///
    /// - Parameter totals: Of the partitions that answered; what others count meanwhile is in their next answer.
    /// - Returns: The record for the archive. It takes the place of the hour thirty days before; nil for the first totals.
    package mutating func add(
        _ totals: [PartitionID: [TeamID: SenderCounts]],
        at now: Instant
    ) -> ArchivedRecord? {
        defer { self.countedAt = now }
        let place = max(0, now.milliseconds) / Self.milliseconds
        let begin = Instant(milliseconds: place * Self.milliseconds)
        if let countedAt = self.countedAt, self.hours.last.map({ $0.from < begin }) ?? true {
            self.hours.append(Hour(from: max(begin, min(countedAt, now)), until: now, senders: [:]))
        }
        for (partition, own) in totals {
            guard let before = self.counted.updateValue(own, forKey: partition), let last = self.hours.indices.last
            else { continue }
            for (team, total) in own {
                var more = total
                more -= before[team] ?? SenderCounts()
                if more != SenderCounts() { self.hours[last].senders[team, default: SenderCounts()] += more }
            }
        }
        guard self.countedAt != nil, let last = self.hours.indices.last else { return nil }
        self.hours[last].until = max(self.hours[last].until, now)
        self.bound()
        let number = UInt64(place % Int64(Self.hoursMax)) + 1
        return self.hours.last.map { ArchivedRecord(number: number, bytes: Self.bytes($0)) }
    }

    private mutating func bound() {
        var rows = self.hours.reduce(0) { $0 + $1.senders.count }
        while self.hours.count > Self.hoursMax || (rows > Self.rowsMax && self.hours.count > 1) {
            rows -= self.hours.removeFirst().senders.count
        }
    }

    /// The hours that end after an instant, the oldest first. The last one is not over.
    ///
    /// - Parameter now: The present: older ones than ``ageMax`` are gone.
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

    /// Takes the bytes that an earlier process has archived.
    ///
    /// - Parameter now: The present: later hours are those of a clock that was set back.
    /// - Throws: If they are of no hour, or damaged.
    package mutating func restore(_ bytes: [UInt8], now: Instant) throws(ByteFault) {
        var reader = ByteReader(bytes)
        guard try reader.readByte() == Self.version else { throw .invalid(offset: 0) }
        var hour = Hour(from: try reader.readInstant(), until: try reader.readInstant(), senders: [:])
        let rows = try reader.readEach { (reader) throws(ByteFault) in
            let team = try TeamID(from: &reader)
            var counts = SenderCounts()
            for member in SenderCounts.members {
                counts[keyPath: member] = Int(try reader.readSigned(in: Self.countRange))
            }
            return (team, counts)
        }
        hour.senders = Dictionary(rows) { $1 }
        guard hour.from <= hour.until, hour.until <= now, now - hour.until <= Self.ageMax else { return }
        self.hours.insert(hour, at: self.hours.firstIndex { $0.from > hour.from } ?? self.hours.count)
        self.bound()
    }
}

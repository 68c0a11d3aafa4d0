import Engine
import Journaling
import OperatorAPI
import Synchronization
import Testing
import WidgetModel

/// The costs of senders by the hour.
@Suite struct SenderHoursTests {
    private static let start = Instant(milliseconds: 3_600_000 * 400_000)
    private static let cheap = TeamID("CHEAPTEAM1")
    private static let dear = TeamID("DEARTEAM01")

    private static func totals(_ partitions: [[TeamID: Int]]) -> [PartitionID: [TeamID: SenderCounts]] {
        var totals: [PartitionID: [TeamID: SenderCounts]] = [:]
        for (number, teams) in partitions.enumerated() {
            totals[PartitionID(UInt16(number))] = teams.mapValues { charged in
                var counts = SenderCounts()
                counts.charged = charged
                return counts
            }
        }
        return totals
    }

    private static func charged(_ hours: [SenderHours.Hour]) -> [[TeamID: Int]] {
        hours.map { $0.senders.mapValues(\.charged) }
    }

    @Test func `each hour has what was added in it, of all partitions`() {
        var hours = SenderHours()
        // What was before the first time is of no hour.
        #expect(hours.add(Self.totals([[Self.dear: 100], [:]]), at: Self.start + .minutes(30)) == nil)
        #expect(hours.all(now: Self.start + .hours(1)).isEmpty)
        _ = hours.add(Self.totals([[Self.dear: 103], [Self.dear: 1, Self.cheap: 2]]), at: Self.start + .minutes(31))
        _ = hours.add(Self.totals([[Self.dear: 104], [Self.dear: 1, Self.cheap: 2]]), at: Self.start + .minutes(59))
        // An hour in which nothing comes is one, too.
        _ = hours.add(Self.totals([[Self.dear: 104], [Self.dear: 1, Self.cheap: 2]]), at: Self.start + .minutes(60))
        _ = hours.add(Self.totals([[Self.dear: 104], [Self.dear: 1, Self.cheap: 5]]), at: Self.start + .minutes(130))
        let now = Self.start + .minutes(130)
        let all = hours.all(now: now)
        #expect(Self.charged(all) == [[Self.dear: 5, Self.cheap: 2], [:], [Self.cheap: 3]])
        #expect(all.map(\.from) == [30, 60, 120].map { Self.start + .minutes($0) })
        #expect(all.map(\.until) == [59, 60, 130].map { Self.start + .minutes($0) })
        #expect(hours.all(after: Self.start + .minutes(59), now: now).count == 2)
    }

    @Test func `a partition that is away is counted when it answers, and one that is new from then on`() {
        var hours = SenderHours()
        _ = hours.add(Self.totals([[Self.dear: 10]]), at: Self.start)
        _ = hours.add([:], at: Self.start + .minutes(1))
        #expect(Self.charged(hours.all(now: Self.start + .minutes(1))) == [[:]])
        _ = hours.add(Self.totals([[Self.dear: 17], [Self.cheap: 1000]]), at: Self.start + .minutes(2))
        #expect(Self.charged(hours.all(now: Self.start + .minutes(2))) == [[Self.dear: 7]])
        _ = hours.add(Self.totals([[Self.dear: 17], [Self.cheap: 1001]]), at: Self.start + .minutes(3))
        #expect(Self.charged(hours.all(now: Self.start + .minutes(3))) == [[Self.dear: 7, Self.cheap: 1]])
    }

    @Test func `a restart goes on with the hour that is not over`() {
        let archive = MemoryArchive()
        let history = GatewayHistory(archive: archive, now: Self.start)
        for minute in 0...70 {
            history.add(Self.totals([[Self.dear: 10 * minute]]), at: Self.start + .minutes(Int64(minute)))
        }
        history.write()
        let now = Self.start + .minutes(80)
        let again = GatewayHistory(archive: archive, now: now)
        #expect(again.senderHours(now: now) == history.senderHours(now: now))
        #expect(Self.charged(again.senderHours(now: now)) == [[Self.dear: 590], [Self.dear: 110]])
        again.add(Self.totals([[Self.dear: 900]]), at: now)
        again.add(Self.totals([[Self.dear: 905]]), at: now + .minutes(1))
        #expect(Self.charged(again.senderHours(now: now + .minutes(1))) == [[Self.dear: 590], [Self.dear: 115]])
        // The hour's record is written over.
        again.write()
        let later = GatewayHistory(archive: archive, now: now + .minutes(2))
        #expect(Self.charged(later.senderHours(now: now)) == [[Self.dear: 590], [Self.dear: 115]])
        // Marks and samples stand beside them.
        #expect(later.marks(now: now + .minutes(2)).count == 3)
        // A clock that was set back knows of no later day.
        #expect(GatewayHistory(archive: archive, now: Self.start).senderHours(now: Self.start).isEmpty)
    }

    @Test func `hours are kept for thirty days, and fewer where many push`() throws {
        var few = SenderHours()
        var many = SenderHours()
        let teams = (0..<100).map { TeamID("TEAM\($0)") }
        var records: [UInt64: ArchivedRecord] = [:]
        for hour in 0...800 {
            let at = Self.start + .hours(Int64(hour))
            let change = few.add(Self.totals([[Self.dear: hour]]), at: at)
            if let record = change?.record { records[record.number] = record }
            let all = Dictionary(uniqueKeysWithValues: teams.map { ($0, hour) })
            _ = many.add(Self.totals([all]), at: at)
        }
        let now = Self.start + .hours(800)
        #expect(few.all(now: now).count == 720)
        #expect(few.all(now: now + .days(29)).count == 25)
        #expect(records.count == 720)
        let kept = many.all(now: now)
        #expect(kept.count == 200 && kept.last?.senders.count == 100)
        var restored = SenderHours()
        for record in records.values { try restored.restore(record, now: now) }
        #expect(restored.all(now: now) == few.all(now: now))
    }

    @Test func `of an hour that is damaged nothing is taken`() throws {
        var hours = SenderHours()
        _ = hours.add(Self.totals([[Self.dear: 1]]), at: Self.start)
        let change = hours.add(Self.totals([[Self.dear: 3]]), at: Self.start + .minutes(1))
        let record = try #require(change?.record)
        let now = Self.start + .minutes(1)
        for length in 0..<record.bytes.count {
            var other = SenderHours()
            let part = ArchivedRecord(number: record.number, bytes: Array(record.bytes.prefix(length)))
            #expect(throws: ByteError.self) { try other.restore(part, now: now) }
        }
        var marks = GatewayMarks()
        #expect(throws: ByteError.self) { try marks.restore(record.bytes, now: now) }
        let mark = marks.add(GatewayMark(at: Self.start, kind: .start, text: "t"))
        #expect(throws: ByteError.self) { try hours.restore(mark, now: now) }
    }

    @Test func `two counts around a full hour may come in the other order`() throws {
        var hours = SenderHours()
        let full = Self.start + .hours(1)
        _ = hours.add(Self.totals([[Self.dear: 10]]), at: full - .minutes(2))
        let first = hours.add(Self.totals([[Self.dear: 12]]), at: full - .minutes(1))
        let second = hours.add(Self.totals([[Self.dear: 15]]), at: full)
        #expect(hours.add(Self.totals([[Self.dear: 14]]), at: full - .milliseconds(1)) == nil)
        #expect(Self.charged(hours.all(now: full)) == [[Self.dear: 2], [Self.dear: 3]])
        _ = hours.add(Self.totals([[Self.dear: 16]]), at: full + .minutes(1))
        #expect(Self.charged(hours.all(now: full)) == [[Self.dear: 2], [Self.dear: 4]])
        let past = try #require(first?.record)
        let present = try #require(second?.record)
        #expect(past.number != present.number)
        // The past hour's record with the present hour in it is refused.
        var restored = SenderHours()
        let wrong = ArchivedRecord(number: past.number, bytes: present.bytes)
        #expect(throws: ByteError.self) { try restored.restore(wrong, now: full) }
        try restored.restore(present, now: full)
        #expect(Self.charged(restored.all(now: full)) == [[Self.dear: 3]])
    }

    @Test func `an answer that a newer one has overtaken takes nothing away`() {
        var hours = SenderHours()
        _ = hours.add(Self.totals([[Self.dear: 10], [Self.cheap: 1]]), at: Self.start)
        _ = hours.add(Self.totals([[Self.dear: 16], [Self.cheap: 1]]), at: Self.start + .minutes(1))
        _ = hours.add(Self.totals([[Self.dear: 15], [Self.cheap: 3]]), at: Self.start + .minutes(2))
        // One from before the sender's first push, too.
        _ = hours.add(Self.totals([[:], [:]]), at: Self.start + .minutes(3))
        let now = Self.start + .minutes(4)
        #expect(Self.charged(hours.all(now: now)) == [[Self.dear: 6, Self.cheap: 2]])
        _ = hours.add(Self.totals([[Self.dear: 17], [Self.cheap: 3]]), at: now)
        #expect(Self.charged(hours.all(now: now)) == [[Self.dear: 7, Self.cheap: 2]])
    }

    /// An archive that refuses to write for a while, and knows the numbers of the last write.
    private final class FullArchive: RecordArchive {
        let isFull = Mutex(true)
        let numbers = Mutex<[UInt64]>([])

        func write(_ records: [ArchivedRecord], removing removed: [UInt64]) throws(JournalError) {
            if self.isFull.withLock({ $0 }) { throw JournalError(.full, "the disk is full") }
            self.numbers.withLock { $0 = records.map(\.number) + removed }
        }
        func readAll(_ body: (ArchivedRecord) -> Void) throws(JournalError) {}
        func read(_ number: UInt64) throws(JournalError) -> [UInt8]? { nil }
        func removeAll() throws(JournalError) {}
        func close() {}
    }

    @Test func `while the disk is full, one record of the hour waits`() {
        let archive = FullArchive()
        let history = GatewayHistory(archive: archive, now: Self.start)
        for count in 0...20 {
            history.add(Self.totals([[Self.dear: count]]), at: Self.start + .seconds(Int64(count)))
            if count.isMultiple(of: 4) { history.write() }
        }
        archive.isFull.withLock { $0 = false }
        for count in 21...22 {
            history.add(Self.totals([[Self.dear: count]]), at: Self.start + .seconds(Int64(count)))
        }
        history.write()
        // The start's mark, and the hour.
        let numbers = archive.numbers.withLock { $0 }
        #expect(numbers.count == 2, "\(numbers)")
    }

    /// The number behind which the archive of a history has these hours.
    private static let base: UInt64 = 1 << 16

    /// The numbers of hours of senders in an archive.
    private static func numbers(_ archive: MemoryArchive) throws -> [UInt64] {
        var numbers: [UInt64] = []
        try archive.readAll { record in
            if record.number > Self.base { numbers.append(record.number - Self.base) }
        }
        return numbers
    }

    @Test func `hours that go because many push leave the archive, too`() throws {
        let archive = MemoryArchive()
        let history = GatewayHistory(archive: archive, now: Self.start)
        let teams = (0..<1000).map { TeamID("TEAM\($0)") }
        for hour in 0...25 {
            let all = Dictionary(uniqueKeysWithValues: teams.map { ($0, hour) })
            history.add(Self.totals([all]), at: Self.start + .hours(Int64(hour)))
            // A removal may wait for the next write.
            if hour != 22 { history.write() }
        }
        let now = Self.start + .hours(25)
        #expect(history.senderHours(now: now).count == 20)
        #expect(try Self.numbers(archive).count == 20)
        #expect(GatewayHistory(archive: archive, now: now).senderHours(now: now) == history.senderHours(now: now))
    }

    @Test func `a restart with too many rows leaves no hole, and mends the archive`() throws {
        // The first hour has the last number, so it is read last.
        let first = Self.start + .hours(719 - 400_000 % 720)
        let teams = (0..<11_000).map { TeamID("TEAM\($0)") }
        func totals(_ each: Int) -> [TeamID: Int] {
            Dictionary(uniqueKeysWithValues: teams.map { ($0, each) }).merging([Self.dear: 1]) { $1 }
        }
        let archive = MemoryArchive()
        var hours = SenderHours()
        _ = hours.add(Self.totals([[:]]), at: first)
        let counts: [(Interval, [TeamID: Int])] = [
            (.minutes(1), [Self.dear: 1]), (.hours(1), totals(1)), (.hours(2), totals(2)),
        ]
        for (time, counted) in counts {
            let change = hours.add(Self.totals([counted]), at: first + time)
            let record = try #require(change?.record)
            try archive.write([ArchivedRecord(number: Self.base + record.number, bytes: record.bytes)], removing: [])
        }
        #expect(try Self.numbers(archive) == [1, 2, 720])
        let now = first + .hours(2)
        let again = GatewayHistory(archive: archive, now: now)
        #expect(again.senderHours(now: now).map(\.senders.count) == [11_000])
        again.write()
        #expect(try Self.numbers(archive) == [2])
    }
}

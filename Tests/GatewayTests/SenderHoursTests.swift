import Engine
import Journaling
import OperatorAPI
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
        var records: [UInt64: [UInt8]] = [:]
        for hour in 0...800 {
            let at = Self.start + .hours(Int64(hour))
            if let record = few.add(Self.totals([[Self.dear: hour]]), at: at) { records[record.number] = record.bytes }
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
        for bytes in records.values { try restored.restore(bytes, now: now) }
        #expect(restored.all(now: now) == few.all(now: now))
    }

    @Test func `of an hour that is damaged nothing is taken`() throws {
        var hours = SenderHours()
        _ = hours.add(Self.totals([[Self.dear: 1]]), at: Self.start)
        let record = hours.add(Self.totals([[Self.dear: 3]]), at: Self.start + .minutes(1))
        let bytes = try #require(record?.bytes)
        for length in 0..<bytes.count {
            var other = SenderHours()
            #expect(throws: ByteFault.self) { try other.restore(Array(bytes.prefix(length)), now: Self.start) }
        }
        var marks = GatewayMarks()
        #expect(throws: ByteFault.self) { try marks.restore(bytes, now: Self.start) }
        let mark = marks.add(GatewayMark(at: Self.start, kind: .start, text: "t"))
        #expect(throws: ByteFault.self) { try hours.restore(mark.bytes, now: Self.start) }
    }
}

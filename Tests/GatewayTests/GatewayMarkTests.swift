import Engine
import Journaling
import OperatorAPI
import Synchronization
import Testing
import WidgetModel

/// The events that charts mark: bounded by number and age, and kept over restarts.
@Suite struct GatewayMarkTests {
    private static let start = Instant(milliseconds: 3_600_000 * 400_000)

    private static func outage(_ number: Int) -> GatewayMark {
        GatewayMark(at: Self.start + .seconds(Int64(number)), kind: .outage, text: "outage \(number)")
    }

    @Test(arguments: [GatewayMarks.marksMax - 1, GatewayMarks.marksMax, GatewayMarks.marksMax + 1])
    func `the newest of each kind are kept`(count: Int) {
        var marks = GatewayMarks()
        let reload = GatewayMark(at: Self.start, kind: .configuration, text: "The configuration was read again")
        _ = marks.add(reload)
        for number in 1...count { _ = marks.add(Self.outage(number)) }
        let now = Self.start + .hours(1)
        let first = max(1, count - GatewayMarks.marksMax + 1)
        #expect(marks.all(now: now) == [reload] + (first...count).map(Self.outage))
        #expect(marks.all(after: Self.outage(count - 1).at, now: now) == [Self.outage(count)])
    }

    @Test func `they are kept for thirty days`() throws {
        var marks = GatewayMarks()
        let record = marks.add(Self.outage(0))
        let end = Self.start + GatewayMarks.ageMax
        for (now, isKept) in [(Self.start, true), (end, true), (end + .milliseconds(1), false)] {
            #expect(marks.all(now: now).isEmpty == !isKept)
            var restored = GatewayMarks()
            try restored.restore(record.bytes, now: now)
            #expect(restored.all(now: now).isEmpty == !isKept)
        }
        // A clock that was set back knows of no later day.
        var earlier = GatewayMarks()
        try earlier.restore(record.bytes, now: Self.start - .milliseconds(1))
        #expect(earlier.all(now: Self.start).isEmpty)
    }

    @Test(arguments: [GatewayMarks.marksMax, GatewayMarks.marksMax + 1, 3 * GatewayMarks.marksMax])
    func `a restart finds the newest, and goes on behind them`(count: Int) {
        let archive = MemoryArchive()
        let history = GatewayHistory(archive: archive, now: Self.start)
        for number in 1...count { history.mark(Self.outage(number)) }
        history.write()
        let now = Self.start + .hours(1)
        for round in 1...2 {
            let again = GatewayHistory(archive: archive, now: now)
            again.mark(Self.outage(count + round))
            again.write()
            let outages = again.marks(now: now).filter { $0.kind == .outage }
            #expect(outages == ((count + round - GatewayMarks.marksMax + 1)...(count + round)).map(Self.outage))
            #expect(again.marks(now: now).count { $0.kind == .start } == 1 + round)
        }
    }

    @Test func `a start says since when the gateway was away, if that is known`() {
        let archive = MemoryArchive()
        let history = GatewayHistory(archive: archive, now: Self.start)
        #expect(history.marks(now: Self.start).map(\.awaySince) == [nil])
        history.add(GatewayTotals(at: Self.start))
        history.add(GatewayTotals(at: Self.start + .minutes(1)))
        history.write()
        let again = GatewayHistory(archive: archive, now: Self.start + .hours(2))
        let marks = again.marks(now: Self.start + .hours(2))
        #expect(marks.map(\.kind) == [.start, .start])
        #expect(marks.last?.awaySince == Self.start + .minutes(1) && marks.last?.at == Self.start + .hours(2))
    }

    @Test func `pushes answered 503 are one outage until a minute without`() {
        let history = GatewayHistory(now: Self.start)
        var totals = GatewayTotals(at: Self.start)
        history.add(totals)
        var expected: [Instant] = []
        // With a gap of a minute, and of more.
        for (second, isNew) in [(1, true), (2, false), (62, false), (123, true)] as [(Int64, Bool)] {
            totals.at = Self.start + .seconds(second)
            totals.unavailable += 3
            history.add(totals)
            if isNew { expected.append(totals.at) }
            #expect(history.marks(now: totals.at).filter { $0.kind == .outage }.map(\.at) == expected, "\(second)")
        }
    }

    /// An archive that refuses to write for a while.
    private final class FullArchive: RecordArchive {
        let archive = MemoryArchive()
        let isFull = Mutex(true)

        func write(_ records: [ArchivedRecord], removing removed: [UInt64]) throws(JournalError) {
            if self.isFull.withLock({ $0 }) { throw JournalError(.full, "the disk is full") }
            try self.archive.write(records, removing: removed)
        }
        func readAll(_ body: (ArchivedRecord) -> Void) throws(JournalError) { try self.archive.readAll(body) }
        func read(_ number: UInt64) throws(JournalError) -> [UInt8]? { try self.archive.read(number) }
        func removeAll() throws(JournalError) { try self.archive.removeAll() }
        func close() {}
    }

    @Test func `the outage of a full disk is written once there is room`() {
        let archive = FullArchive()
        let history = GatewayHistory(archive: archive, now: Self.start)
        history.mark(Self.outage(1))
        history.write()
        archive.isFull.withLock { $0 = false }
        // It waits for something new.
        history.write()
        #expect(GatewayHistory(archive: archive, now: Self.start + .hours(1)).marks(now: Self.start).count == 1)
        history.mark(Self.outage(2))
        history.write()
        let marks = GatewayHistory(archive: archive, now: Self.start + .hours(1)).marks(now: Self.start + .hours(1))
        #expect(marks.filter { $0.kind == .outage } == [Self.outage(1), Self.outage(2)])
    }

    @Test func `of a mark that is damaged nothing is taken`() {
        var marks = GatewayMarks()
        let bytes = marks.add(GatewayMark(at: Self.start, kind: .start, text: "t", awaySince: Self.start)).bytes
        for length in 0..<bytes.count {
            var other = GatewayMarks()
            #expect(throws: ByteError.self) { try other.restore(Array(bytes.prefix(length)), now: Self.start) }
        }
        let sample = GatewaySample(from: GatewayTotals(at: Self.start), to: GatewayTotals(at: Self.start))
        var other = GatewayMarks()
        #expect(throws: ByteError.self) { try other.restore(sample.bytes, now: Self.start) }
        #expect(throws: ByteError.self) { try GatewaySample(bytes: bytes) }
    }
}

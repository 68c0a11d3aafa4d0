import Engine
import Journaling
import Ownership
import Testing
import WidgetModel

/// Entries that come later than they are asked for.
@Suite struct OwnerReadTests {
    private static func started() throws -> OwnerLog {
        var log = OwnerLog(hosts: 1)
        try log.machine.start(newest: nil)
        return log
    }

    /// Where the machine wants to read on.
    private static func wantedRead(_ log: inout OwnerLog) throws -> LogPosition? {
        var units = Int.max
        guard case .read(let position)? = try log.machine.next(&units) else { return nil }
        return position
    }

    @Test func `what is announced while entries are read is read, too`() throws {
        var log = try Self.started()
        try log.writeAll()
        log.entries = OwnerLog(hosts: 3).entries
        log.machine.announce(LogPosition(3))
        let position = try Self.wantedRead(&log)
        #expect(position == LogPosition(3))
        let (isReading, isBehind) = (log.machine.isReading, log.machine.isBehind)
        #expect(isReading && !isBehind, "there is nothing to do before they are there")
        let again = try Self.wantedRead(&log)
        #expect(again == nil)
        // The answer is from before the entry that was announced since.
        log.machine.announce(LogPosition(4))
        try log.machine.takeEntries(.success([]))
        let (record, _) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(4))
    }

    @Test func `a log that is away is asked again after a while, and one that cannot be read ends the owner`() throws {
        var log = try Self.started()
        log.machine.announce(LogPosition(3))
        let position = try Self.wantedRead(&log)
        // Nothing was refused.
        log.machine.retry()
        let early = try Self.wantedRead(&log)
        #expect(early == nil && position != nil)
        try log.machine.takeEntries(.failure(JournalError(.unavailable, "no broker answers")))
        var units = Int.max
        guard case .awaitRetry? = try log.machine.next(&units) else {
            Issue.record("there is to be a pause")
            return
        }
        let tooEarly = try Self.wantedRead(&log)
        #expect(tooEarly == nil)
        log.machine.retry()
        let again = try Self.wantedRead(&log)
        #expect(again == position)
        let damage = JournalError(.corrupt, "position 3 is damaged")
        #expect(throws: damage) { try log.machine.takeEntries(.failure(damage)) }
    }

    @Test func `one wait is for all that was refused`() throws {
        var log = try Self.started()
        let (record, expected) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(2) && expected == nil)
        log.machine.announce(LogPosition(3))
        let position = try Self.wantedRead(&log)
        try log.machine.takeEntries(.failure(JournalError(.unavailable, "no broker answers")))
        try log.machine.committed(.failure(JournalError(.full, "the disk is full")))
        var units = Int.max
        guard case .awaitRetry? = try log.machine.next(&units) else {
            Issue.record("there is to be a pause")
            return
        }
        let second = try log.machine.next(&units)
        #expect(second == nil)
        log.machine.retry()
        var kinds: [String] = []
        while let action = try log.machine.next(&units) {
            switch action {
            case .commit(let again, _): kinds.append("commit through \(again.through.rawValue)")
            case .read(let from): kinds.append("read from \(from.rawValue)")
            default: kinds.append("\(action)")
            }
        }
        #expect(kinds.sorted() == ["commit through 2", "read from 3"] && position == LogPosition(3))
    }

    @Test func `entries that come again while the next are read are left out`() throws {
        var log = OwnerLog(hosts: 3)
        try log.machine.start(newest: nil)
        var units = Int.max
        guard case .read? = try log.machine.next(&units) else {
            Issue.record("nothing is read")
            return
        }
        try log.machine.takeEntries(.success(Array(log.entries.prefix(2))))
        while log.machine.applied < LogPosition(2) { _ = try log.machine.next(&units) }
        let next = try Self.wantedRead(&log)
        #expect(next == LogPosition(3))
        try log.machine.takeEntries(.success(Array(log.entries.prefix(2))))
        // It is still starting: that was not the end of the log.
        let again = try Self.wantedRead(&log)
        #expect(again == LogPosition(3) && log.machine.isReplaying == true)
        try log.machine.takeEntries(.success(Array(log.entries.dropFirst(1))))
        let (record, _) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(4))
    }

    @Test func `entries that come twice count once`() throws {
        var log = OwnerLog(hosts: 3)
        try log.machine.start(newest: nil)
        var units = Int.max
        guard case .read? = try log.machine.next(&units) else {
            Issue.record("nothing is read")
            return
        }
        for _ in 0..<2 { try log.machine.takeEntries(.success(log.entries)) }
        units = 1
        while log.machine.applied < LogPosition(2) {
            units = 1
            _ = try log.machine.next(&units)
        }
        try log.machine.takeEntries(.success(log.entries))
        let (record, _) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(4))
    }

    @Test func `outputs are published while entries are read`() throws {
        var log = try Self.started()
        let (record, _) = try #require(try log.nextOutput())
        log.entries = OwnerLog(hosts: 2).entries
        log.machine.announce(LogPosition(3))
        let position = try Self.wantedRead(&log)
        #expect(position == LogPosition(3))
        try log.write(record)
        var units = Int.max
        guard case .publish(let output)? = try log.machine.next(&units) else {
            Issue.record("nothing was published")
            return
        }
        #expect(output.effects.count == 3 && output.position == .first)
        try log.machine.takeEntries(.success(Array(log.entries.dropFirst(2))))
        let (next, expected) = try #require(try log.nextOutput())
        #expect(next.through == LogPosition(3) && expected == .first)
    }
}

import Engine
import Journaling
import Ownership
import Testing
import WidgetModel

/// An owner's work, step by step: the journal is the test.
@Suite struct OwnerMachineTests {
    private static let refused = JournalError(.unavailable, "busy")
    private static let unknown = JournalError(.unknownOutcome, "the power went")

    /// An owner that has replayed a log, and is about to write its output.
    private static func started(hosts: Int, chunkBytesMax: Int = 1 << 20) throws -> OwnerLog {
        var log = OwnerLog(hosts: hosts, chunkBytesMax: chunkBytesMax)
        try log.machine.start(newest: nil)
        return log
    }

    @Test func `a log is applied to its end, then written, then published`() throws {
        var log = try Self.started(hosts: 2)
        let (record, expected) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(3))
        #expect(expected == nil)
        let before = log.published.count
        #expect(before == 0)
        try log.write(record)
        let rest = try log.nextOutput()
        #expect(rest == nil)
        let (published, applied, count) = (log.published.count, log.machine.applied, log.machine.uncommittedCount)
        #expect(published == 6)
        #expect(applied == LogPosition(3))
        #expect(count == 0)
    }

    @Test func `an entry that was not announced is not applied`() throws {
        var log = try Self.started(hosts: 1)
        try log.writeAll()
        log.entries = OwnerLog(hosts: 3).entries
        let quiet = try log.nextOutput()
        #expect(quiet == nil)
        log.machine.announce(LogPosition(3))
        let (record, expected) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(3))
        #expect(expected == .first)
        let applied = log.machine.applied
        #expect(applied == LogPosition(3), "the fourth is there, and not announced")
    }

    @Test func `an owner that leaves ends with the entry that it is at, and with all of it committed`() throws {
        var log = try Self.started(hosts: 3)
        let (first, _) = try #require(try log.nextOutput())
        try log.write(first)
        let idle = try log.nextOutput()
        #expect(idle == nil)
        log.entries = OwnerLog(hosts: 9).entries
        log.machine.announce(LogPosition(10))
        var units = Int.max
        guard case .read(let position)? = try log.machine.next(&units) else {
            Issue.record("nothing is read")
            return
        }
        try log.machine.takeEntries(.success(log.entries.filter { $0.position >= position }))
        // One of those that are there is applied.
        _ = try log.machine.next(&units)
        log.machine.isLeaving = true
        let before = log.machine.isSettled
        #expect(!before)
        let (last, _) = try #require(try log.nextOutput())
        #expect(last.through == LogPosition(5))
        try log.write(last)
        let (rest, isSettled, isBehind) = (try log.nextOutput(), log.machine.isSettled, log.machine.isBehind)
        #expect(rest == nil && isSettled && !isBehind)
    }

    @Test func `a hint of what is not there does no harm`() throws {
        var log = try Self.started(hosts: 1)
        try log.writeAll()
        log.machine.announce(LogPosition(9))
        let nothing = try log.run()
        #expect(nothing == nil)
        let isBehind = log.machine.isBehind
        #expect(!isBehind)
        log.entries = OwnerLog(hosts: 2).entries
        log.machine.announce(LogPosition(3))
        let (record, _) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(3))
    }

    @Test func `one output is written at a time, and what comes meanwhile is the next one`() throws {
        var log = try Self.started(hosts: 1)
        let (first, _) = try #require(try log.nextOutput())
        log.entries = OwnerLog(hosts: 2).entries
        log.machine.announce(LogPosition(3))
        let meanwhile = try log.nextOutput()
        #expect(meanwhile == nil)
        try log.write(first)
        let (second, expected) = try #require(try log.nextOutput())
        #expect(second.through == LogPosition(3))
        #expect(expected == .first)
    }

    @Test func `an output that is refused is written again as it was`() throws {
        var log = try Self.started(hosts: 1)
        let (record, expected) = try #require(try log.nextOutput())
        for _ in 0..<3 {
            try log.machine.committed(.failure(Self.refused))
            guard case .awaitRetry = try log.run() else { return #expect(Bool(false), "there is to be a pause") }
            let early = try log.run()
            #expect(early == nil)
            log.machine.retry()
            let again = try #require(try log.nextOutput())
            #expect(again.record == record)
            #expect(again.expected == expected)
        }
        try log.write(record)
        _ = try log.run()
        let published = log.published.count
        #expect(published == 3)
    }

    @Test(arguments: [true, false]) func `an output of unknown outcome is looked up, never written again`(isThere: Bool)
        throws
    {
        var log = try Self.started(hosts: 1)
        let (record, _) = try #require(try log.nextOutput())
        try log.machine.committed(.failure(Self.unknown))
        guard case .readNewestOutput = try log.run() else { return #expect(Bool(false), "it is to be looked up") }
        if isThere {
            log.outputs = [record]
            try log.machine.takeNewestOutput(log.newestOutput)
            _ = try log.run()
            let published = log.published.count
            #expect(published == 3)
        } else {
            #expect(throws: Self.unknown) { try log.machine.takeNewestOutput(nil) }
            let nothing = try log.run()
            #expect(nothing == nil)
            let (isStopped, published) = (log.machine.isStopped, log.published.count)
            #expect(isStopped)
            #expect(published == 0)
        }
    }

    @Test func `an owner that another one has fenced off does nothing any more`() throws {
        var log = try Self.started(hosts: 1)
        _ = try log.nextOutput()
        let fenced = JournalError(.fenced, "another owner has written")
        #expect(throws: fenced) { try log.machine.committed(.failure(fenced)) }
        log.machine.announce(LogPosition(3))
        let nothing = try log.run()
        #expect(nothing == nil)
        let (isStopped, tick) = (log.machine.isStopped, log.tickDelay)
        #expect(isStopped)
        #expect(tick == nil)
    }

    @Test func `a callback that comes twice counts once`() throws {
        var log = try Self.started(hosts: 1, chunkBytesMax: 1)
        let (first, _) = try #require(try log.nextOutput())
        try log.write(first)
        let (second, expected) = try #require(try log.nextOutput())
        try log.machine.committed(.success(.first))
        let early = try log.run()
        #expect(early == nil)
        #expect(expected == .first)
        try log.write(second)
        _ = try log.run()
        let published = log.published.count
        #expect(published == 2)
    }

    @Test func `chunks say how many effects are written, and a restart goes on behind any of them`() throws {
        var whole = try Self.started(hosts: 2)
        try whole.writeAll()
        let all = whole.published
        var log = try Self.started(hosts: 2, chunkBytesMax: 1)
        try log.writeAll()
        let (outputs, published) = (log.outputs, log.published)
        #expect(outputs.map(\.ahead) == [1, 2, 3, 4, 5, 0])
        #expect(outputs.dropLast().allSatisfy { $0.through == .start })
        #expect(published == all)
        for written in 0...outputs.count {
            for chunkBytesMax in [1, 1 << 20] {
                var again = OwnerLog(hosts: 2)
                again.outputs = Array(outputs.prefix(written))
                try again.restart(chunkBytesMax: chunkBytesMax)
                try again.writeAll()
                let (rest, last) = (again.published, again.outputs.last)
                #expect(rest == Array(all.dropFirst(written)), "\(written)")
                #expect(last?.runningHash == outputs.last?.runningHash)
            }
        }
    }

    @Test(arguments: [1, 7, 100, .max]) func `how the work is divided changes nothing`(units: Int) throws {
        var log = OwnerLog(hosts: 5)
        log.unitsPerSlice = units
        try log.machine.start(newest: nil)
        try log.writeAll()
        var whole = try Self.started(hosts: 5)
        try whole.writeAll()
        let (some, all) = (log.outputs, whole.outputs)
        #expect(some == all)
        let (sliced, once) = (log.machine.engine.stateDigest(), whole.machine.engine.stateDigest())
        #expect(sliced == once)
    }

    @Test func `within an entry what is decided so far is told, and not how far the log is applied`() throws {
        var log = OwnerLog(hosts: 0)
        let hosts = (0..<4).map { Record.register(OwnerLog.registration("host-\($0)")) }
        log.entries = [OwnerLog.entry(1, [.settings(OwnerLog.settings)] + hosts)]
        try log.machine.start(newest: nil)
        var seen: Set<Int> = []
        while log.machine.applied < LogPosition(1) {
            var units = 1
            if case .read = try log.machine.next(&units) { try log.machine.takeEntries(.success(log.entries)) }
            let (isWhole, totals) = (log.machine.isBetweenEntries, log.machine.answer(TotalsQuestion()))
            let progress = log.machine.answer(ProgressQuestion())
            #expect((progress != nil) == isWhole)
            if !isWhole, let totals { seen.insert(totals.hosts) }
        }
        #expect(seen.isSuperset(of: [1, 2, 3]), "between two registrations")
        let progress = log.machine.answer(ProgressQuestion())
        #expect(progress?.totals.hosts == 4 && progress?.totals.position == LogPosition(1))
    }

    @Test func `a replay publishes nothing that is written, and comes to the state that the output says`() throws {
        var log = try Self.started(hosts: 2)
        try log.writeAll()
        try log.restart()
        let nothing = try log.run()
        #expect(nothing == nil)
        let (published, isReplaying) = (log.published.count, log.machine.isReplaying)
        #expect(published == 0)
        #expect(!isReplaying)
    }

    @Test func `a replay that comes to another state than the output says ends`() throws {
        var log = try Self.started(hosts: 2)
        try log.writeAll()
        let last = try #require(log.outputs.last)
        log.outputs = [
            OutputRecord(
                through: last.through,
                engineVersion: last.engineVersion,
                runningHash: last.runningHash ^ 1,
                effects: last.effects
            )
        ]
        try log.restart()
        #expect(throws: OwnerError.engineDisagrees(partition: OwnerLog.partition, position: last.through)) {
            _ = try log.run()
        }
        let isStopped = log.machine.isStopped
        #expect(isStopped)
    }

    @Test func `a log that ends before its outputs do is told`() throws {
        var log = try Self.started(hosts: 2)
        try log.writeAll()
        log.entries.removeLast()
        try log.restart()
        let error = OwnerError.logEndsEarly(
            partition: OwnerLog.partition,
            applied: LogPosition(2),
            through: LogPosition(3)
        )
        #expect(throws: error) { _ = try log.run() }
    }

    @Test func `a checkpoint goes as far as the owner was when it was asked for`() throws {
        var log = try Self.started(hosts: 1)
        let (first, _) = try #require(try log.nextOutput())
        log.entries = OwnerLog(hosts: 2).entries
        log.machine.announce(LogPosition(3))
        _ = try log.run()
        log.machine.askForCheckpoint()
        try log.write(first)
        let (second, _) = try #require(try log.nextOutput())
        let early = log.checkpoints
        #expect(early == [], "the output on its way did not go so far")
        try log.write(second)
        _ = try log.run()
        let checkpoints = log.checkpoints
        #expect(checkpoints == [OwnerCheckpoint(through: LogPosition(3), runningHash: second.runningHash)])
        // A committed checkpoint is told at once, and once.
        log.machine.askForCheckpoint()
        let nothing = try log.run()
        #expect(nothing == nil)
        let count = log.checkpoints.count
        #expect(count == 2)
    }

    @Test func `a checkpoint of what gave nothing is an output without effects`() throws {
        var log = OwnerLog(hosts: 0)
        try log.machine.start(newest: nil)
        let nothing = try log.nextOutput()
        #expect(nothing == nil)
        log.machine.askForCheckpoint()
        let (record, _) = try #require(try log.nextOutput())
        #expect(record.through == LogPosition(1))
        try log.write(record)
        _ = try log.run()
        let checkpoints = log.checkpoints
        #expect(checkpoints.map(\.through) == [LogPosition(1)])
    }

    @Test func `no tick is due during a replay, at the end of the ticks, or after a stop`() throws {
        var log = OwnerLog(hosts: 3)
        let new = log.tickDelay
        #expect(new == nil)
        try log.machine.start(newest: nil)
        let replaying = log.tickDelay
        #expect(replaying == nil)
        try log.writeAll()
        let following = log.tickDelay
        #expect(following != nil, "reloads that are never acknowledged end")
        log.machine.hasEndedTicks = true
        let ended = log.tickDelay
        #expect(ended == nil)
        log.machine.hasEndedTicks = false
        log.machine.stop()
        let stopped = log.tickDelay
        #expect(stopped == nil)
    }
}

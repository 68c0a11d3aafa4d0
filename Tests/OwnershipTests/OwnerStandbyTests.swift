import Engine
import Journaling
import Ownership
import Testing
import WidgetModel

/// The work of an owner that follows another one, and goes on in its place.
@Suite struct OwnerStandbyTests {
    /// The outputs of an owner that wrote one for each host.
    private static func outputs(hosts: Int) throws -> [OutputRecord] {
        var outputs: [OutputRecord] = []
        for count in 0...hosts {
            var log = OwnerLog(hosts: count)
            log.outputs = outputs
            try log.restart()
            try log.writeAll()
            outputs = log.outputs
        }
        return outputs
    }

    /// A log with outputs, and a standby of their owner.
    private static func standingBy(hosts: Int, heard: Int? = nil, unitsPerSlice: Int = .max) throws -> OwnerLog {
        var log = OwnerLog(hosts: hosts)
        log.unitsPerSlice = unitsPerSlice
        log.outputs = try Self.outputs(hosts: hosts)
        try log.machine.standBy(newest: log.output(heard ?? log.outputs.count))
        return log
    }

    @Test(arguments: [1, 7, .max])
    func `it applies what is committed, and nothing that is only there`(units: Int) throws {
        var log = try Self.standingBy(hosts: 4, heard: 1, unitsPerSlice: units)
        log.machine.announce(LogPosition(5))
        for number in 1...log.outputs.count {
            try log.machine.takeOutput(log.outputs[number - 1])
            let action = try log.run()
            #expect(action == nil, "it writes nothing")
            let (applied, lag, isStandingBy) = (log.machine.applied, log.machine.standbyLag, log.machine.isStandingBy)
            #expect(applied == LogPosition(UInt64(number) + 1) && lag == 0 && isStandingBy)
        }
        let (published, tick, count) = (log.published, log.tickDelay, log.machine.uncommittedCount)
        #expect(published.isEmpty && tick == nil && count == 0)
    }

    @Test func `it comes to the newest output that it knows, whichever it did not hear of`() throws {
        var log = try Self.standingBy(hosts: 4, heard: 1)
        for number in [1, 3, 2, 4, 3] { try log.machine.takeOutput(log.outputs[number - 1]) }
        let lag = log.machine.standbyLag
        #expect(lag == 5)
        _ = try log.run()
        let (applied, rest) = (log.machine.applied, log.machine.standbyLag)
        #expect(applied == LogPosition(5) && rest == 0)
    }

    @Test func `what is committed and not there yet is read when more is announced`() throws {
        var log = try Self.standingBy(hosts: 2)
        let all = log.entries
        log.entries = []
        let nothing = try log.run()
        let isBehind = log.machine.isBehind
        #expect(nothing == nil && !isBehind, "brokers may be late: it does not ask for ever")
        log.entries = all
        log.machine.announce(LogPosition(3))
        _ = try log.run()
        let applied = log.machine.applied
        #expect(applied == LogPosition(3))
    }

    @Test(arguments: 1...3) func `another state than an output says ends it`(wrong: Int) throws {
        var log = try Self.standingBy(hosts: 3, heard: 0)
        let good = log.outputs[wrong - 1]
        log.outputs[wrong - 1] = OutputRecord(
            through: good.through,
            engineVersion: good.engineVersion,
            runningHash: good.runningHash ^ 1,
            effects: good.effects
        )
        for output in Array(log.outputs.prefix(wrong)) {
            try log.machine.takeOutput(output)
            guard output.through == good.through else {
                _ = try log.run()
                continue
            }
            let error = OwnerError.engineDisagrees(partition: OwnerLog.partition, position: good.through)
            #expect(throws: error) { _ = try log.run() }
        }
        let isStopped = log.machine.isStopped
        #expect(isStopped)
    }

    /// An owner that went on from a standby does what one does that began with nothing.
    @Test(arguments: 0...4, [1, 7, .max])
    func `it goes on as the owner, however far it came`(heard: Int, units: Int) throws {
        for written in heard...4 {
            var log = OwnerLog(hosts: 4)
            let outputs = try Self.outputs(hosts: 4)
            log.unitsPerSlice = units
            try log.machine.standBy(newest: nil)
            for output in outputs.prefix(heard) { try log.machine.takeOutput(output) }
            // It may be in the middle of an entry.
            for _ in 0..<heard { _ = try log.step() }
            log.outputs = Array(outputs.prefix(written))
            try log.machine.start(newest: log.newestOutput)
            try log.writeAll()
            var anew = OwnerLog(hosts: 4)
            anew.outputs = Array(outputs.prefix(written))
            try anew.restart()
            try anew.writeAll()
            let (published, expected) = (log.published, anew.published)
            #expect(published == expected, "\(written) are written")
            let (own, digest) = (log.machine.engine.stateDigest(), anew.machine.engine.stateDigest())
            #expect(own == digest)
            let (last, lastAnew) = (log.outputs.last, anew.outputs.last)
            #expect(last?.through == lastAnew?.through && last?.runningHash == lastAnew?.runningHash)
        }
    }

    @Test func `it goes on behind the chunks of an output that its owner did not end`() throws {
        var whole = OwnerLog(hosts: 2, chunkBytesMax: 1)
        try whole.machine.start(newest: nil)
        try whole.writeAll()
        let (outputs, all) = (whole.outputs, whole.published)
        for written in 0...outputs.count {
            var log = OwnerLog(hosts: 2)
            try log.machine.standBy(newest: nil)
            for output in outputs.prefix(written) { try log.machine.takeOutput(output) }
            _ = try log.run()
            log.outputs = Array(outputs.prefix(written))
            try log.machine.start(newest: log.newestOutput)
            try log.writeAll()
            let rest = log.published
            #expect(rest == Array(all.dropFirst(written)), "\(written)")
        }
    }

    @Test func `a state that is ahead of the outputs does not begin`() throws {
        var log = try Self.standingBy(hosts: 2)
        _ = try log.run()
        let older = log.output(1)
        let error = OwnerError.aheadOfOutputs(
            partition: OwnerLog.partition,
            applied: LogPosition(3),
            through: LogPosition(2)
        )
        #expect(throws: error) { try log.machine.start(newest: older) }
        #expect(error.description.contains("read anew"))
    }

    @Test func `what it had asked for when it became the owner is not waited for`() throws {
        var log = try Self.standingBy(hosts: 2, heard: 1)
        var units = Int.max
        guard case .read? = try log.machine.next(&units) else {
            Issue.record("it reads nothing")
            return
        }
        try log.machine.start(newest: log.newestOutput)
        let isBehind = log.machine.isBehind
        #expect(isBehind)
        try log.writeAll()
        let applied = log.machine.applied
        #expect(applied == LogPosition(3))
    }

    @Test func `nothing but a standby follows`() throws {
        var log = OwnerLog(hosts: 1)
        let output = try #require(try Self.outputs(hosts: 1).last)
        try log.machine.takeOutput(output)
        try log.machine.start(newest: nil)
        try log.machine.takeOutput(output)
        let (isStandingBy, lag, announced) = (
            log.machine.isStandingBy, log.machine.standbyLag, log.machine.announced
        )
        #expect(!isStandingBy && lag == 0 && announced == .start)
    }
}

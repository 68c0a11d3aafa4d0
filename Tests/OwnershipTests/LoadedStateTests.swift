import Engine
import Journaling
import Ownership
import TestSupport
import Testing
import WidgetModel

/// The replay behind a snapshot, up to a checkpoint.
@Suite struct LoadedStateTests {
    @Test func `a log that ends before the checkpoint is said to end early`() throws {
        var log = OwnerLog(hosts: 3)
        try log.machine.start(newest: nil)
        try log.writeAll()
        let newest = log.newestOutput
        let output = try #require(newest)
        let checkpoint = OwnerCheckpoint(through: output.record.through, runningHash: output.record.runningHash)
        let entries = log.entries
        func replay(of entries: [LogEntry]) throws {
            var state = try LoadedState.newest(
                of: OwnerLog.partition,
                among: 1,
                in: MemorySnapshots(),
                notBeyond: checkpoint.through,
                seed: 1,
                read: { _ in preconditionFailure("there is no snapshot") },
                refused: { _ in }
            )
            try state.advance(
                to: checkpoint,
                read: { from in Array(entries.filter { $0.position >= from }.prefix(2)) },
                checkStop: {}
            )
        }
        try replay(of: entries)
        let applied = entries[entries.count - 2].position
        let early = OwnerError.logEndsEarly(
            partition: OwnerLog.partition,
            applied: applied,
            through: checkpoint.through
        )
        #expect(throws: early) { try replay(of: Array(entries.dropLast())) }
        // Entries behind the checkpoint are of no help.
        let later = OwnerLog.entry(checkpoint.through.rawValue + 1, [.tick])
        #expect(throws: early) { try replay(of: entries.dropLast() + [later]) }
    }
}

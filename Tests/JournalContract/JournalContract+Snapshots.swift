import Journaling
import Testing
import WidgetModel

extension JournalContract {
    private static func id(_ position: UInt64, partition: UInt16 = 0) -> SnapshotID {
        SnapshotID(
            partition: PartitionID(partition),
            position: LogPosition(position),
            logTime: Instant(seconds: Int64(position))
        )
    }

    private static func write(_ id: SnapshotID, _ frames: [[UInt8]], to store: any SnapshotStore) throws {
        var rest = frames[...]
        try store.write(id) { rest.popFirst() }
    }

    private static func frames(_ id: SnapshotID, from store: any SnapshotStore) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        try store.read(id) { frames.append($0) }
        return frames
    }

    /// Rules of ``SnapshotStore``, except for trimming the log.
    package static let snapshots: [JournalContract] = [
        JournalContract("snapshots are listed by partition, the newest first, also after a restart") { make in
            let bench = try make(2, JournalLimits())
            let store = try #require(bench.snapshots)
            #expect(try store.snapshots(PartitionID(0)) == [])
            for position in [3, 12, 7] as [UInt64] { try write(id(position), [[1]], to: store) }
            try write(id(5, partition: 1), [[8]], to: store)
            #expect(try store.snapshots(PartitionID(0)) == [id(12), id(7), id(3)])
            try store.remove(id(7))
            try store.remove(id(7))
            try bench.reopen()
            let reopened = try #require(bench.snapshots)
            #expect(try reopened.snapshots(PartitionID(0)) == [id(12), id(3)])
            #expect(try reopened.snapshots(PartitionID(1)) == [id(5, partition: 1)])
            #expect(throws: JournalError.self) { try frames(id(7), from: reopened) }
        },
        JournalContract("frames come back as they were written, all of them or those that are wanted") { make in
            let bench = try make(2, JournalLimits())
            let large: [[UInt8]] = [
                [1, 2, 3], Array(repeating: 9, count: 600_000), [4], Array(repeating: 5, count: 3_000_000),
                Array(repeating: 6, count: 524_288),
            ]
            try write(id(12), large, to: try #require(bench.snapshots))
            try bench.reopen()
            let store = try #require(bench.snapshots)
            #expect(try frames(id(12), from: store) == large)
            var wanted: [[UInt8]] = []
            try store.read(id(12), wanting: { $0 != 9 }) { wanted.append($0) }
            #expect(wanted == [large[0], large[2], large[3], large[4]])
        },
        JournalContract("one that could not be written to its end is not there, and may be written again") { make in
            struct Stop: Error {}
            let bench = try make(2, JournalLimits())
            let store = try #require(bench.snapshots)
            try write(id(2), [[7]], to: store)
            var count = 0
            #expect(throws: Stop.self) {
                try store.write(id(3)) {
                    count += 1
                    if count == 4 { throw Stop() }
                    return Array(repeating: 1, count: 300_000)
                }
            }
            #expect(try store.snapshots(PartitionID(0)) == [id(2)])
            try bench.reopen()
            let reopened = try #require(bench.snapshots)
            #expect(try reopened.snapshots(PartitionID(0)) == [id(2)])
            try write(id(3), [[1], [2]], to: reopened)
            #expect(try frames(id(3), from: reopened) == [[1], [2]])
        },
        JournalContract("one that is replaced is the new one") { make in
            let bench = try make(2, JournalLimits())
            let store = try #require(bench.snapshots)
            try write(id(3), [[1], [2]], to: store)
            var rest: ArraySlice<[UInt8]> = [[1], [3]]
            try store.replace(id(3)) { rest.popFirst() }
            #expect(try store.snapshots(PartitionID(0)) == [id(3)])
            #expect(try frames(id(3), from: store) == [[1], [3]])
        },
        JournalContract("one that is set aside is not listed") { make in
            let bench = try make(2, JournalLimits())
            let store = try #require(bench.snapshots)
            for position in [3, 4] as [UInt64] { try write(id(position), [[1]], to: store) }
            try store.setAside(id(4))
            #expect(try store.snapshots(PartitionID(0)) == [id(3)])
            try store.removeDamaged()
            #expect(try store.snapshots(PartitionID(0)) == [id(3)])
        },
    ]

    /// Rules of what a ``SnapshotStore`` lets go of the log. An entry has some 2,000 bytes in them.
    package static let trimming: [JournalContract] = [
        JournalContract("the log goes up to where it may, and reading what is gone fails instead of skipping") { make in
            let bench = try make(2, JournalLimits())
            let store = try #require(bench.snapshots)
            try fill(bench.journal, entries: 40)
            let (half, all, none) = (LogPosition(20), LogPosition(40), Instant(milliseconds: .min))
            _ = try store.trim(through: [all, all], loggedBefore: none)
            #expect(try store.firstEntry(PartitionID(0)) == LogPosition(1))
            #expect(try store.trim(through: [half, half], loggedBefore: Instant(milliseconds: .max)) > 0)
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                for partition in [PartitionID(0), PartitionID(1)] {
                    let head = try bench.journal.history.head(partition)
                    #expect(head > LogPosition(1) && head <= half.next)
                    #expect(try #require(bench.snapshots).firstEntry(partition) == head)
                    let rest = try bench.journal.readNow(partition, from: head, entriesMax: 100)
                    #expect(rest.map(\.position.rawValue) == Array(head.rawValue...40))
                    #expect(throws: JournalError.self) {
                        try bench.journal.readNow(partition, from: LogPosition(1), entriesMax: 1)
                    }
                    #expect(throws: JournalError.self) {
                        try bench.journal.history.read(partition, from: LogPosition(1), entriesMax: 1)
                    }
                    #expect(try bench.journal.newestOutput(partition)?.record.through == all)
                }
            }
        },
        JournalContract("all that can go goes, and every newest output stays") { make in
            let bench = try make(2, JournalLimits())
            let store = try #require(bench.snapshots)
            try fill(bench.journal, entries: 40)
            let file = store.newestFile
            store.endFile()
            // Where there are files, one ends behind a commit.
            try fill(bench.journal, entries: 5)
            #expect(store.newestFile > file)
            #expect(try store.trimAll(through: [LogPosition(45), LogPosition(45)]) > 0)
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                for partition in [PartitionID(0), PartitionID(1)] {
                    let head = try bench.journal.history.head(partition)
                    #expect(head > LogPosition(40) && head <= LogPosition(46))
                    let rest = try bench.journal.readNow(partition, from: head, entriesMax: 100)
                    #expect(rest.map(\.position.rawValue) == Array(head.rawValue..<46))
                    #expect(try bench.journal.newestOutput(partition)?.position == OutputPosition(45))
                }
            }
            #expect(bench.journal.append("b", to: PartitionID(1)) == .success(receipt(1, 46, 0)))
            let next = bench.journal.commit(
                output(through: 46),
                expected: OutputPosition(45),
                to: PartitionID(1)
            )
            #expect(next == .success(OutputPosition(46)))
            #expect(bench.journal.appendToAll(SubmissionToAll(records("c"))).code == nil)
        },
    ]

    /// Entries of both partitions, each with an output behind it.
    private static func fill(_ journal: any Journal, entries: Int) throws {
        var newest = try [0, 1].map { try journal.newestOutput(PartitionID($0))?.position }
        for _ in 0..<entries {
            for partition in [0, 1] as [UInt16] {
                let text = String(repeating: "x", count: 2_000)
                let through = try journal.append(text, to: PartitionID(partition)).get().position
                newest[Int(partition)] = try journal.commit(
                    output(through: through.rawValue),
                    expected: newest[Int(partition)],
                    to: PartitionID(partition)
                ).get()
            }
        }
    }
}

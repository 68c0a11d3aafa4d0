// Makes a data directory that of other decision rules, as another version of Freshet would have left it: its snapshots, and
// the newest output of each partition.
//
//   RulesRewriter <directory> <rules>
//   RulesRewriter <directory> <rules> <partition>    the output of one partition alone

import Glibc
import JournalSQLite
import Journaling
import WidgetModel

@main
enum RulesRewriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard (3...4).contains(arguments.count), let rules = UInt8(arguments[2]), rules < 0x80 else { exit(64) }
        let format = try LogDirectory.format(in: arguments[1])
        let settings = SQLiteJournal.Configuration(directory: arguments[1], partitions: format.partitions)
        let journal = try SQLiteJournal(configuration: settings) { Instant(seconds: Int64(time(nil))) }
        defer { journal.close() }
        let alone = arguments.count == 4 ? UInt16(arguments[3]).map { PartitionID($0) } : nil
        for number in 0..<format.partitions {
            let partition = PartitionID(UInt16(number))
            if let alone, alone != partition { continue }
            try await Self.nameRules(rules, in: partition, journal)
            if alone == nil { try Self.rewriteSnapshots(rules, of: partition, journal) }
        }
    }

    private static func nameRules(_ rules: UInt8, in partition: PartitionID, _ journal: SQLiteJournal) async throws {
        let newest = try await withCheckedThrowingContinuation { continuation in
            journal.readNewestOutput(partition) { continuation.resume(with: $0) }
        }
        guard let newest else { return }
        let output = OutputRecord(
            through: newest.record.through,
            ahead: newest.record.ahead,
            engineVersion: UInt32(rules),
            runningHash: newest.record.runningHash,
            // None.
            effects: [0]
        )
        _ = try await withCheckedThrowingContinuation { continuation in
            journal.commitOutput(partition, expected: newest.position, output) { continuation.resume(with: $0) }
        }
    }

    private static func rewriteSnapshots(_ rules: UInt8, of partition: PartitionID, _ journal: SQLiteJournal) throws {
        for id in try journal.snapshots(partition) {
            var frames: [[UInt8]] = []
            try journal.read(id) { frames.append($0) }
            // Behind the table's number and the format's version, each of a byte.
            frames[0][2] = rules
            var rest = frames[...]
            try journal.write(id) { rest.popFirst() }
        }
    }
}

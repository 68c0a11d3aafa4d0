// A process that tests may kill: it opens a journal and does one thing with it.
//
//   JournalCrasher append <directory>   appends without end and prints a line for each submission that is durable
//   JournalCrasher hold <directory>     prints that it is open, then waits for the end of its input
//   JournalCrasher open <directory>     gives up root's rights, opens, and prints the result

import Dispatch
import Glibc
import JournalSQLite
import Journaling
import Synchronization
import WidgetModel

@main
enum JournalCrasher {
    private static let partitions = 4
    private static let submissionsInFlightMax = 64

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { exit(64) }
        do throws(JournalError) {
            if arguments[1] == "open", geteuid() == 0 { precondition(setuid(65_534) == 0) }
            let journal = try SQLiteJournal(
                configuration: SQLiteJournal.Configuration(
                    directory: arguments[2],
                    partitions: Self.partitions,
                    fileBytesMax: 400_000,
                    walBytesMax: 2_097_152
                ),
                clock: { Instant(seconds: Int64(time(nil))) }
            )
            Self.say("open")
            if arguments[1] == "append" { Self.append(to: journal) }
            if arguments[1] == "hold" { while getchar() != EOF {} }
            journal.close()
        } catch {
            Self.say("error \(error.code.rawValue)")
        }
    }

    /// Each submission has a number, written in its records; some go to all partitions.
    private static func append(to journal: SQLiteJournal) {
        let room = DispatchSemaphore(value: Self.submissionsInFlightMax)
        var number: UInt64 = 0
        while true {
            room.wait()
            number += 1
            let all = number.isMultiple(of: 7)
            let name = number
            var packed = PackedRecords()
            for _ in 0..<(1 + Int(name % 3)) {
                packed.append { writer in
                    writer.write(fixed64: name)
                    for _ in 0..<24 { writer.write(fixed64: name &* 0x9E37_79B9_7F4A_7C15) }
                }
            }
            let say: @Sendable (AppendReceipt) -> Void = { receipt in
                Self.say("\(name) \(receipt.partition) \(receipt.position) \(receipt.firstRecordIndex)")
            }
            if all {
                journal.appendToAll(SubmissionToAll(packed), whenDurable: { _ in room.signal() }, whenPlaced: say)
            } else {
                let partition = PartitionID(UInt16(number % UInt64(Self.partitions)))
                journal.append(Submission(partition: partition, records: packed)) { result in
                    if case .success(let receipt) = result { say(receipt) }
                    room.signal()
                }
            }
        }
    }

    /// One write for one line, so that a kill cannot cut it.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // Sound: only the array's bytes are read.
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}

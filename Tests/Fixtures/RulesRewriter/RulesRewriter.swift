// Makes the snapshots of a data directory those of other decision rules, as another version of Freshet would have left them.
//
//   RulesRewriter <directory> <rules>

import Glibc
import JournalSQLite
import Journaling
import WidgetModel

@main
enum RulesRewriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let rules = UInt8(arguments[2]), rules < 0x80 else { exit(64) }
        let format = try LogDirectory.format(in: arguments[1])
        let settings = SQLiteJournal.Configuration(directory: arguments[1], partitions: format.partitions)
        let journal = try SQLiteJournal(configuration: settings) { Instant(seconds: Int64(time(nil))) }
        defer { journal.close() }
        for number in 0..<format.partitions {
            for id in try journal.snapshots(PartitionID(UInt16(number))) {
                var frames: [[UInt8]] = []
                try journal.read(id) { frames.append($0) }
                // Behind the table's number and the format's version, each of a byte.
                frames[0][2] = rules
                var rest = frames[...]
                try journal.write(id) { rest.popFirst() }
            }
        }
    }
}

import APNSWire
import ArgumentParser
import Foundation
import History
import JournalSQLite
import Journaling
import WidgetModel

/// `freshet log`
struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read a log: export its records, count them, or verify the log.",
        discussion: """
            These verbs read a data directory and write nothing. You can use them while the gateway runs.

              freshet log stats --data data

            Exit codes: 0 done and good, 1 the log has faults, 64 wrong usage.
            """,
        subcommands: [ExportLog.self, LogOutputs.self, VerifyLog.self, LogStats.self]
    )
}

/// Which log is read.
struct DataOptions: ParsableArguments {
    @Option(name: [.customLong("data"), .customShort("d")], help: "The data directory.")
    var directory = "data"
    @Flag(help: "Do not show progress.") var quiet = false

    /// The log; if it cannot be read, the fault goes to standard error, with exit code 1.
    func open() throws -> LogDirectory {
        do {
            return try LogDirectory(path: self.directory)
        } catch {
            Output.standardError(FailureText.of(error, about: self.directory))
            throw ExitCode(1)
        }
    }

    /// Runs a job over the log; a journal's failure goes to standard error, with exit code 1.
    func run(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as JournalError {
            let text = FailureText.of(error, about: self.directory)
            Output.standardError("\(text); run freshet log verify for the details")
            throw ExitCode(1)
        }
    }
}

/// `freshet log export`
struct ExportLog: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the records as NDJSON, one per line, partition after partition.",
        discussion: """
            The members have the names of docs/wire.md. Push tokens are shortened. With --bytes, each line also has the \
            record's bytes in base 16: the whole record, tokens included. With --config, the log may be on NATS \
            brokers.

              freshet log export --data data --kind push --kind register
            """
    )

    @OptionGroup var log: LogOptions
    @Option(help: "Only this partition.") var partition: UInt16?
    @Option(help: "Only from this position on.") var from: UInt64 = 1
    @Option(help: "Only records of this kind, as in push or register; may be given several times.")
    var kind: [String] = []
    @Flag(help: "Also each record's bytes, with whole tokens.") var bytes = false

    func run() throws {
        try self.log.read(self.partition) { try self.export($0, of: $1) }
    }

    private func export(_ partition: PartitionID, of log: any LogHistory) throws {
        var next = max(LogPosition(max(1, self.from)), self.log.config == nil ? .start : try log.head(partition))
        var text: [UInt8] = []
        while true {
            let entries = try log.read(partition, from: next, entriesMax: 256)
            for entry in entries {
                for record in entry.texts(of: partition) {
                    let json: JSONValue
                    do {
                        json = try record.json(hasBytes: self.bytes)
                    } catch {
                        let place = "partition \(partition): entry \(entry.position): record \(record.index)"
                        throw JournalError(.corrupt, "\(place) cannot be read: \(error)")
                    }
                    if case .string(let name)? = json["record"], !self.kind.isEmpty, !self.kind.contains(name) {
                        continue
                    }
                    json.append(to: &text)
                    text.append(UInt8(ascii: "\n"))
                }
                next = entry.position.next
            }
            try FileHandle.standardOutput.write(contentsOf: Data(text))
            text.removeAll(keepingCapacity: true)
            if entries.isEmpty { return }
        }
    }
}

/// `freshet log stats`
struct LogStats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count records by kind, partition and app, bytes and times.",
        discussion: """
              freshet log stats --data data --json
            """
    )

    @OptionGroup var data: DataOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let log = try self.data.open()
        var statistics = LogStatistics(partitions: log.format.partitions)
        let bar = ProgressBar(total: log.format.partitions, isQuiet: self.data.quiet)
        try self.data.run {
            for index in 0..<log.format.partitions {
                try Self.add(PartitionID(UInt16(index)), of: log, to: &statistics)
                bar.advance()
            }
        }
        bar.finish()
        if self.json {
            print(String(decoding: statistics.json(fileBytes: log.fileBytes).jsonText, as: UTF8.self))
        } else {
            print(statistics.text(fileBytes: log.fileBytes), terminator: "")
        }
    }

    private static func add(
        _ partition: PartitionID,
        of log: LogDirectory,
        to statistics: inout LogStatistics
    ) throws {
        var next = LogPosition.start.next
        while case let entries = try log.read(partition, from: next, entriesMax: 256), let last = entries.last {
            for entry in entries { statistics.add(entry, of: partition) }
            next = last.position.next
        }
        var output = OutputPosition.first
        while case let outputs = try log.readOutputs(partition, from: output, outputsMax: 256),
            let last = outputs.last
        {
            for output in outputs { statistics.add(output, of: partition) }
            output = last.position.next
        }
    }
}

/// `freshet log verify`
struct VerifyLog: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Check every byte of a log: checksums, positions, times, and the outputs of a replay.",
        discussion: """
            It checks every row, and prints each fault with its place. Then it replays each partition up to its first \
            fault, and compares states and effects with the output log.

              freshet log verify --data data
            """
    )

    @OptionGroup var data: DataOptions
    @Flag(help: "Check only the rows, without a replay.") var rows = false
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var bar: ProgressBar?
        let survey = LogSurvey(of: self.data.directory) { steps in
            let known = bar ?? ProgressBar(total: steps, isQuiet: self.data.quiet)
            bar = known
            known.advance()
        }
        bar?.finish()
        var report = VerifyReport(survey)
        if !self.rows, let log = try? LogDirectory(path: self.data.directory) {
            let replay = ProgressBar(total: log.format.partitions, isQuiet: self.data.quiet)
            for index in 0..<log.format.partitions {
                try report.replay(PartitionID(UInt16(index)), of: log, survey.partitions[index].firstFault)
                replay.advance()
            }
            replay.finish()
        }
        print(self.json ? String(decoding: report.json.jsonText, as: UTF8.self) : report.text, terminator: "")
        if self.json { print() }
        if !report.faults.isEmpty { throw ExitCode(1) }
    }
}

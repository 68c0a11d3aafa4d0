import APNSWire
import ArgumentParser
import Foundation
import History
import JournalSQLite
import Journaling
import Settings
import WidgetModel

/// A log in a data directory, or the one that a configuration names, which may be on brokers.
struct LogOptions: ParsableArguments {
    @Option(name: [.customLong("data"), .customShort("d")], help: "The data directory (default: data).")
    var directory: String?
    @Option(
        name: [.customLong("config"), .customShort("c")],
        help: "The configuration of the gateway whose log it is; also of one on brokers."
    )
    var config: String?

    func validate() throws {
        if self.directory != nil, self.config != nil { throw ValidationError("give --data or --config, not both") }
    }

    private var name: String { self.config ?? self.dataDirectory }

    /// Reads every partition, or one; a fault goes to standard error, with exit code 1.
    func read(_ partition: UInt16?, _ body: (PartitionID, any LogHistory) throws -> Void) throws {
        do {
            let log = try self.open()
            for index in 0..<log.format.partitions where partition.map({ Int($0) == index }) ?? true {
                try body(PartitionID(UInt16(index)), log)
            }
        } catch let error as JournalError {
            Output.standardError(FailureText.of(error, about: self.name))
            throw ExitCode(1)
        }
    }

    private func open() throws -> any LogHistory {
        guard let configuration = try self.configuration() else { return try LogDirectory(path: self.dataDirectory) }
        return try ChosenJournal.history(of: configuration)
    }

    /// The data directory, where no configuration is given.
    var dataDirectory: String { self.directory ?? "data" }

    /// The given configuration; nil for none. Ends as ``ConfigurationOptions/load()`` does if it has faults.
    func configuration() throws -> GatewayConfiguration? {
        guard let file = self.config else { return nil }
        var options = ConfigurationOptions()
        options.file = file
        options.settings = []
        return try options.load()
    }
}

/// `freshet log outputs`
struct LogOutputs: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outputs",
        abstract: "Write the decided reloads as NDJSON, one per line, partition after partition.",
        discussion: """
            Each line has the reload's id, the widget, the causes, whether it was charged, and the push that made it \
            happen. With --config the log may be on NATS brokers.

              freshet log outputs --config freshet.yaml
            """
    )

    @OptionGroup var log: LogOptions
    @Option(help: "Only this partition.") var partition: UInt16?

    func run() throws {
        try self.log.read(self.partition) { partition, log in
            var next = OutputPosition.first
            var text: [UInt8] = []
            while case let outputs = try log.readOutputs(partition, from: next, outputsMax: 256),
                let last = outputs.last
            {
                for output in outputs {
                    do {
                        for effect in try output.texts(of: partition) {
                            effect.json.append(to: &text)
                            text.append(UInt8(ascii: "\n"))
                        }
                    } catch {
                        let place = "partition \(partition): output \(output.position)"
                        throw JournalError(.corrupt, "\(place) cannot be read: \(error)")
                    }
                }
                try FileHandle.standardOutput.write(contentsOf: Data(text))
                text.removeAll(keepingCapacity: true)
                next = last.position.next
            }
        }
    }
}

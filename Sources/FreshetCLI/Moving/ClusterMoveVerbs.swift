import APNSWire
import ArgumentParser
import Journaling

extension ClusterVerb {
    /// `freshet cluster adopt`
    struct Adopt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move a gateway's log from its data directory to the brokers.",
            discussion: """
                The log goes on there with its id, positions and number of partitions. Outstanding reloads stay \
                outstanding, and none is charged again. The data directory is not changed: it is the way back, and \
                keeps the history. The configuration names the brokers and another dataDirectory. The verb copies the \
                files beside the log to that directory. Stop the gateway first, by SIGTERM.

                  freshet cluster adopt data --config freshet.yaml --dry-run
                  freshet cluster adopt data --config freshet.yaml

                Exit codes: 0 done, 1 it was refused or failed, and the output says what to do, 78 the configuration \
                has faults.
                """
        )

        @Argument(help: "The data directory to move.") var data: String
        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Read and check everything, show the result, and move nothing.") var dryRun = false
        @Flag(help: "Remove the rest of an unfinished move from the brokers, and move nothing.")
        var discard = false
        @OptionGroup var answer: MoveAnswerOptions

        func validate() throws {
            if self.dryRun, self.discard { throw ValidationError("give --dry-run or --discard, not both") }
        }

        func run() async throws {
            let configuration = try self.options.load()
            try await self.answer.report(self.data) { progress in
                let move = try ClusterMove(configuration, progress)
                if self.discard { return try move.discard() }
                return try await move.adopt(self.data, isDryRun: self.dryRun)
            }
        }
    }

    /// `freshet cluster leave`
    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a cluster's log to a data directory, for one gateway alone.",
            discussion: """
                The log goes on there with its id, positions and number of partitions, as by freshet cluster adopt. \
                Stop all gateways first, by SIGTERM. The verb decides the entries that they left undecided. It copies \
                the files beside the log from the dataDirectory of the configuration. The streams stay as they are and \
                keep the history. Remove them when you no longer need it.

                  freshet cluster leave data-alone --config freshet.yaml

                Exit codes: 0 done, 1 it was refused or failed, and the output says what to do, 78 the configuration \
                has faults.
                """
        )

        @Argument(help: "The data directory to write: a new or an empty one.") var data: String
        @OptionGroup var options: ConfigurationOptions
        @OptionGroup var answer: MoveAnswerOptions

        func run() async throws {
            let configuration = try self.options.load()
            try await self.answer.report(self.data) { progress in
                try await ClusterMove(configuration, progress).leave(to: self.data)
            }
        }
    }
}

/// How a move is told.
struct MoveAnswerOptions: ParsableArguments {
    @Flag(help: "Print JSON.") var json = false
    @Flag(help: "Do not show progress.") var quiet = false

    /// Prints the report of a move; a failure goes to standard error, with exit code 1.
    ///
    /// - Parameter data: The data directory, for the message.
    func report(_ data: String, _ body: (@escaping MoveReport.Progress) async throws -> MoveReport) async throws {
        do {
            let report = try await body { [quiet = self.quiet] text, isLast in
                if !quiet { Output.progress(text, isLast: isLast) }
            }
            Output.line(self.json ? String(decoding: report.json.jsonText, as: UTF8.self) : report.text)
        } catch {
            Output.standardError(FailureText.of(error, about: data))
            throw ExitCode(1)
        }
    }
}

import APNSWire
import ArgumentParser
import Foundation
import OperatorAPI
import Settings
import WidgetModel

/// `freshet init`
struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a folder with everything that a gateway needs, and print the next steps.",
        discussion: """
            It writes freshet.yaml, certificates and a sender's key for development (see `freshet certs`), and the \
            operators' token. On a terminal it asks for each value that no option gives; an empty answer takes the \
            value in brackets. It never changes existing files.

              freshet init trial
            """
    )

    @Argument(help: "The folder: a new or an empty one.") var folder: String
    @Option(help: "The id of the team whose back ends push.") var team: String?
    @Option(name: .customLong("kid"), help: "The id of the team's key.") var keyID: String?
    @Option(help: "The app's bundle id.") var app: String?
    @Option(help: "The kind of its widgets.") var kind: String?
    @Option(help: "The kind's parameter that pushes match, a string.") var parameter: String?
    @Option(help: "The port for senders.") var pushPort: Int?
    @Option(help: "The port for hosts.") var hostPort: Int?
    @Option(help: "The port for operators.") var opsPort: Int?
    @Flag(help: "Ask nothing: take the default for each value that no option gives.") var yes = false
    @Flag(help: "Print JSON, and ask nothing.") var json = false

    private typealias Answer = any WritableKeyPath<FirstConfiguration, String> & Sendable

    /// The questions, in this order.
    private static let questions: [(prompt: String, answer: Answer)] = [
        ("The team whose back ends push", \.team), ("The id of its key", \.keyID), ("The app's bundle id", \.app),
        ("The kind of its widgets", \.kind), ("The parameter that pushes match", \.parameter),
    ]

    func run() throws {
        try self.checkFolder()
        var first = FirstConfiguration()
        let given = [self.team, self.keyID, self.app, self.kind, self.parameter]
        for (question, text) in zip(Self.questions, given) {
            if let text { first[keyPath: question.answer] = text }
        }
        first.pushPort = self.pushPort ?? first.pushPort
        first.hostPort = self.hostPort ?? first.hostPort
        first.opsPort = self.opsPort ?? first.opsPort
        do throws(SettingsError) {
            try first.check()
        } catch {
            throw ValidationError(Self.sentence(error))
        }
        if !self.yes, !self.json, isatty(STDIN_FILENO) == 1 {
            for (question, text) in zip(Self.questions, given) where text == nil {
                Self.ask(question.prompt, question.answer, &first)
            }
        }
        let made = try self.make(first)
        if self.json { print(String(decoding: made.json.jsonText, as: UTF8.self)) } else { print(made.text) }
    }

    /// Asks until the answer can be used. The end of the input takes the answer in brackets.
    private static func ask(
        _ prompt: String,
        _ answer: WritableKeyPath<FirstConfiguration, String>,
        _ first: inout FirstConfiguration
    ) {
        while true {
            Output.standardError("\(prompt) [\(first[keyPath: answer])]: ", terminator: "")
            guard let line = readLine()?.trimmingCharacters(in: .whitespaces), !line.isEmpty else { return }
            var tried = first
            tried[keyPath: answer] = line
            do throws(SettingsError) {
                try tried.check()
                first = tried
                return
            } catch {
                Output.standardError("  \(self.sentence(error))")
            }
        }
    }

    /// The first fault, without a place in a file that is not there yet.
    private static func sentence(_ faults: SettingsError) -> String {
        faults.faults.first.map { "\($0.path): \($0.sentence)" } ?? "\(faults)"
    }

    private func checkFolder() throws {
        let files = FileManager.default
        guard files.fileExists(atPath: self.folder) else { return }
        let target = URL(filePath: self.folder).resolvingSymlinksInPath().path
        guard try files.attributesOfItem(atPath: target)[.type] as? FileAttributeType == .typeDirectory else {
            Output.standardError("\(self.folder) is a file; give a new or an empty folder")
            throw ExitCode.failure
        }
        guard try files.contentsOfDirectory(atPath: self.folder).isEmpty else {
            Output.standardError(
                "\(self.folder) is not empty, and nothing in it was changed; give a new or an empty folder"
            )
            throw ExitCode.failure
        }
    }

    private func make(_ first: FirstConfiguration) throws -> FirstSteps {
        let steps = FirstSteps(first, folder: self.folder, program: CommandLine.arguments.first)
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        try Certs.parse(["--out", steps.path(FirstConfiguration.certificateFolder)]).make()
        _ = try OperatorTokenFile(inDirectory: steps.path(FirstConfiguration.dataFolder)).token()
        try Data(first.text.utf8).write(to: URL(filePath: steps.path(FirstConfiguration.fileName)))
        return steps
    }
}

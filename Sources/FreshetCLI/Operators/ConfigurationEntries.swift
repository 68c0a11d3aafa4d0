import ArgumentParser
import Gateway
import HTTPTransport
import Settings
import TLS
import WidgetModel

/// Which team or app of the configuration, or which part of it.
struct EntryPlace: ParsableArguments {
    @Option(help: "A team.") var team: String?
    @Option(help: "With --team: one key of it.") var key: String?
    @Option(help: "An app, by its bundle id.") var app: String?
    @Option(help: "With --app: one kind of it.") var kind: String?

    func validate() throws {
        guard (self.team == nil) != (self.app == nil) else { throw ValidationError("give --team or --app") }
        if self.key != nil, self.team == nil { throw ValidationError("--key needs the --team that the key belongs to") }
        if self.kind != nil, self.app == nil {
            throw ValidationError("--kind needs the --app that the kind belongs to")
        }
    }

    /// Its list and its name.
    private var entry: String {
        self.team.map { "teams/\($0.percentEncoded)" } ?? "apps/\((self.app ?? "").percentEncoded)"
    }

    var path: String {
        let part = self.key.map { "/keys/\($0.percentEncoded)" } ?? self.kind.map { "/kinds/\($0.percentEncoded)" }
        return "/v1/\(self.entry)\(part ?? "")"
    }

    /// Where the change is reverted, so that the file's entry is in force again.
    var amendmentPath: String { "/v1/config/amendments/\(self.entry)" }

    /// For people: `the key F6G7H8J9K0 of the team A1B2C3D4E5`.
    var words: String {
        let entry = self.team.map { "the team \($0)" } ?? "the app \(self.app ?? "")"
        let part = self.key.map { "the key \($0) of " } ?? self.kind.map { "the kind \($0) of " }
        return (part ?? "") + entry
    }
}

/// A verb that changes a team or an app: it shows the changes, asks, and then makes these changes and no others.
protocol EntryChange: AsyncParsableCommand {
    var gateway: OperatorOptions { get }
    var answer: AnswerOptions { get }
    var confirmation: ConfirmationOptions { get }
    /// Whether it is only shown.
    var dryRun: Bool { get }
    /// The change to come; continues "This will".
    var intent: String { get }
    /// The change that was made.
    var done: String { get }
    /// The request. `shown` is the path of the present entry, which names the version to change; nil where the request
    /// is about something else.
    func request() throws -> (method: String, path: String, shown: String?, body: JSONValue?)
}

extension EntryChange {
    func run() async throws {
        let request = try self.request()
        let url = try self.gateway.access().url
        let good: Set<Int> = [200, 409, 422]
        try await self.gateway.ask { client in
            var headers: HTTPFields = [:]
            if let shown = request.shown {
                let before = try await client.ask("GET", shown, good: [200, 404])
                if let tag = before.tag, before.status == 200 {
                    headers.append("if-match", tag)
                } else {
                    headers.append("if-none-match", "*")
                }
            }
            let trial = request.path.withQuery([("dryRun", "true")])
            let difference = try await client.ask(request.method, trial, request.body, headers: headers, good: good)
            if self.dryRun {
                if self.answer.json { Output.line(difference.text) }
                try ConfigurationAnswers.refuse(difference.json)
                guard !self.answer.json else { return }
                for line in ConfigurationAnswers.lines(difference: difference.json) { Output.line(line) }
                return
            }
            try ConfigurationAnswers.refuse(difference.json)
            if !self.confirmation.yes {
                for line in ConfigurationAnswers.lines(difference: difference.json) { Output.standardError(line) }
            }
            try self.confirmation.confirm("\(self.intent) at \(url)")
            let done = try await client.ask(request.method, request.path, request.body, headers: headers, good: good)
            if self.answer.json { Output.line(done.text) }
            try ConfigurationAnswers.refuse(done.json)
            if !self.answer.json { Output.line(self.done) }
        }
    }
}

extension Config {
    /// `freshet config get`
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a team, a key, an app or a kind that is in force, in the form of the configuration file.",
            discussion: """
                The output is YAML. Change it and give it to freshet config put, or copy it into the configuration file.

                  freshet config get --app com.example.scores
                  freshet config get --team A1B2C3D4E5 --key F6G7H8J9K0

                Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused, or has no such entry.
                """
        )

        @OptionGroup var place: EntryPlace
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        func run() async throws {
            let found = try await self.gateway.ask { try await $0.ask("GET", self.place.path) }
            Output.line(self.answer.json ? found.text : String(found.json.yamlText.dropLast()))
        }
    }

    /// `freshet config put`
    struct Put: EntryChange {
        static let configuration = CommandConfiguration(
            abstract: "Make or change a team, a key, an app or a kind in a running gateway.",
            discussion: """
                You give the whole entry, YAML or JSON in the form of the configuration file. The verb shows the \
                changes first. The entry is in force at once, is in the gateway's log, and overrides the file until you \
                revert it (freshet config revert).

                  freshet config put --app com.example.news --file news.yaml
                  freshet config put --team A1B2C3D4E5 --key N7P8Q9R0S1 \\
                    --public-key AuthKey_N7P8Q9R0S1.p8 --yes

                Only the public half of a key file is sent. Settings with secrets (upstream, webhook, a timeline \
                provider's token) can only be in the configuration file.

                Exit codes: 0 changed, 1 the gateway does not answer, 2 it refused, 78 the entry has faults.
                """
        )

        @OptionGroup var place: EntryPlace
        @Option(help: "A file with the entry, - for standard input.") var file: String?
        @Option(help: ArgumentHelp("With --key: a PEM file with the key, private or public.", valueName: "file"))
        var publicKey: String?
        @Flag(help: "Show the changes, and change nothing.") var dryRun = false
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        var intent: String { "change \(self.place.words)" }
        var done: String { "\(self.place.words.capitalizedFirst) is in force as given." }

        func validate() throws {
            if self.file == nil, self.publicKey == nil { throw ValidationError("give the entry with --file") }
            if self.publicKey != nil, self.place.key == nil { throw ValidationError("--public-key needs --key") }
        }

        func request() throws -> (method: String, path: String, shown: String?, body: JSONValue?) {
            var body = try self.file.map { try Self.entry(in: $0) } ?? .object([])
            if let publicKey {
                let key: String
                do {
                    key = try ES256PublicKey(pem: .file(publicKey)).pemRepresentation
                } catch {
                    throw Output.wrongUsage("\(error)")
                }
                body = .object(
                    body.members.filter { $0.name != "publicKey" } + [.init(name: "publicKey", value: .string(key))]
                )
            }
            return ("PUT", self.place.path, self.place.path, body)
        }

        /// The entry that a file has: alone, or as the one element of a list.
        private static func entry(in file: String) throws -> JSONValue {
            let text = String(decoding: try Output.read(file), as: UTF8.self)
            do throws(SettingsError) {
                let entry = try ConfigurationFile.entry(text, name: file)
                return entry.elements.count == 1 ? entry.elements[0] : entry
            } catch {
                for fault in error.faults { Output.standardError("\(fault)") }
                throw ExitCode(78)
            }
        }
    }

    /// `freshet config end`
    struct End: EntryChange {
        static let configuration = CommandConfiguration(
            abstract:
                "End a team, a key, an app or a kind in a running gateway, even if the configuration file has it.",
            discussion: """
                Tokens of an ended key are refused at once, even if the configuration file has the key. freshet config \
                revert undoes it.

                  freshet config end --team A1B2C3D4E5 --key F6G7H8J9K0
                  freshet config end --app com.example.news --dry-run

                Exit codes: 0 ended, 1 the gateway does not answer, 2 it refused, 78 the rest would have faults.
                """
        )

        @OptionGroup var place: EntryPlace
        @Flag(help: "Show the changes, and change nothing.") var dryRun = false
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        var intent: String { "end \(self.place.words)" }
        var done: String { "\(self.place.words.capitalizedFirst) has ended." }

        func request() throws -> (method: String, path: String, shown: String?, body: JSONValue?) {
            ("DELETE", self.place.path, self.place.path, nil)
        }
    }

    /// `freshet config revert`
    struct Revert: EntryChange {
        static let configuration = CommandConfiguration(
            abstract: "Undo the requests that changed a team or an app: the configuration file counts again.",
            discussion: """
                An entry that the file does not have ends.

                  freshet config revert --app com.example.scores

                Exit codes: 0 reverted, 1 the gateway does not answer, 2 it refused, 78 the rest would have faults.
                """
        )

        @OptionGroup var place: EntryPlace
        @Flag(help: "Show the changes, and change nothing.") var dryRun = false
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        var intent: String { "undo the requests that changed \(self.place.words)" }
        var done: String { "\(self.place.words.capitalizedFirst) is as in the configuration file." }

        func validate() throws {
            if self.place.key != nil || self.place.kind != nil {
                throw ValidationError("you can only revert a whole team or app: leave out --key and --kind")
            }
        }

        func request() throws -> (method: String, path: String, shown: String?, body: JSONValue?) {
            ("DELETE", self.place.amendmentPath, nil, nil)
        }
    }

    /// `freshet config amendments`
    struct Amendments: GatewayList {
        static let configuration = CommandConfiguration(
            abstract: "List the teams and apps that requests have changed, and whether the configuration file agrees.",
            discussion: """
                  freshet config amendments --json

                Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
                """
        )

        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        var list: GatewayListForm {
            GatewayListForm(
                path: "/v1/config/amendments",
                member: "amendments",
                columns: [
                    .text("TEAM", "team"), .text("APP", "app"),
                    TextTable.Column(title: "IS") { row, _ in
                        switch (row["inForce"], row["file"]) {
                        case (nil, _): Cell("ended", .warning)
                        case (_, nil): "made"
                        case _ where row["isAsInFile"]?.isTrue == true: "as in the file"
                        default: "changed"
                        }
                    },
                    .time("SINCE", "since"), .text("BY", "by"), .text("REQUEST", "request", isElastic: true),
                ],
                none: "All teams and apps are as in the configuration file."
            )
        }
    }
}

/// `freshet teams`
struct Teams: GatewayList {
    static let configuration = CommandConfiguration(
        abstract: "List the teams with their keys and apps.",
        discussion: """
              freshet teams

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    var list: GatewayListForm {
        GatewayListForm(
            path: "/v1/teams",
            member: "teams",
            columns: [
                .text("TEAM", "team"), .list("KEYS", "keys"), .list("READ BY", "readers"), .list("APPS", "apps"),
                .text("CHANGED BY", "amendment.by"), .time("SINCE", "amendment.since"),
            ],
            none: "No team is configured."
        )
    }
}

extension String {
    /// With a capital at its beginning.
    fileprivate var capitalizedFirst: String { self.prefix(1).uppercased() + self.dropFirst() }
}

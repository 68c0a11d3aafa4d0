import APNSWire
import ArgumentParser
import Foundation
import Partitions
import WidgetModel

/// `freshet context`
struct ContextVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context",
        abstract: "Store gateways' addresses and credentials under names, for all verbs.",
        discussion: """
            Contexts are in ~/.config/freshet/contexts.yaml ($XDG_CONFIG_HOME, FRESHET_CONTEXTS), which only its user \
            may read. A verb looks in this order: options (also --context), variables (FRESHET_SERVER, FRESHET_CA, \
            FRESHET_TOKEN_FILE, …), the context of FRESHET_CONTEXT or the current one (freshet context use), and last \
            the gateway on this machine. A context is used only if the gateway's address comes from it: its token is \
            never sent to another gateway.

              freshet context set production --server https://gateway.example.com:9443 \\
                --ca ca.pem --token-file token
              freshet context use production
              freshet status

            Exit codes: 0 done, 64 wrong usage, 78 the file has faults, or others may read it.
            """,
        subcommands: [List.self, Use.self, Set.self, Remove.self],
        defaultSubcommand: List.self
    )

    /// The file of contexts, with its faults on standard error.
    private static func file<Result>(_ body: (String) throws -> Result) throws -> Result {
        do {
            return try body(ContextFile.path(ProcessInfo.processInfo.environment))
        } catch let error as ContextFile.ReadError {
            Output.standardError("\(error)")
            throw ExitCode(78)
        }
    }

    /// The answer to a change of a context.
    private static func members(_ file: ContextFile, _ path: String, _ name: String) -> [(String, JSONValue?)] {
        [
            ("file", .string(path)), ("context", .string(name)),
            ("current", file.current.map { .string($0) } ?? .null),
        ]
    }

    /// `freshet context list`
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the contexts; a star marks the current one.",
            discussion: """
                Tokens in the file are not printed.

                  freshet context list --json
                """
        )

        @OptionGroup var answer: AnswerOptions

        func run() throws {
            try ContextVerb.file { path in
                let file = try ContextFile.read(path)
                let rows = file.contexts.map { context in
                    JSONValue.object(
                        of: [
                            ("name", .string(context.name)), ("isCurrent", .bool(context.name == file.current)),
                        ]
                            + GatewaySetting.ofContexts.map { setting in
                                let value = context.values[setting]
                                return (setting.rawValue, value.map { .string(setting == .operatorToken ? "…" : $0) })
                            }
                    )
                }
                if self.answer.json {
                    let whole = JSONValue.object([
                        .init(name: "file", value: .string(path)), .init(name: "contexts", value: .array(rows)),
                    ])
                    return Output.line(whole.words)
                }
                guard !rows.isEmpty else {
                    return Output.line("\(path) has no contexts; freshet context set makes one.")
                }
                var table = TextTable([
                    TextTable.Column(title: "") { row, _ in row["isCurrent"]?.isTrue == true ? Cell("*", .good) : "" },
                    .text("CONTEXT", "name"), .text("SERVER", "server"), .text("CA", "ca", isElastic: true),
                    TextTable.Column(title: "OPERATOR BY", isElastic: true) { row, _ in
                        if row["operatorToken"] != nil { return "a token in the file" }
                        return Cell(row["tokenFile"]?.text ?? row["dataDirectory"]?.text ?? row["cert"]?.text ?? "–")
                    },
                    TextTable.Column(title: "SENDER BY", isElastic: true) { row, _ in
                        Cell(row["key"]?.text ?? row["cert"]?.text ?? "–")
                    },
                ])
                for line in table.lines(rows, now: LogClock.wallTime(), on: Screen.current) { Output.line(line) }
            }
        }
    }

    /// `freshet context use`
    struct Use: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a context the current one.",
            discussion: """
                  freshet context use production
                """
        )

        @Argument(help: "The context's name.") var name: String
        @OptionGroup var answer: AnswerOptions

        func run() throws {
            try ContextVerb.file { path in
                var file = try ContextFile.read(path)
                let context = try file.context(self.name, path)
                file.current = context.name
                try file.write(path)
                self.answer.print(
                    ContextVerb.members(file, path, context.name),
                    or:
                        "The current context is \(context.name): \(context.values[.server] ?? "this machine's gateway")."
                )
            }
        }
    }

    /// `freshet context set`
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a context, or change some of its values.",
            discussion: """
                The first context becomes the current one. Relative paths are stored as absolute ones. An empty text \
                removes a value. A token must be in a file, not on the command line.

                  freshet context set here --ca certs/ca.pem --data data \\
                    --key certs/provider-key.p8 --kid K --team T
                """
        )

        @Argument(help: "The context's name.") var name: String
        @Option(help: "The listener for operators, as in https://gateway.example.com:9443.") var server: String?
        @Option(help: "The listener for senders. Default: port 2197 of --server's host.") var pushServer: String?
        @Option(help: "The listener for hosts. Default: port 8443 of --server's host.") var hostServer: String?
        @Option(help: "The CA that signed the gateway's certificate, a PEM file.") var ca: String?
        @Option(help: "The name in the gateway's certificate, if it differs from the one in --server.") var serverName:
            String?
        @Option(help: "A client certificate to present, a PEM file.") var cert: String?
        @Option(help: "The client certificate's key, a PEM file.") var certKey: String?
        @Option(help: "A file with the operator's token.") var tokenFile: String?
        @Option(
            name: [.customLong("data"), .customShort("d")],
            help: "The data directory of a gateway on this machine."
        )
        var directory: String?
        @Option(help: "The provider key, a .p8 file.") var key: String?
        @Option(help: "The key's id.") var kid: String?
        @Option(help: "The team's id.") var team: String?
        @OptionGroup var answer: AnswerOptions

        func validate() throws {
            guard !self.name.isEmpty else { throw ValidationError("give the context a name") }
            for (setting, listener) in [
                (self.server, GatewayListener.ops), (self.pushServer, .push), (self.hostServer, .host),
            ] {
                guard let setting, !setting.isEmpty else { continue }
                _ = try GatewayAccess(listener, options: [listener.setting: setting], environment: [:])
            }
        }

        private var values: [GatewaySetting: String?] {
            [
                .server: self.server, .pushServer: self.pushServer, .hostServer: self.hostServer, .ca: self.ca,
                .serverName: self.serverName, .cert: self.cert, .certKey: self.certKey, .tokenFile: self.tokenFile,
                .dataDirectory: self.directory, .key: self.key, .kid: self.kid, .team: self.team,
            ]
        }

        func run() throws {
            try ContextVerb.file { path in
                var file = try ContextFile.read(path)
                let index = file.contexts.firstIndex { $0.name == self.name } ?? file.contexts.endIndex
                if index == file.contexts.endIndex { file.contexts.append(ContextFile.Context(name: self.name)) }
                for (setting, value) in self.values {
                    guard let value else { continue }
                    let whole = setting.isPath && !value.isEmpty ? URL(filePath: value).absoluteURL.path : value
                    file.contexts[index].values[setting] = whole.isEmpty ? nil : whole
                }
                if file.contexts[index].values[.server] == nil {
                    file.contexts[index].values[.server] = "https://127.0.0.1:\(GatewayListener.ops.port)"
                }
                if file.current == nil { file.current = self.name }
                try file.write(path)
                let current = file.current == self.name ? ", the current one" : ""
                self.answer.print(
                    ContextVerb.members(file, path, self.name),
                    or: "\(path) now has the context \(self.name)\(current)."
                )
            }
        }
    }

    /// `freshet context remove`
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a context; the files that it names stay.",
            discussion: """
                  freshet context remove production
                """
        )

        @Argument(help: "The context's name.") var name: String
        @OptionGroup var answer: AnswerOptions

        func run() throws {
            try ContextVerb.file { path in
                var file = try ContextFile.read(path)
                _ = try file.context(self.name, path)
                file.contexts.removeAll { $0.name == self.name }
                if file.current == self.name { file.current = nil }
                try file.write(path)
                self.answer.print(
                    ContextVerb.members(file, path, self.name),
                    or: "Removed the context \(self.name) from \(path)."
                )
            }
        }
    }
}

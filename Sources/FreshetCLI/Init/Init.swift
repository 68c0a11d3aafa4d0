import APNSWire
import ArgumentParser
import Foundation
import OperatorAPI
import Settings
import TLS
import WidgetModel

/// `freshet init`
struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a folder with everything that a gateway needs, and print the next steps.",
        discussion: """
            It writes freshet.yaml, certificates and a sender's key for development (see `freshet certs`), and the \
            operators' token. On a terminal it asks for each value that no option gives; an empty answer takes the \
            value in brackets. It never changes existing files.

            --host and --address are names of the gateway for other machines: its certificate has them, and its \
            listeners for senders and hosts take connections from everywhere. With this machine's own, such as \
            localhost, they do not.

            With --jetstream-server the log is on NATS brokers. broker.conf is their configuration, with TLS and the \
            users' passwords. Give one broker on this machine, or the broker of each machine of a cluster; its machines \
            are names of the gateway, too.

              freshet init trial
              freshet init trial --host gateway.example.com --address 10.0.0.1
              freshet init trial --jetstream-server nats://127.0.0.1:4222
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
    @Option(
        name: .customLong("host"),
        help: "A DNS name by which other machines reach the gateway; may be given several times."
    )
    var hosts: [String] = []
    @Option(
        name: .customLong("address"),
        help: "An IP address by which other machines reach the gateway; may be given several times."
    )
    var addresses: [String] = []
    @Option(help: "The number of partitions, which holds for good. Default: 1, or 16 for a log on brokers.")
    var partitions: Int?
    @Option(
        name: .customLong("jetstream-server"),
        help: ArgumentHelp(
            "A NATS broker for the log, such as nats://10.0.0.1:4222; may be given several times.",
            valueName: "url"
        )
    )
    var servers: [String] = []
    @Flag(help: "Ask nothing: take the default for each value that no option gives.") var yes = false
    @Flag(help: "Print JSON, and ask nothing.") var json = false

    private typealias Answer = any WritableKeyPath<FirstConfiguration, String> & Sendable

    /// The questions, in this order.
    private static let questions: [(prompt: String, answer: Answer)] = [
        ("The team whose back ends push", \.team), ("The id of its key", \.keyID), ("The app's bundle id", \.app),
        ("The kind of its widgets", \.kind), ("The parameter that pushes match", \.parameter),
    ]

    private static let passwordBytes = 24

    func run() throws {
        try self.checkFolder()
        var first = try self.given()
        if !self.yes, !self.json, isatty(STDIN_FILENO) == 1 {
            for (question, text) in zip(Self.questions, self.answers) where text == nil {
                Self.ask(question.prompt, question.answer, &first)
            }
        }
        let made = try self.make(first)
        if self.json { print(String(decoding: made.json.jsonText, as: UTF8.self)) } else { print(made.text) }
    }

    /// The options that answer the questions, in their order.
    private var answers: [String?] { [self.team, self.keyID, self.app, self.kind, self.parameter] }

    /// The configuration that options ask for, with defaults for the rest.
    ///
    /// - Throws: The first option that cannot be used.
    private func given() throws -> FirstConfiguration {
        var first = FirstConfiguration()
        for (question, text) in zip(Self.questions, self.answers) {
            if let text { first[keyPath: question.answer] = text }
        }
        first.pushPort = self.pushPort ?? first.pushPort
        first.hostPort = self.hostPort ?? first.hostPort
        first.opsPort = self.opsPort ?? first.opsPort
        first.partitions = self.partitions
        if !self.servers.isEmpty { first.brokers = FirstBrokers(servers: self.servers) }
        let others = self.others(first)
        first.address = FirstConfiguration.listenerAddress(hosts: others.hosts, addresses: others.addresses)
        do throws(SettingsError) {
            try first.check()
        } catch {
            throw ValidationError(Self.sentence(error))
        }
        do throws(TLSError) {
            try CertificateAuthority.check(dnsNames: others.hosts, ipAddresses: others.addresses)
        } catch {
            throw ValidationError(error.message)
        }
        return first
    }

    /// The names and addresses by which other machines reach the gateway: the options', and those of a cluster's machines.
    private func others(_ first: FirstConfiguration) -> (hosts: [String], addresses: [String]) {
        guard let brokers = first.brokers, !brokers.isLocal else { return (self.hosts, self.addresses) }
        return (self.hosts + brokers.names, self.addresses + brokers.addresses)
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
        faults.faults.first.map { "\(self.option($0.path)): \($0.sentence)" } ?? "\(faults)"
    }

    /// The option that gives a key of the configuration its value; a key that no option gives, as it is.
    private static func option(_ path: String) -> String {
        if path.hasPrefix("journal.jetstream.servers") { return "--jetstream-server" }
        let options = [
            "teams[0].id": "--team", "teams[0].keys[0].id": "--kid", "apps[0].bundleID": "--app",
            "apps[0].kinds[0].kind": "--kind", "apps[0].kinds[0].parameters[0].name": "--parameter",
            "listeners.push.port": "--push-port", "listeners.host.port": "--host-port",
            "listeners.ops.port": "--ops-port", "partitions": "--partitions",
        ]
        return options[path] ?? path
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
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        let full = URL(filePath: self.folder).resolvingSymlinksInPath().path
        let steps = FirstSteps(first, folder: self.folder, full: full, program: CommandLine.arguments.first)
        try Certs.parse(self.certificateOptions(first, steps)).make()
        if let brokers = first.brokers { try self.makeBrokers(brokers, steps) }
        _ = try OperatorTokenFile(inDirectory: steps.path(FirstConfiguration.dataFolder)).token()
        try Data(first.text.utf8).write(to: URL(filePath: steps.path(FirstConfiguration.fileName)))
        return steps
    }

    /// The options of `freshet certs`, with this machine's own names first.
    private func certificateOptions(_ first: FirstConfiguration, _ steps: FirstSteps) -> [String] {
        let others = self.others(first)
        func options(_ name: String, _ values: [String]) -> [String] {
            var seen: Set<String> = []
            return values.filter { seen.insert($0).inserted }.map { "--\(name)=\($0)" }
        }
        var all = ["--out", steps.path(FirstConfiguration.certificateFolder)]
        all += options("host", Certs.usualHosts + others.hosts)
        all += options("address", Certs.usualAddresses + others.addresses)
        if let brokers = first.brokers, !brokers.isLocal { all.append("--peer") }
        return all
    }

    /// Writes the brokers' configuration, and the passwords of its users for the gateway.
    private func makeBrokers(_ brokers: FirstBrokers, _ steps: FirstSteps) throws {
        func password() -> String { Base16.text(of: secureRandom(count: Self.passwordBytes)) }
        let (own, system, route) = (password(), password(), password())
        let text = brokers.text(password: own, systemPassword: system, routePassword: route)
        let files = [
            (FirstBrokers.passwordFile, "\(own)\n"), (FirstBrokers.systemPasswordFile, "\(system)\n"),
            (FirstBrokers.fileName, text),
        ]
        for (name, content) in files { try Output.make(content, at: steps.path(name), isSecret: true) }
    }
}

import APNSWire
import Foundation
import OperatorAPI
import Settings
import WidgetModel

/// The first steps with a folder that `freshet init` has made: commands for a shell, in their order.
struct FirstSteps {
    private typealias Step = (purpose: String, command: String)

    private let first: FirstConfiguration
    private let folder: String
    private let program: String

    /// - Parameters:
    ///   - folder: As it was named.
    ///   - full: The same from the root. The steps name it if machines of a cluster would not find the folder by its own name, as they
    ///     do a plain name, which is in the home folder, and a path from the root.
    ///   - program: How the program was called: by a path, or by its name if the shell finds it.
    init(_ first: FirstConfiguration, folder: String, full: String, program: String?) {
        self.first = first
        var named = folder
        while named.count > 1, named.hasSuffix("/") { named.removeLast() }
        let isFound = named.hasPrefix("/") || Self.isPlain(named)
        self.folder = first.brokers.map { $0.machines.count > 1 } == true && !isFound ? full : named
        self.program = program.map { $0.contains("/") ? $0 : "freshet" } ?? "freshet"
    }

    /// A file of the folder, as it is named from where the verb was called.
    func path(_ name: String) -> String {
        if self.folder == "." { return name }
        return self.folder.hasSuffix("/") ? self.folder + name : "\(self.folder)/\(name)"
    }

    /// Lines of a shell: comments, and a command below each.
    var text: String {
        let broker = self.first.brokers == nil ? "" : " \(FirstBrokers.fileName),"
        let head =
            "# \(self.folder) is ready: \(FirstConfiguration.fileName),\(broker) certificates and keys for development, a token for operators."
        return ([head] + self.commands.map { "# \($0.purpose):\n\($0.command)" }).joined(separator: "\n")
    }

    var json: JSONValue {
        let commands = self.commands.map { step in
            JSONValue.object(of: [("purpose", .string(step.purpose)), ("command", .string(step.command))])
        }
        let broker: JSONValue? = self.first.brokers.map { _ in JSONValue.string(self.path(FirstBrokers.fileName)) }
        return JSONValue.object(of: [
            ("folder", .string(self.folder)), ("config", .string(self.path(FirstConfiguration.fileName))),
            ("ca", .string(self.certificate("ca.pem"))), ("key", .string(self.certificate("provider-key.p8"))),
            ("team", .string(self.first.team)), ("kid", .string(self.first.keyID)), ("app", .string(self.first.app)),
            ("kind", .string(self.first.kind)), ("brokerConfig", broker),
            ("operatorToken", .string(self.path("\(FirstConfiguration.dataFolder)/\(OperatorTokenFile.name)"))),
            ("commands", .array(commands)),
        ])
    }

    // MARK: Commands

    private var commands: [Step] {
        let steps: [Step] = [
            (self.serving, self.serve),
            ("In another terminal, register a host that shows two widgets", self.register),
            ("Send a push that matches one of them", self.send),
            ("See the push on the dashboard: this prints the address", self.dashboard),
        ]
        return self.brokerSteps + steps
    }

    /// What comes before the gateway: the brokers, which read their files from where they start.
    private var brokerSteps: [Step] {
        guard let brokers = self.first.brokers else { return [] }
        let folder = Self.quoted(self.folder)
        let start = "nats-server -c \(FirstBrokers.fileName)"
        if brokers.isLocal { return [("Start the broker, and leave it running", "(cd \(folder) && \(start))")] }
        let own = "(cd \(folder) && MACHINE=\(brokers.machines[0]) \(start))"
        let broker: Step = ("Start the broker on each machine, with that machine's address, and leave it running", own)
        let others = brokers.machines.dropFirst().map { Self.quoted(FirstBrokers.bracketed($0)) }
        if others.isEmpty { return [broker] }
        let isHome = Self.isPlain(self.folder)
        // Into the folder above it: the folder itself is not there yet.
        let above = isHome ? "" : Self.quoted(URL(filePath: self.folder).deletingLastPathComponent().path)
        let copy = "for machine in \(others.joined(separator: " ")); do scp -r \(folder) \"$machine:\"\(above); done"
        let place = isHome ? "your home folder on" : "the same place on"
        return [("Copy the folder to \(place) the other machines", copy), broker]
    }

    /// Whether a folder's name is no path, nor anything that scp takes for a machine.
    private static func isPlain(_ folder: String) -> Bool {
        folder != "." && folder != ".." && !folder.contains("/") && !folder.contains(":")
    }

    /// The purpose of ``serve``.
    private var serving: String {
        guard let brokers = self.first.brokers else { return "Start the gateway, and leave it running" }
        if brokers.isLocal { return "In another terminal, start the gateway, and leave it running" }
        return "When the brokers run, start the gateway on each machine, in another terminal, and leave it running"
    }

    private var serve: String {
        self.line("serve", "--config", self.path(FirstConfiguration.fileName))
    }

    private var register: String {
        let token = String(repeating: "0", count: 62) + "11"
        let instances = [("w1", "one"), ("w2", "two")].map { id, value in
            JSONValue.object(of: [
                ("id", .string(id)), ("kind", .string(self.first.kind)), ("family", .string("systemSmall")),
                ("configuration", .object(of: [(self.first.parameter, .string(value))])),
            ])
        }
        let body = JSONValue.object(of: [
            ("app", .string(self.first.app)), ("host", .string("phone-17")), ("instances", .array(instances)),
        ])
        let mint = self.line("token", ["mint", "--header"] + self.sender)
        return "curl --fail-with-body --cacert \(Self.quoted(self.certificate("ca.pem"))) -X PUT \\\n"
            + "    -H \"$(\(mint))\" \\\n"
            + "    https://localhost:\(self.first.hostPort)/v1/hosts/\(token)/widgets \\\n"
            + "    -d \(Self.quoted(String(decoding: body.jsonText, as: UTF8.self)))"
    }

    private var send: String {
        let match = JSONValue.object(of: [(self.first.parameter, .array([.string("one")]))])
        let server = ["--ca", self.certificate("ca.pem"), "--server", "https://localhost:\(self.first.pushPort)"]
        return self.line("send", server + self.sender) + " \\\n    "
            + Self.words([
                "--app", self.first.app, "--kind", self.first.kind, "--match",
                String(decoding: match.jsonText, as: UTF8.self), "--priority", "10",
            ])
    }

    private var dashboard: String {
        let server = "https://localhost:\(self.first.opsPort)"
        return self.line("dashboard", "--server", server, "--data", self.path(FirstConfiguration.dataFolder))
    }

    /// How a sender proves who it is.
    private var sender: [String] {
        ["--key", self.certificate("provider-key.p8"), "--kid", self.first.keyID, "--team", self.first.team]
    }

    private func certificate(_ name: String) -> String {
        self.path("\(FirstConfiguration.certificateFolder)/\(name)")
    }

    private func line(_ verb: String, _ options: String...) -> String { self.line(verb, options) }

    private func line(_ verb: String, _ options: [String]) -> String {
        Self.words([self.program, verb] + options)
    }

    private static func words(_ words: [String]) -> String { words.map(Self.quoted).joined(separator: " ") }

    /// A word as a shell takes it: in quotes where it has anything that means something there.
    private static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                "-_./:=@%+,".utf8.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
        return isPlain ? word : "'\(word.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}

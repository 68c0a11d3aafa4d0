import APNSWire
import Foundation
import OperatorAPI
import Settings
import WidgetModel

/// The first steps with a folder that `freshet init` has made: commands for a shell, in their order.
struct FirstSteps {
    private let first: FirstConfiguration
    private let folder: String
    private let program: String

    /// - Parameters:
    ///   - folder: As it was named.
    ///   - program: How the program was called: by a path, or by its name if the shell finds it.
    init(_ first: FirstConfiguration, folder: String, program: String?) {
        self.first = first
        self.folder = folder
        self.program = program.map { $0.contains("/") ? $0 : "freshet" } ?? "freshet"
    }

    /// A file of the folder, as it is named from where the verb was called.
    func path(_ name: String) -> String {
        if self.folder == "." { return name }
        return self.folder.hasSuffix("/") ? self.folder + name : "\(self.folder)/\(name)"
    }

    /// Lines of a shell: comments, and a command below each.
    var text: String {
        let head =
            "# \(self.folder) is ready: \(FirstConfiguration.fileName), certificates and keys for development, a token for operators."
        return ([head] + self.commands.map { "# \($0.purpose):\n\($0.command)" }).joined(separator: "\n")
    }

    var json: JSONValue {
        let commands = self.commands.map { step in
            JSONValue.object(of: [("purpose", .string(step.purpose)), ("command", .string(step.command))])
        }
        return JSONValue.object(of: [
            ("folder", .string(self.folder)), ("config", .string(self.path(FirstConfiguration.fileName))),
            ("ca", .string(self.certificate("ca.pem"))), ("key", .string(self.certificate("provider-key.p8"))),
            ("team", .string(self.first.team)), ("kid", .string(self.first.keyID)), ("app", .string(self.first.app)),
            ("kind", .string(self.first.kind)),
            ("operatorToken", .string(self.path("\(FirstConfiguration.dataFolder)/\(OperatorTokenFile.name)"))),
            ("commands", .array(commands)),
        ])
    }

    // MARK: Commands

    private var commands: [(purpose: String, command: String)] {
        [
            ("Start the gateway, and leave it running", self.serve),
            ("In another terminal, register a host that shows two widgets", self.register),
            ("Send a push that matches one of them", self.send),
            ("See the push on the dashboard: this prints the address", self.dashboard),
        ]
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

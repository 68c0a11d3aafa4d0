import APNSWire
import ArgumentParser
import HTTPTransport
import WidgetModel

/// `freshet reload`
struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the gateway read its configuration, certificates and keys again, as SIGHUP does.",
        discussion: """
            The verb shows the changes first, as freshet config diff does. If the configuration has a fault, the \
            gateway changes nothing.

              freshet reload --ca certs/ca.pem

            --socket reaches the gateway on this machine through its data directory. Run it as the gateway's user or \
            as root. It needs no TLS and no token, and does not ask for confirmation. systemctl reload uses it, waits \
            for the answer, and fails if the gateway refuses.

              freshet reload --socket /var/lib/freshet/reload

            Exit codes: 0 reloaded, 1 the gateway does not answer, 2 it refused, 78 the configuration has faults.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @Option(help: ArgumentHelp("The socket in the gateway's data directory, reload.", valueName: "file"))
    var socket: String?
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var confirmation: ConfirmationOptions

    func validate() throws {
        guard self.socket != nil, self.gateway.connection.server ?? self.gateway.connection.context != nil else {
            return
        }
        throw ValidationError("--socket names the gateway: leave out --server and --context")
    }

    func run() async throws {
        if let socket {
            let answer: [UInt8]
            do {
                answer = try await ReloadSocket.ask(socket)
            } catch {
                Output.standardError(
                    "no gateway answers at \(socket): \(ConnectionFailure.sentence(error))\ncheck that it runs, that this is its data directory, and that you are its user or root"
                )
                throw ExitCode(1)
            }
            guard let report = try? JSONReader().parse(answer) else {
                Output.standardError("the gateway ended before it answered; its log says why")
                throw ExitCode(1)
            }
            return try self.tell(report, String(decoding: answer, as: UTF8.self))
        }
        let url = try self.gateway.access().url
        if !self.confirmation.yes {
            let difference = try await self.gateway.ask { try await $0.get("/v1/config/diff") }
            try ConfigurationAnswers.refuse(difference)
            for line in ConfigurationAnswers.lines(difference: difference) { Output.standardError(line) }
        }
        try self.confirmation.confirm("read the configuration again at \(url)")
        // 409 is the answer of a gateway that has read it and takes nothing of it.
        let report = try await self.gateway.ask { try await $0.ask("POST", "/v1/config/reload", good: [200, 409]) }
        try self.tell(report.json, report.text)
    }

    /// Prints the result of the reload.
    ///
    /// - Throws: Exit code 78 if the configuration is faulty, 2 if it was not read.
    private func tell(_ report: JSONValue, _ text: String) throws {
        if self.answer.json { Output.line(text) }
        guard report["result"]?.text == "loaded" else {
            if report["faults"] == nil { Output.standardError(report["detail"]?.text ?? text) }
            try ConfigurationAnswers.refuse(report)
            throw ExitCode(2)
        }
        guard !self.answer.json else { return }
        for line in ConfigurationAnswers.lines(report: report) { Output.line(line) }
    }
}

/// A gateway's answers about its configuration, for people.
enum ConfigurationAnswers {
    /// Prints the faults of a configuration.
    ///
    /// - Throws: Exit code 78, if there are any.
    static func refuse(_ answer: JSONValue) throws(ExitCode) {
        let faults = answer["faults"]?.elements ?? []
        for fault in faults { Output.standardError(self.line(fault: fault)) }
        if !faults.isEmpty { throw ExitCode(78) }
    }

    /// The changes that reading it again would make.
    static func lines(difference: JSONValue) -> [String] {
        let changes = difference["changes"]?.elements ?? []
        let amendments = difference["amendments"]?.elements ?? []
        var lines = changes.isEmpty ? ["Nothing would change."] : changes.map { self.line(change: $0) }
        if let orphaned = difference["orphaned"]?.whole, orphaned > 0 {
            lines.append(
                "\(NumberText.counted(orphaned, "instance")) would no longer fit their kind: hosts would have to register them again."
            )
        }
        for amendment in amendments where amendment["isAsInFile"]?.isTrue != true {
            let entry = amendment["team"].map { "The team \($0.words)" } ?? "The app \(amendment["app"]?.words ?? "?")"
            let (by, since) = (amendment["by"]?.words ?? "?", amendment["since"]?.words ?? "?")
            lines.append(
                "\(entry) stays as \(by) changed it by a request (\(since)); freshet config revert makes the file count again."
            )
        }
        return lines
    }

    /// The result of reading it.
    static func lines(report: JSONValue) -> [String] {
        func names(_ member: String) -> String? {
            let keys = report[member]?.elements.map(\.words) ?? []
            return keys.isEmpty ? nil : keys.joined(separator: ", ")
        }
        var lines = [names("applied").map { "In force: \($0)." } ?? "Read again: nothing has changed."]
        if let keys = names("restartNeeded") { lines.append("Only after a restart: \(keys).") }
        if let orphaned = report["orphaned"]?.whole, orphaned > 0 {
            lines.append(
                "\(NumberText.counted(orphaned, "instance")) no longer fit their kind: hosts must register them again."
            )
        }
        return lines
    }

    private static func line(change: JSONValue) -> String {
        func text(_ name: String) -> String { change[name]?.words ?? "none" }
        let restart = change["takesRestart"]?.isTrue == true ? " (needs a restart)" : ""
        return "\(text("key")): \(text("from")) -> \(text("to"))\(restart)"
    }

    private static func line(fault: JSONValue) -> String {
        let place = ["file", "line", "column", "entry"].compactMap { fault[$0]?.words }
        let key = fault["key"]?.words
        return
            ((place.isEmpty ? [] : [place.joined(separator: ":")]) + [key, fault["reason"]?.words].compactMap { $0 })
            .joined(separator: ": ")
    }
}

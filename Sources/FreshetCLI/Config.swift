import APNSWire
import ArgumentParser
import Gateway
import WidgetModel

/// `freshet config`
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running gateway about its configuration.",
        subcommands: [Diff.self]
    )

    /// `freshet config diff`
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a reload would change and orphan, before it is taken.",
            discussion: """
                The gateway reads its configuration as SIGHUP would, and takes nothing of it. One line for each key that differs: \
                what is in force, and what would be.

                  freshet config diff --ca certs/ca.pem

                Exit codes: 0 told, 1 the gateway does not answer, 2 it refused, 78 a reload would be refused.
                """
        )

        @OptionGroup var gateway: OperatorOptions
        @Flag(help: "Print the gateway's JSON.") var json = false

        func run() async throws {
            let answer = try await self.gateway.ask { client throws(OperatorClient.Fault) in
                try await client.get("/v1/config/diff")
            }
            let faults = Self.elements(answer["faults"])
            if self.json {
                print(String(decoding: answer.jsonText, as: UTF8.self))
            } else {
                for fault in faults { Output.standardError(Self.line(fault: fault)) }
                if faults.isEmpty { self.tell(answer) }
            }
            if !faults.isEmpty { throw ExitCode(78) }
        }

        private func tell(_ answer: JSONValue) {
            let changes = Self.elements(answer["changes"])
            if changes.isEmpty { print("Nothing would change.") }
            for change in changes { print(Self.line(change)) }
            if case .int(let orphaned)? = answer["orphaned"], orphaned > 0 {
                print(
                    "\(orphaned) instances would no longer fit their kind; their hosts would have to register them anew."
                )
            }
        }

        private static func elements(_ value: JSONValue?) -> [JSONValue] {
            if case .array(let elements)? = value { elements } else { [] }
        }

        private static func text(_ value: JSONValue?) -> String {
            switch value {
            case nil: "none"
            case .string(let text)?: text
            case let value?: String(decoding: value.jsonText, as: UTF8.self)
            }
        }

        private static func line(_ change: JSONValue) -> String {
            let restart = change["takesRestart"] == .bool(true) ? " (takes a restart)" : ""
            return "\(Self.text(change["key"])): \(Self.text(change["from"])) -> \(Self.text(change["to"]))\(restart)"
        }

        private static func line(fault: JSONValue) -> String {
            let place = ["file", "line", "column"].compactMap { name in fault[name].map { Self.text($0) } }
            let key = fault["key"].map { Self.text($0) }
            return
                ((place.isEmpty ? [] : [place.joined(separator: ":")])
                + [key, Self.text(fault["reason"])].compactMap { $0 })
                .joined(separator: ": ")
        }
    }
}

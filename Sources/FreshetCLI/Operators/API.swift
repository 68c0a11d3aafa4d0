import APNSWire
import ArgumentParser
import Foundation
import HTTPTransport
import WidgetModel

/// `freshet api`
struct API: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api",
        abstract: "Send a request to any of the operators' routes, and print the answer.",
        discussion: """
            For routes that have no verb of their own; docs/operators.md lists the routes. The gateway, its \
            certificate and the token are found as for all other verbs. For event streams, which do not end, use curl.

              freshet api /v1/forecast
              freshet api POST /v1/clock --body '{"by": "1h"}' --yes
              freshet api /metrics

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @Argument(help: "The method (default: GET), and the path with its query.") var request: [String]
    @Option(help: "The body, JSON; @FILE for a file, @- for standard input.") var body: String?
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var confirmation: ConfirmationOptions

    private var method: String { self.request.count == 2 ? self.request[0].uppercased() : "GET" }

    func validate() throws {
        guard (1...2).contains(self.request.count), let path = self.request.last, path.hasPrefix("/") else {
            throw ValidationError("give a path that begins with /, and before it the method if it is not GET")
        }
        if path.prefix(while: { $0 != "?" }).hasSuffix("/events") {
            throw ValidationError("\(path) is an event stream, which does not end: use curl --no-buffer")
        }
    }

    func run() async throws {
        guard let path = self.request.last else { return }
        var body: [UInt8] = []
        if let text = self.body {
            body = text.hasPrefix("@") ? Array(try Output.read(String(text.dropFirst()))) : Array(text.utf8)
        }
        if !["GET", "HEAD"].contains(self.method) {
            try self.confirmation.confirm("send \(self.method) \(path) to \(try self.gateway.access().url)")
        }
        let answer = try await self.gateway.ask { client in
            try await client.send(self.method, path, body, accept: "*/*", good: Set(200..<300))
        }
        Output.line(answer.text.hasSuffix("\n") ? String(answer.text.dropLast()) : answer.text)
    }
}

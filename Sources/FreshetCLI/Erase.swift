import ArgumentParser
import Foundation
import HTTPTransport

/// `freshet erase`
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove a host, or every host of an app, from a running gateway.",
        discussion: """
            Through the gateway's listener for operators. From then on nothing of them is in any new state; what the log \
            and backups still hold, and until when, docs/history.md says.

              freshet erase --server https://127.0.0.1:9443 --ca certs/ca.pem --app com.example.scores --host phone

            With --history the whole log and all older snapshots of this gateway go at once, and what was erased with them. \
            It takes as long as two snapshots of each partition, and no question about the time before has an answer then.

            Exit codes: 0 removed, 2 refused by the server, or there is no such host.
            """
    )

    @Option(help: "The operators' listener, as https://127.0.0.1:9443.") var server: String
    @Option(help: "The CA that signed its certificate, a PEM file.") var ca: String?
    @Option(help: "The operator's token, if the gateway wants one.") var token: String?
    @Option(help: "The bundle id of the app.") var app: String
    @Option(help: "The host's id; without it all hosts of the app are removed.") var host: String?
    @Flag(help: "Also remove what was logged until now, of everybody.") var history = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let endpoint = try OperatorEndpoint(self.server, ca: self.ca, token: self.token)
        func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }
        let app = escaped(self.app)
        let path = self.host.map { "/v1/hosts/\(app)/\(escaped($0))" } ?? "/v1/apps/\(app)/hosts"
        let query = self.history ? "?history=true" : ""
        let response = try await endpoint.send("DELETE", path + query, accept: "application/json")
        guard response.status == 200 else {
            Output.standardError("the gateway refused: \(response.status) \(response.text)")
            throw ExitCode(2)
        }
        print(self.json ? response.text : "removed")
    }
}

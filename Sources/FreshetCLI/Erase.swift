import ArgumentParser
import Foundation

/// `freshet erase`
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove a host, or every host of an app, from a running gateway.",
        discussion: """
            Through the gateway's listener for operators. From then on nothing of them is in any new state; what the log \
            and backups still hold, and until when, docs/history.md says.

              freshet erase --ca certs/ca.pem --app com.example.scores --host phone

            With --history the whole log and all older snapshots of this gateway go at once, and what was erased with them. \
            It takes as long as two snapshots of each partition, and no question about the time before has an answer then.

            Exit codes: 0 removed, 2 refused by the server, or there is no such host.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @Option(help: "The bundle id of the app.") var app: String
    @Option(help: "The host's id; without it all hosts of the app are removed.") var host: String?
    @Flag(help: "Also remove what was logged until now, of everybody.") var history = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let endpoint = try OperatorEndpoint(self.gateway)
        func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }
        let app = escaped(self.app)
        let path = self.host.map { "/v1/hosts/\(app)/\(escaped($0))" } ?? "/v1/apps/\(app)/hosts"
        let query = self.history ? "?history=true" : ""
        let answer = try await endpoint.send("DELETE", path + query, accept: "application/json")
        print(self.json ? answer : "removed")
    }
}

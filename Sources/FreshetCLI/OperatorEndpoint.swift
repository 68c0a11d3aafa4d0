import ArgumentParser
import HTTPTransport

/// A gateway's listener for operators, for verbs that ask it one thing.
struct OperatorEndpoint {
    private let options: OperatorOptions
    private let server: ServerOptions
    private let token: OperatorOptions.Token?

    init(_ options: OperatorOptions) throws {
        let (host, port) = try options.place()
        var arguments = ["--host", host, "--port", "\(port)"]
        if let ca = options.ca { arguments += ["--ca", ca] }
        if let name = options.serverName { arguments += ["--server-name", name] }
        self.options = options
        self.server = try ServerOptions.parse(arguments)
        self.token = try options.token()
    }

    /// Sends one request without a body; ends the program with 2 if the gateway refuses.
    func send(_ method: String, _ path: String, accept: String) async throws -> String {
        var headers = HTTPFields()
        headers.append("accept", accept)
        if let token { headers.append("authorization", "bearer \(token.text)") }
        let request = HTTPClientRequest(method: method, path: path, headers: headers, body: [])
        let response = try await self.server.withConnection { try await $0.send(request) }
        guard response.status == 200 else {
            let advice = response.status == 401 ? "\n\(try self.options.advice(self.token))" : ""
            Output.standardError("the gateway refused: \(response.status) \(response.text)\(advice)")
            throw ExitCode(2)
        }
        return response.text
    }
}

import ArgumentParser
import HTTPTransport

/// Sends a file of pushes to an app in one request, and prints the answer to each line.
struct BulkSending {
    /// The app's bundle id.
    let app: String
    /// One push a line (NDJSON); - for standard input.
    let file: String
    /// The provider token to send with, or nil if a client certificate speaks.
    let token: String?

    /// - Throws: Exit code 2 if the bulk or one of its lines was refused.
    func run(on connection: HTTP2ClientConnection) async throws {
        var headers: HTTPFields = ["content-type": "application/x-ndjson"]
        if let token { headers.append("authorization", "bearer \(token)") }
        let response = try await connection.send(
            HTTPClientRequest(
                method: "POST",
                path: "/v1/apps/\(self.app)/pushes/bulk",
                headers: headers,
                body: Array(try Output.read(self.file))
            )
        )
        guard response.status == 200 else {
            Output.standardError(response.refusal("the gateway refused the bulk"))
            throw ExitCode(2)
        }
        let lines = response.text.split(separator: "\n")
        for line in lines { Output.line(String(line)) }
        if lines.contains(where: { !$0.contains("\"status\":200") }) { throw ExitCode(2) }
    }
}

import ArgumentParser
import HTTPTransport

/// `freshet import`
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Register hosts from a file, one per line (NDJSON).",
        discussion: """
            Each line is the body of PUT /v1/hosts/<token>/widgets, with the push token as "token". A refused line is reported; the others are registered all the same. You can import a file again. --server is the listener for hosts.

              freshet import --app com.example.scores --key certs/provider-key.p8 \\
                --kid K --team T hosts.ndjson

            Exit codes: 0 registered, 1 the gateway does not answer, 2 it refused some or all lines.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var credential: CredentialOptions
    @Option(help: "The app's bundle id.") var app: String
    @Argument(help: "The file; - for standard input.") var file: String
    @Option(help: "Lines per request.") var batch = 500
    @Flag(help: "Print the answer to every line as JSON.") var json = false

    func validate() throws {
        guard (1...10_000).contains(self.batch) else { throw ValidationError("--batch takes 1 to 10000") }
    }

    func run() async throws {
        let access = try self.connection.access(.host, self.credential.settings)
        let token = try self.credential.requiredProviderToken(access)
        let lines = try Output.read(self.file).split(separator: UInt8(ascii: "\n"))
        var refused = 0
        try await access.withConnection { connection in
            var start = 0
            while start < lines.count {
                let end = min(start + self.batch, lines.count)
                var body: [UInt8] = []
                for line in lines[start..<end] { body += line + [UInt8(ascii: "\n")] }
                refused += try await self.send(body, token, connection, from: start)
                start = end
                Output.progress("\(start) of \(lines.count) lines, \(refused) refused", isLast: start == lines.count)
            }
        }
        if refused > 0 { throw ExitCode(2) }
    }

    /// Sends one batch and reports its refused lines.
    private func send(
        _ body: [UInt8],
        _ token: String,
        _ connection: HTTP2ClientConnection,
        from start: Int
    ) async throws -> Int {
        let response = try await connection.send(
            HTTPClientRequest(
                method: "POST",
                path: "/v1/apps/\(self.app)/hosts",
                headers: ["authorization": "bearer \(token)", "content-type": "application/x-ndjson"],
                body: body
            )
        )
        guard response.status == 200 else {
            Output.standardError(response.refusal("the gateway refused the import"))
            throw ExitCode(2)
        }
        var refused = 0
        for line in response.text.split(separator: "\n") {
            let isRefused = !line.contains("\"status\":200")
            refused += isRefused ? 1 : 0
            if self.json || isRefused { print(line) }
        }
        return refused
    }
}

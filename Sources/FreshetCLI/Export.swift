import ArgumentParser
import Foundation
import HTTPTransport
import HostAPI

/// `freshet export`
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write an app's registered hosts to a file, one per line (NDJSON).",
        discussion: """
            `freshet import` reads the file into another gateway, which may have another number of partitions. The \
            file has no budgets, timelines or waiting pushes; `freshet backup` copies everything. The file holds whole \
            push tokens: protect it as you protect those. A host that registers during the export may be missing. \
            --server is the listener for hosts.

              freshet export --app com.example.scores --key certs/provider-key.p8 \\
                --kid K --team T hosts.ndjson

            Exit codes: 0 written, 1 the gateway does not answer or the file cannot be made, 2 it refused.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var credential: CredentialOptions
    @Option(help: "The app's bundle id.") var app: String
    @Argument(help: "The file, a new one; - for standard output.") var file: String
    @Option(help: "Hosts per request.") var batch = 500

    func validate() throws {
        guard (1...1000).contains(self.batch) else { throw ValidationError("--batch takes 1 to 1000") }
    }

    func run() async throws {
        let access = try self.connection.access(.host, self.credential.settings)
        let token = try self.credential.requiredProviderToken(access)
        let output = try self.output()
        var lines = 0
        try await access.withConnection { connection in
            var next: String?
            repeat {
                let page = try await self.page(from: next, token, connection)
                try output.write(contentsOf: page.body)
                lines += page.body.count { $0 == UInt8(ascii: "\n") }
                next = page.headers[HostRoutes.nextHeader]
                Output.progress("\(lines) lines", isLast: next == nil)
            } while next != nil
        }
        try? output.synchronize()
    }

    private func output() throws -> FileHandle {
        guard self.file != "-" else { return .standardOutput }
        guard !FileManager.default.fileExists(atPath: self.file) else {
            Output.standardError("\(self.file) exists already; give another name")
            throw ExitCode(1)
        }
        // No other user may read push tokens.
        let isMade = FileManager.default.createFile(
            atPath: self.file,
            contents: nil,
            attributes: [.posixPermissions: 0o600]
        )
        guard isMade, let handle = FileHandle(forWritingAtPath: self.file) else {
            Output.standardError(
                "\(self.file) cannot be made; check that its folder exists, and that you may write to it"
            )
            throw ExitCode(1)
        }
        return handle
    }

    private func page(
        from next: String?,
        _ token: String,
        _ connection: HTTP2ClientConnection
    ) async throws -> HTTPClientResponse {
        let response = try await connection.send(
            HTTPClientRequest(
                method: "GET",
                path: "/v1/apps/\(self.app)/hosts?limit=\(self.batch)" + (next.map { "&from=\($0)" } ?? ""),
                headers: ["authorization": "bearer \(token)"]
            )
        )
        guard response.status == 200 else {
            Output.standardError(response.refusal("the gateway refused the export"))
            throw ExitCode(2)
        }
        return response
    }
}

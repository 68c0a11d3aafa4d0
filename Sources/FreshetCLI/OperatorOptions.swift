import ArgumentParser
import Foundation
import Gateway
import HTTPTransport

/// Where a gateway's listener for operators is, and how one proves to be an operator: the same for every verb that asks it.
struct OperatorOptions: ParsableArguments {
    @Option(help: "The gateway's listener for operators (default: https://127.0.0.1:9443).") var server: String?
    @Option(help: "The CA that signed its certificate, a PEM file; the system's roots if not given.") var ca: String?
    @Option(help: "The name in its certificate, if it is not the one in --server.") var serverName: String?
    @Option(
        help: """
            A file with the operator's token on its first line. Without it FRESHET_OPERATOR_TOKEN holds the token, or, for a \
            gateway on this machine, operator-token in its data directory does.
            """
    )
    var tokenFile: String?
    @Option(
        name: [.customLong("data"), .customShort("d")],
        help: "The gateway's data directory (default: FRESHET_DATA_DIRECTORY, data, or /var/lib/freshet)."
    )
    var directory: String?

    /// A token, and where it was found.
    struct Token {
        let text: String
        let place: String
    }

    /// The listener's host name or address, and its port.
    func place() throws -> (host: String, port: Int) {
        let server = self.server ?? "https://127.0.0.1:9443"
        guard let url = URL(string: server), url.scheme == "https", let host = url.host(), !host.isEmpty else {
            throw ValidationError("--server takes a URL, as in https://127.0.0.1:9443")
        }
        return (host.trimmingCharacters(in: ["[", "]"]), url.port ?? 9443)
    }

    /// The token to send: what is named, else what is found; nil if there is none.
    ///
    /// A token that nobody named is for the gateway beside it: it is not shown to another machine's.
    func token() throws -> Token? {
        if let file = self.tokenFile { return Token(text: try Self.token(in: file), place: file) }
        let environment = ProcessInfo.processInfo.environment
        if let text = environment[EnvironmentNames.operatorToken], !text.isEmpty {
            return Token(text: text, place: EnvironmentNames.operatorToken)
        }
        guard try self.isOnThisMachine else { return nil }
        for file in self.files {
            if let text = try? file.read() { return Token(text: text, place: file.path) }
        }
        return nil
    }

    /// Where a gateway on this machine may have its token.
    private var files: [OperatorTokenFile] {
        let environment = ProcessInfo.processInfo.environment[EnvironmentNames.name(of: "dataDirectory")]
        let directories =
            (self.directory ?? environment).map { [$0] } ?? ["data", GatewayConfiguration().dataDirectory]
        return directories.map { OperatorTokenFile(inDirectory: $0) }
    }

    private var isOnThisMachine: Bool {
        get throws {
            let host = try self.place().host
            return host == "localhost" || host == "::1" || host.hasPrefix("127.") && IPAddress(host) != nil
        }
    }

    /// What to do about a credential that was missing or wrong.
    func advice(_ token: Token?) throws -> String {
        if let token { return "the token is from \(token.place)" }
        let ways = "give --token-file or \(EnvironmentNames.operatorToken)"
        guard try self.isOnThisMachine else { return "no token was sent: \(ways)" }
        return
            "no token was sent, since \(self.files.map(\.path).joined(separator: " and ")) cannot be read: \(ways), or --data"
    }

    private static func token(in file: String) throws -> String {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw ValidationError("--token-file \(file) cannot be read")
        }
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        // As in ops.tokensFile: behind the token may stand what it is for.
        guard let line = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }),
            let token = line.split(separator: " ").first
        else { throw ValidationError("--token-file \(file) has no token") }
        return String(token)
    }
}
